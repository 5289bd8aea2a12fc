"""A group member in the protocol of KIP-848: heartbeats receive assignments and acknowledge them.

It runs on one loop. The state (see `state`) determines the work for the caller's thread. Each change creates a new
`CallerView` with the next number, and `next_step` returns the step that the newest view requires.
"""

import asyncio
import logging
from typing import Any, NamedTuple

from kafka._loop_services import new_uuid
from kafka.cluster import Backoff, CoordinatorRequests
from kafka.cluster.metadata_snapshot import ClusterMetadata
from kafka.config import GroupOptions
from kafka.coordinator.consumer_group.heartbeat import (
    NEEDS,
    REGEX_NEEDS,
    Heartbeats,
    HeartbeatTask,
    Refusal,
    Wanted,
    meaning_of,
    refusal,
)
from kafka.coordinator.consumer_group.state import IN_GROUP, JOINS_NEXT, MemberState, MemberStateMachine
from kafka.coordinator.consumer_group.target import Target
from kafka.coordinator.group_metrics import GroupStatistics, PollClock
from kafka.coordinator.membership import (
    NO_GENERATION,
    Generation,
    MembershipListener,
    MemberStatus,
    Partitions,
    Step,
    StepKind,
    step_towards,
)
from kafka.errors import (
    CommitFailedError,
    GroupIdNotFoundError,
    KafkaError,
    KafkaTimeoutError,
    UnsupportedVersionError,
    for_code,
)
from kafka.wire.api.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse

log = logging.getLogger(__name__)

_FIRST_INTERVAL_S = 5.0
"""The heartbeat interval until the first response, which contains the coordinator's interval."""
_LEAVE_TIMEOUT_S = 5.0
"""How long to try to reach the coordinator when leaving."""
_MISSED_INTERVALS = 3
"""A heartbeat counts as lost after this many intervals without a response; a session is nine intervals by default."""


class ConsumerGroupMembership:
    """A `Membership` in the protocol of KIP-848; see the module.

    Arguments:
        client: sends requests to the coordinator, and looks up topics by id.
        options: the group, the instance id, the coordinator's assignor, and ``max_poll_interval_ms``.
        request_timeout_ms: the timeout of a heartbeat.
        rack_id: the client's rack; "" if unknown (KIP-881).
        listener: the consumer.
        clock: knows when the caller last polled.
        backoff: pauses between attempts.
        statistics: counts heartbeats.
    """

    def __init__(
        self,
        client: CoordinatorRequests,
        options: GroupOptions,
        request_timeout_ms: float,
        rack_id: str,
        listener: MembershipListener,
        clock: PollClock,
        backoff: Backoff,
        statistics: GroupStatistics | None = None,
    ) -> None:
        assert options.group_id is not None
        self._client = client
        self._options = options
        self._timeout_ms = request_timeout_ms
        self._listener = listener
        self._statistics = statistics or GroupStatistics()
        self._machine = MemberStateMachine()
        fields = {"kafka_group_id": options.group_id, "kafka_client_id": backoff.current_failures.client_id}
        self._log = logging.LoggerAdapter(log, fields)  # attributes of log records, for structured logs
        self.group_id = options.group_id
        self._member_id = str(new_uuid())  # kept for the lifetime of the consumer or its group (KIP-1082)
        self._target = Target(client, self._reconcile, backoff)
        self._requests = Heartbeats(options, rack_id or None, self._target.id_of)
        self._heartbeat = HeartbeatTask(
            self.group_id, self._beat, clock, options.max_poll_interval_ms, self.poll_overdue, backoff
        )
        self._interval_s = _FIRST_INTERVAL_S
        self._owned: Partitions = frozenset()
        """The partitions that the caller has, as last reported."""
        self._claimed: Partitions = frozenset()
        """These, and the partitions that the caller may currently be adopting."""
        self._unacknowledged = False
        """Whether the coordinator waits for its assignment to be acknowledged."""
        self._watched: frozenset[str] = frozenset()
        self._view = CallerView()
        self._leaving: asyncio.Task[None] | None = None
        self._closed = False
        self._memberships = 0
        self._reconciling_since: float | None = None
        self.generation: Generation = NO_GENERATION
        self.last_generation: Generation = NO_GENERATION

    @property
    def state(self) -> MemberState:
        """The current state; may be read from any thread."""
        return self._machine.state

    def status(self) -> MemberStatus:
        """See `Membership`."""
        state = self.state
        waits_for = "" if state is MemberState.STABLE else f"its group: {state.value}"
        is_lost = state in (MemberState.FENCED, MemberState.STALE)
        return MemberStatus(state.name, waits_for, is_lost, self._view.fatal)

    # The caller's side ------------------------------------------------------------------------------------------------

    def next_step(self, held: Partitions) -> Step | None:
        """See `Membership`. Raises the error with which the coordinator refused this member."""
        return self._view.next_step(held)

    def leave_step(self, held: Partitions) -> Step:
        """See `Membership`."""
        return Step(StepKind.REVOKE if self.generation.is_valid else StepKind.LOSE, held, self._view.number)

    def commit_generation(self) -> Generation:
        """See `Membership`; the coordinator checks the epoch."""
        if not self.generation.is_valid:
            raise CommitFailedError
        return self.generation

    # Notifications from the consumer ----------------------------------------------------------------------------------

    def step_done(self, step: Step, held: Partitions) -> None:
        """See `Membership`."""
        is_current = step.turn == self._view.number
        self._owned = held
        if self.state in JOINS_NEXT:
            if is_current and not self._closed:
                self._join()
        elif self.state in IN_GROUP:
            done = step.kind is StepKind.ADD and is_current
            self._claimed = held if done else held | (self._view.target or frozenset())
            self._target.taken_over(held)
            if done:
                self._unacknowledged = True
                self._move(MemberState.ACKNOWLEDGING)
                self._heartbeat.hurry()
            elif not is_current:  # newer changes were compared with the partitions held before this step
                self._reconcile()

    def subscription_changed(self, reason: str) -> None:
        """See `Membership`; the next heartbeat contains the change."""
        if self.state is MemberState.FATAL:
            self._move(MemberState.UNSUBSCRIBED)
        self._heartbeat.hurry()

    def metadata_changed(self, metadata: ClusterMetadata) -> None:
        """Reconcile, because the name or the id of an assigned topic may have changed."""
        if self.state is MemberState.RECONCILING or self._target.lacks_names:
            self._reconcile()

    def commit_refused(self, error_code: int, generation: Generation) -> None:
        """Send a heartbeat, because its response explains the refusal."""
        if generation == self.generation:
            self._heartbeat.hurry()

    def begin_to_leave(self, reason: str) -> None:
        """See `Membership`; a static member announces that it will return (KIP-345)."""
        if self.state in IN_GROUP:
            self._log.info("leaving group %s, because %s", self.group_id, reason)
            self._begin_to_leave(MemberState.UNSUBSCRIBED)
        elif self.state not in (MemberState.UNSUBSCRIBED, MemberState.LEAVING):
            self._move(MemberState.UNSUBSCRIBED)
        self.last_generation = NO_GENERATION

    async def leave(self, reason: str, timeout_ms: float) -> None:
        """See `Membership`."""
        self.begin_to_leave(reason)
        if self._leaving is not None:
            await asyncio.wait({self._leaving}, timeout=timeout_ms / 1000)

    async def close(self, timeout_ms: float) -> None:
        """See `Membership`."""
        if self._closed:
            return
        self._closed = True  # before waiting, because a poll() in the meantime would join again
        try:
            await self.leave("the consumer is being closed", timeout_ms)
        finally:
            self._target.close()
            if self._leaving is not None:
                self._leaving.cancel()

    # The coordinator's side -------------------------------------------------------------------------------------------

    async def _beat(self) -> float:
        """Send a heartbeat and handle its response. Returns the seconds until the next one."""
        member, wanted = (
            self._memberships,
            Wanted(self._listener.subscribed_topics(), self._listener.subscribed_regex()),
        )
        if self.state is MemberState.JOINING:
            request = self._requests.joining(self._member_id, wanted)
        else:
            acknowledges = self._unacknowledged and self.state is not MemberState.RECONCILING
            epoch = self.generation.generation_id
            request = self._requests.next(self._member_id, epoch, wanted, self._claimed, acknowledges)
            self._unacknowledged = self._unacknowledged and not acknowledges
            if self.state is MemberState.ACKNOWLEDGING:
                self._reconcile()  # adopt partitions whose topic names were not known, or newer changes
        try:
            response = await self._send(request, 0 if request.subscribed_topic_regex is None else 1)
        except UnsupportedVersionError as error:
            needs = NEEDS if wanted.regex is None else f"{NEEDS}; {REGEX_NEEDS}"
            self._fail(UnsupportedVersionError(f"{needs} ({error})"))
            return self._interval_s
        except Exception:
            self._requests.forget()
            self._client.forget_coordinator("group", self.group_id)
            raise
        if member == self._memberships:
            if response.error_code:
                self._refused(response)
            else:
                self._answered(response)
        return self._interval_s

    async def _send(
        self, request: ConsumerGroupHeartbeatRequest, min_version: int = 0
    ) -> ConsumerGroupHeartbeatResponse:
        loop = asyncio.get_running_loop()
        timeout_ms = min(self._timeout_ms, 1000 * _MISSED_INTERVALS * self._interval_s)
        sent_at = self._statistics.last_heartbeat = loop.time()
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                response: ConsumerGroupHeartbeatResponse = await self._client.send_coordinator(
                    "group", self.group_id, request, timeout_ms=timeout_ms, min_version=min_version
                )
        except TimeoutError as error:  # also raised if the coordinator was not found or not reached
            raise KafkaTimeoutError(f"no answer within {timeout_ms:g} ms") from error
        now = loop.time()
        self._statistics.heartbeats.record(1000 * (now - sent_at), now)
        return response

    def _answered(self, response: ConsumerGroupHeartbeatResponse) -> None:
        self._member_id = response.member_id or self._member_id
        self._interval_s = max(response.heartbeat_interval_ms, 1) / 1000
        epoch = response.member_epoch
        if epoch != self.generation.generation_id:
            self._log.info("group %s: %s has the epoch %d", self.group_id, self._member_id, epoch)
        self.generation = self.last_generation = Generation(epoch, self._member_id, None, self._memberships)
        if response.assignment is not None:
            self._unacknowledged = True
            self._target.replace({each.topic_id: each.partitions for each in response.assignment.topic_partitions})
            self._reconcile()

    def _refused(self, response: ConsumerGroupHeartbeatResponse) -> None:
        is_member = self.state is not MemberState.JOINING
        meaning, error = meaning_of(response.error_code, is_member), refusal(self.group_id, response)
        self._requests.forget()
        if meaning is Refusal.GIVE_UP:
            self._fail(error)
        elif meaning is Refusal.TELL_AND_TRY_AGAIN:
            self._listener.membership_failed(error)
        elif meaning is Refusal.JOIN_AGAIN:
            self._log.warning(
                "group %s no longer has this member (%s)", self.group_id, for_code(response.error_code).message
            )
            self._end_membership()
            if response.error_code == GroupIdNotFoundError.errno:
                # A new group starts its epochs again, so a commit in progress must not count as this member's.
                self._member_id = str(new_uuid())
            self._move(MemberState.FENCED)
        else:
            if meaning is Refusal.LOOK_FOR_COORDINATOR:
                self._client.forget_coordinator("group", self.group_id)
            raise error

    def poll_overdue(self, idle_s: float) -> None:
        """Leave the group, so that others get the partitions of a stuck caller; the next `poll()` joins again."""
        self._log.warning(
            "group %s: no poll() for %.1f s, longer than max_poll_interval_ms=%d allows; leaving the group until the "
            "next one. Raise max_poll_interval_ms, or process fewer records at a time (max_poll_records)",
            self.group_id,
            idle_s,
            self._options.max_poll_interval_ms,
        )
        self._begin_to_leave(MemberState.STALE)

    # Reconciling ------------------------------------------------------------------------------------------------------

    def _reconcile(self) -> None:
        """Reconcile the held partitions with the coordinator's target, for the topics whose names are known."""
        if self.state not in IN_GROUP:
            return
        target = self._target.towards(self._owned)
        if self._target.topics != self._watched:
            self._watched = self._target.topics
            self._listener.watch_group_topics(self._watched)
        if target != self._owned:
            if self.state is not MemberState.RECONCILING or self._view.target != target:
                self._claimed |= target
                self._move(MemberState.RECONCILING, target=target)
        elif self._target.lacks_names:
            if self.state is not MemberState.RECONCILING or self._view.target is not None:
                self._move(MemberState.RECONCILING)
        elif self.state is not MemberState.STABLE and self._target.is_known:
            self._move(MemberState.STABLE)

    # Joining and leaving ----------------------------------------------------------------------------------------------

    def _join(self) -> None:
        self._memberships += 1
        self._owned = self._claimed = frozenset()
        self._target.forget()
        self._move(MemberState.JOINING)

    def _end_membership(self) -> None:
        self._memberships += 1  # ignore responses to earlier requests
        self.generation = NO_GENERATION
        self._target.forget()

    def _fail(self, error: KafkaError) -> None:
        self._log.error("group %s: %s", self.group_id, error)
        self._end_membership()
        self._move(MemberState.FATAL, fatal=error)

    def _begin_to_leave(self, then: MemberState) -> None:
        """Notify the coordinator, and change to ``then``: immediately, or afterwards if the caller may join next."""
        self._end_membership()
        self._move(MemberState.LEAVING)
        self._leaving = asyncio.get_running_loop().create_task(self._tell_of_leaving())
        if then is MemberState.STALE:
            self._move(then)
        else:
            self._leaving.add_done_callback(lambda task: self._move(then))

    async def _tell_of_leaving(self) -> None:
        """Try to notify the coordinator, once; otherwise it removes the member when the session expires."""
        try:
            async with asyncio.timeout(_LEAVE_TIMEOUT_S):
                response = await self._send(self._requests.leaving(self._member_id))
        except Exception as error:
            self._log.info(
                "could not tell the coordinator of group %s that %s leaves: %r", self.group_id, self._member_id, error
            )
            return
        if response.error_code:
            code = for_code(response.error_code)
            self._log.info("leaving group %s as %s: %s", self.group_id, self._member_id, code.message)

    def _move(self, state: MemberState, **news: Any) -> None:
        """Change to ``state``, and create a new view with ``news`` as its other fields."""
        self._machine.move(state)
        self._time_rebalances(state)
        self._view = CallerView(self._view.number + 1, state, **news)
        if state in IN_GROUP:
            self._heartbeat.start()
        else:
            self._heartbeat.stop()
        if state not in IN_GROUP or self._view.target is not None:
            self._listener.step_ready()

    def _time_rebalances(self, state: MemberState) -> None:
        """Measure a rebalance, which lasts from a new target until the member is stable again."""
        since, now = self._reconciling_since, asyncio.get_running_loop().time()
        if state is MemberState.STABLE and since is not None:
            self._statistics.rebalanced(since, now)
        if state is MemberState.STABLE or state not in IN_GROUP:
            self._reconciling_since = None
        elif state is MemberState.RECONCILING and since is None:
            self._reconciling_since = now


class CallerView(NamedTuple):
    """A snapshot of a member's state for the caller's thread, and the step that follows from it.

    The snapshot is a single object, so that the caller reads consistent values.

    Arguments:
        number: the number of the change, used as `Step.turn`.
        state: the state.
        target: the assignment to adopt, or None.
        fatal: the error with which the coordinator refuses this member, or None.
    """

    number: int = 0
    state: MemberState = MemberState.UNSUBSCRIBED
    target: Partitions | None = None
    fatal: KafkaError | None = None

    def next_step(self, held: Partitions) -> Step | None:
        """See `Membership.next_step`."""
        match self.state:
            case MemberState.RECONCILING if self.target is not None:
                return step_towards(self.target, held, self.number)
            case MemberState.FENCED | MemberState.STALE | MemberState.FATAL if held:
                return Step(StepKind.LOSE, held, self.number)
            case MemberState.UNSUBSCRIBED if held:
                return Step(StepKind.REVOKE, held, self.number)
            case MemberState.UNSUBSCRIBED | MemberState.FENCED | MemberState.STALE:
                return Step(StepKind.KEEP, frozenset(), self.number)
            case MemberState.FATAL:
                assert self.fatal is not None
                raise type(self.fatal)(*self.fatal.args) from self.fatal
        return None
