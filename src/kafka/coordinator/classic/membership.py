"""A group member in the classic protocol, eager or cooperative: it joins, sends heartbeats, rebalances and leaves.

It runs on one loop. The state (see `state`) determines the work for the caller's thread. Each change of state creates a
new `CallerView` with the next number, and `next_step` returns the step that the newest view requires.
"""

import asyncio
import logging
from typing import Any, NamedTuple, Protocol

from kafka.cluster import Backoff, CoordinatorRequests
from kafka.cluster.metadata_snapshot import ClusterMetadata
from kafka.config import GroupOptions
from kafka.coordinator.assignors.abstract import RebalanceProtocol
from kafka.coordinator.classic.assignment import Assignors, JoinSubscription, notify
from kafka.coordinator.classic.heartbeat import Heartbeat
from kafka.coordinator.classic.join import (
    Joined,
    JoinRetries,
    JoinRound,
    ends_joining,
    error_for_caller,
    leads_elsewhere,
)
from kafka.coordinator.classic.leave import Leaving
from kafka.coordinator.classic.state import (
    CALLERS_TURN,
    IN_A_ROUND,
    SENDS_HEARTBEATS,
    MemberState,
    MemberStateMachine,
)
from kafka.coordinator.consumer_protocol import assigned_partitions
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
    CoordinatorLoadInProgressError,
    FencedInstanceIdError,
    IllegalGenerationError,
    MemberIdRequiredError,
    RebalanceInProgressError,
    UnknownMemberIdError,
    check_error,
    for_code,
)

log = logging.getLogger(__name__)


class ClassicMembership:
    """A `Membership` in the classic protocol; see the module.

    Arguments:
        client: sends requests to the coordinator.
        options: the group, and timeouts and intervals in milliseconds.
        request_timeout_ms: the timeout of requests that the coordinator answers immediately.
        rack_id: the client's rack; "" if unknown (KIP-881).
        listener: the consumer.
        clock: knows when the caller last polled.
        backoff: pauses between attempts.
        statistics: counts heartbeats and rounds.
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
        self._rack_id = rack_id or None
        self._listener = listener
        self._retries = JoinRetries(options.group_id, backoff)
        self._assignors = Assignors(options.partition_assignment_strategy)
        self._steps = steps_of(self._assignors.protocol)
        self._machine = MemberStateMachine()
        fields = {"kafka_group_id": options.group_id, "kafka_client_id": backoff.current_failures.client_id}
        self._log = logging.LoggerAdapter(log, fields)  # attributes of log records, for structured logs
        group_id = self.group_id = options.group_id
        watch = listener.watch_group_topics
        self._statistics = statistics = statistics or GroupStatistics()
        self._round = JoinRound(client, group_id, options, request_timeout_ms, self._assignors, watch, statistics)
        self._heartbeat = Heartbeat(client, group_id, options, request_timeout_ms, clock, self, backoff, statistics)
        self._join_task: asyncio.Task[None] | None = None
        self._owned: Partitions = frozenset()
        self._owned_since = -1
        """The generation that assigned the owned partitions. A later one that it missed may have reassigned them."""
        self._gave_up = False
        self._reason = "the consumer starts"
        self._again = ""
        self._leaving = Leaving(client, group_id)
        self._view = CallerView()
        self.generation: Generation = NO_GENERATION
        self._lost_generation: Generation = NO_GENERATION

    @property
    def state(self) -> MemberState:
        """The current state; may be read from any thread."""
        return self._machine.state

    @property
    def last_generation(self) -> Generation:
        """See `Membership`."""
        generation = self.generation
        return generation if generation.is_valid else self._lost_generation

    def status(self) -> MemberStatus:
        """See `Membership`."""
        state = self.state
        waits_for = "" if state in (MemberState.STABLE, MemberState.CLOSED) else f"its group: {state.value}"
        is_lost = state is MemberState.UNJOINED and self._lost_generation.is_valid
        return MemberStatus(state.name, waits_for, is_lost, self._view.fenced)

    # The caller's side ------------------------------------------------------------------------------------------------

    def next_step(self, held: Partitions) -> Step | None:
        """See `Membership`. Raises `FencedInstanceIdError` once another consumer uses this one's instance id."""
        return self._view.next_step(held, self._listener.subscribed_topics(), self._steps)

    def leave_step(self, held: Partitions) -> Step:
        """See `Membership`."""
        return Step(StepKind.REVOKE if self.generation.is_valid else StepKind.LOSE, held, self._view.number)

    def commit_generation(self) -> Generation:
        """See `Membership`."""
        if self.state in IN_A_ROUND:
            raise RebalanceInProgressError(
                f"group {self.group_id!r} rebalances: poll() until the partitions are assigned again, then commit again"
            )
        if not self.generation.is_valid:
            raise CommitFailedError
        return self.generation

    # Notifications from the consumer ----------------------------------------------------------------------------------

    def step_done(self, step: Step, held: Partitions) -> None:
        """See `Membership`."""
        if step.turn != self._view.number:
            return
        if step.kind is StepKind.ADD:
            self._owned_since = self.generation.generation_id
            self._move(MemberState.STABLE)
            if self._gave_up:
                self._rejoin("others wait for the partitions that were given up")
        elif self.state is MemberState.ADOPTING:
            self._gave_up = True
        elif self.state is not MemberState.FENCED:
            self._owned, self._gave_up = held, False
            self._move(MemberState.JOINING)
            self._join_task = asyncio.get_running_loop().create_task(self._join(), name=f"join {self.group_id}")

    def subscription_changed(self, reason: str) -> None:
        """See `Membership`; makes the group rebalance."""
        self._rejoin(reason)

    def metadata_changed(self, metadata: ClusterMetadata) -> None:
        """Rejoin if this member leads the group and a topic of the group was created, deleted or extended."""
        for topic, count in self._round.partition_counts.items():
            found = len(metadata.partitions_for_topic(topic) or ())
            if found != count:
                self._round.partition_counts = {}
                self._rejoin(f"topic {topic} has {found} partitions instead of {count}")
                return

    def commit_refused(self, error_code: int, generation: Generation) -> None:
        """See `Membership`."""
        if generation == self.generation and self.state in SENDS_HEARTBEATS:
            self.heartbeat_answered(error_code)

    def begin_to_leave(self, reason: str) -> None:
        """See `Membership`; a static member only stops (KIP-345)."""
        self._begin_to_leave(self._drop_membership(lost=False), reason)

    async def leave(self, reason: str, timeout_ms: float) -> None:
        """See `Membership`."""
        self.begin_to_leave(reason)
        await self._leaving.wait(timeout_ms)

    async def close(self, timeout_ms: float) -> None:
        """See `Membership`."""
        if self.state is MemberState.CLOSED:
            return
        self.begin_to_leave("the consumer is being closed")
        self._move(MemberState.CLOSED)  # before waiting, because a poll() in the meantime would join again
        try:
            await self._leaving.wait(timeout_ms)
        finally:
            self._leaving.close()

    # The coordinator's side -------------------------------------------------------------------------------------------

    def heartbeat_answered(self, error_code: int) -> None:
        """Act on the response to a heartbeat."""
        if error_code in (0, CoordinatorLoadInProgressError.errno):
            return
        if error_code == RebalanceInProgressError.errno:
            if self.state is not MemberState.ASSIGNING:  # the response to SyncGroup will report it
                self._rejoin("the group rebalances")
        elif error_code in (IllegalGenerationError.errno, UnknownMemberIdError.errno):
            self._put_out(error_code)
        else:
            self._fail(for_code(error_code)(f"heartbeat of group {self.group_id!r}"))

    def poll_overdue(self, idle_s: float) -> None:
        """Leave the group, so that others get the partitions of a stuck caller; the next `poll()` joins again."""
        self._log.warning(
            "group %s: no poll() for %.1f s, longer than max_poll_interval_ms=%d allows; leaving the group until the "
            "next one. Raise max_poll_interval_ms, or process fewer records at a time (max_poll_records)",
            self.group_id,
            idle_s,
            self._options.max_poll_interval_ms,
        )
        self._begin_to_leave(self._drop_membership(lost=True), "poll() was not called in time")

    def _rejoin(self, reason: str) -> None:
        """Make the group rebalance because of ``reason``; a round in progress is finished first."""
        if self.state in (MemberState.STABLE, MemberState.ADOPTING):
            self._log.info("group %s: joining again, because %s", self.group_id, reason)
            self._reason = reason
            self._move(MemberState.REBALANCING)
        elif self.state in IN_A_ROUND:
            self._again = reason

    # Joining ----------------------------------------------------------------------------------------------------------

    async def _join(self) -> None:
        """Join until a round succeeds or an error is permanent."""
        attempts, pause = self._retries.begin()
        loop = asyncio.get_running_loop()
        began = loop.time()
        while True:
            await asyncio.sleep(pause)
            try:
                await self._one_round()
            except Exception as error:
                if ends_joining(error):
                    self._retries.refused()
                    self._fail(error_for_caller(error))
                    return
                if self._owned and isinstance(error, UnknownMemberIdError | IllegalGenerationError):
                    self._put_out(error.errno)
                    return
                self._learn_from(error)
                pause = self._retries.pause_after(error, attempts)
            else:
                self._retries.succeeded(attempts)
                self._statistics.rebalanced(began, loop.time())
                return
            if self.state is not MemberState.JOINING:
                self._move(MemberState.JOINING)

    def _learn_from(self, error: Exception) -> None:
        if isinstance(error, UnknownMemberIdError | MemberIdRequiredError):
            self.generation = NO_GENERATION
        elif isinstance(error, IllegalGenerationError):
            self.generation = Generation(-1, self.generation.member_id, None)
        elif leads_elsewhere(error):
            self._client.forget_coordinator("group", self.group_id)

    async def _one_round(self) -> None:
        self._again = ""
        before = self.generation
        subscription = JoinSubscription(
            self._listener.subscribed_topics(), self._owned, self._owned_since, self._rack_id
        )
        response = await self._round.join(before.member_id, subscription, self._reason)
        if response.error_code == MemberIdRequiredError.errno and not before.member_id:  # KIP-394
            self.generation = Generation(-1, response.member_id, None)
            response = await self._round.join(response.member_id, subscription, self._reason)
        check_error(response.error_code, f"JoinGroup of {self.group_id!r}")
        self.generation = Generation(response.generation_id, response.member_id, response.protocol_name)
        assignor = self._assignors.choose(response.protocol_name)
        joined, assignments = Joined(self.generation, response), {}
        if joined.leads:
            self._move(MemberState.ASSIGNING)
            assignments = await self._round.assign(joined)
        self._move(MemberState.SYNCING)
        assignment = await self._round.sync(self.generation, assignments)
        if self._again:  # otherwise partitions of unwanted topics would be added, and then revoked at once
            raise RebalanceInProgressError(self._again)
        await notify(assignor, assignment, self.generation.generation_id)
        partitions = frozenset(assigned_partitions(assignment))
        self._log.info(
            "joined group %s as %s, generation %d: %d partitions by %s",
            self.group_id,
            self.generation.member_id,
            self.generation.generation_id,
            len(partitions),
            response.protocol_name,
        )
        self._move(MemberState.ADOPTING, assignment=partitions)

    # Losing the membership --------------------------------------------------------------------------------------------

    def _drop_membership(self, lost: bool, keep_id: bool = False) -> Generation:
        """Change to UNJOINED. Returns the former generation."""
        before = self._end_membership(keep_id)
        self._lost_generation = before if lost else NO_GENERATION
        if self.state not in (MemberState.UNJOINED, MemberState.CLOSED):
            self._move(MemberState.UNJOINED, lost=lost)
        return before

    def _put_out(self, error_code: int) -> None:
        """Drop a membership that the coordinator has ended: the next `poll()` reports its partitions as lost."""
        self._log.warning("group %s no longer has this member (%s)", self.group_id, for_code(error_code).message)
        self._drop_membership(lost=True, keep_id=error_code == IllegalGenerationError.errno)

    def _end_membership(self, keep_id: bool) -> Generation:
        task, self._join_task = self._join_task, None
        if task is not None and task is not asyncio.current_task():
            task.cancel()
        before = self.generation
        self.generation = Generation(-1, before.member_id, None) if keep_id else NO_GENERATION
        self._round.partition_counts = {}
        self._owned, self._owned_since = frozenset(), -1
        return before

    def _begin_to_leave(self, generation: Generation, reason: str) -> None:
        """Send LeaveGroup without waiting for the response."""
        if generation.member_id and self._options.group_instance_id is None:
            self._leaving.begin(generation.member_id, reason)

    def _fail(self, error: Exception) -> None:
        if isinstance(error, FencedInstanceIdError):
            self._log.error("group %s: %s", self.group_id, error)
            self._lost_generation = self._end_membership(keep_id=False)
            self._move(MemberState.FENCED, lost=True, fenced=error)
        else:
            self._drop_membership(lost=True, keep_id=True)
            self._listener.membership_failed(error)

    def _move(self, state: MemberState, **news: Any) -> None:
        """Change to ``state``, and create a new view with ``news`` as its other fields."""
        self._machine.move(state)
        self._view = CallerView(self._view.number + 1, state, **news)
        if state in SENDS_HEARTBEATS:
            self._heartbeat.start()
        else:
            self._heartbeat.stop()
        if state in CALLERS_TURN:
            self._listener.step_ready()


class RebalanceSteps(Protocol):
    """The steps of one `RebalanceProtocol`."""

    def before_joining(self, held: Partitions, topics: frozenset[str], turn: int) -> Step:
        """Return the step before JoinGroup is sent.

        Arguments:
            held: the partitions that the caller has.
            topics: the subscribed topics.
            turn: see `Step`.
        """

    def adoption(self, assignment: Partitions, held: Partitions, turn: int) -> Step:
        """Return the next step to adopt an assignment: a REVOKE if necessary, then an ADD."""


class EagerSteps:
    """The eager steps: a member revokes all its partitions before it joins, and adds all those assigned to it."""

    def before_joining(self, held: Partitions, topics: frozenset[str], turn: int) -> Step:
        """See `RebalanceSteps`."""
        return Step(StepKind.REVOKE, held, turn)

    def adoption(self, assignment: Partitions, held: Partitions, turn: int) -> Step:
        """See `RebalanceSteps`."""
        return Step(StepKind.ADD, assignment, turn)


class CooperativeSteps:
    """The cooperative steps: a member keeps partitions of wanted topics until they are assigned to other members."""

    def before_joining(self, held: Partitions, topics: frozenset[str], turn: int) -> Step:
        """See `RebalanceSteps`."""
        unwanted = frozenset(tp for tp in held if tp.topic not in topics)
        return Step(StepKind.REVOKE if unwanted else StepKind.KEEP, unwanted, turn)

    def adoption(self, assignment: Partitions, held: Partitions, turn: int) -> Step:
        """See `RebalanceSteps`."""
        return step_towards(assignment, held, turn)


def steps_of(protocol: RebalanceProtocol) -> RebalanceSteps:
    """Return the steps of a protocol."""
    return CooperativeSteps() if protocol is RebalanceProtocol.COOPERATIVE else EagerSteps()


class CallerView(NamedTuple):
    """A snapshot of a member's state for the caller's thread, and the step that follows from it.

    The snapshot is a single object, so that the caller reads consistent values.

    Arguments:
        number: the number of the state change, used as `Step.turn`.
        state: the state.
        assignment: the result of the last round.
        lost: whether the member's partitions may already belong to other members.
        fenced: the coordinator's error if another consumer took over this one's instance id, or None.
    """

    number: int = 0
    state: MemberState = MemberState.UNJOINED
    assignment: Partitions = frozenset()
    lost: bool = False
    fenced: FencedInstanceIdError | None = None

    def next_step(self, held: Partitions, topics: frozenset[str], steps: RebalanceSteps) -> Step | None:
        """Return the next step; see `Membership.next_step`, and `RebalanceSteps` for ``topics``."""
        match self.state:
            case MemberState.ADOPTING:
                return steps.adoption(self.assignment, held, self.number)
            case MemberState.UNJOINED | MemberState.FENCED if self.lost and held:
                return Step(StepKind.LOSE, held, self.number)
            case MemberState.UNJOINED if held:
                return Step(StepKind.REVOKE, held, self.number)
            case MemberState.UNJOINED | MemberState.REBALANCING:
                return steps.before_joining(held, topics, self.number)
            case MemberState.FENCED:
                assert self.fenced is not None
                raise FencedInstanceIdError(*self.fenced.args) from self.fenced
        return None
