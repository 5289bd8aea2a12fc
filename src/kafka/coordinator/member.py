"""A member of a consumer group (classic protocol): joins, keeps its place, loses it, leaves.

Runs on one loop. What has to happen in the caller's thread is left to it by way of the state (see `state`): the caller
calls `start_join` after it has given up what was assigned, and `adopt` after it has taken over what is assigned now.
"""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, Protocol

from kafka.cluster import Backoff, ClusterMetadata
from kafka.config import GroupOptions
from kafka.coordinator.assignment import Assignors, notify
from kafka.coordinator.client import GROUP, CoordinatorClient
from kafka.coordinator.generation import NO_GENERATION, Generation
from kafka.coordinator.heartbeat import Heartbeat
from kafka.coordinator.join import Joined, JoinRound
from kafka.coordinator.leave import leave_group
from kafka.coordinator.poll_clock import PollClock
from kafka.coordinator.protocol import assigned_partitions
from kafka.coordinator.state import BEATING, MemberState, MemberStateMachine
from kafka.errors import (
    CoordinatorLoadInProgressError,
    CoordinatorNotAvailableError,
    FencedInstanceIdError,
    IllegalGenerationError,
    KafkaError,
    MemberIdRequiredError,
    NotCoordinatorError,
    RebalanceInProgressError,
    UnknownMemberIdError,
    for_code,
)
from kafka.structs import TopicPartition

log = logging.getLogger(__name__)


class MemberHooks(Protocol):
    """The consumer that a member belongs to. Called on the loop."""

    def subscribed_topics(self) -> frozenset[str]:
        """The topics to join with."""

    def watch_group_topics(self, topics: frozenset[str]) -> None:
        """This member leads: keep the metadata of all topics of the group fresh."""

    def member_moved(self, state: MemberState) -> None:
        """The state has changed."""

    def member_failed(self, error: Exception) -> None:
        """The membership cannot go on; the next `poll()` has to raise this."""


class GroupMember:
    """See the module.

    Arguments:
        client: sends to the coordinator.
        options: group, timeouts and intervals (milliseconds).
        hooks: the consumer.
        clock: tells when the caller last polled.
        backoff: pauses between attempts.
    """

    def __init__(
        self,
        client: CoordinatorClient,
        options: GroupOptions,
        hooks: MemberHooks,
        clock: PollClock,
        backoff: Backoff,
    ) -> None:
        assert options.group_id is not None
        self._client = client
        self._options = options
        self._hooks = hooks
        self._backoff = backoff
        self._assignors = Assignors(options.partition_assignment_strategy)
        self._machine = MemberStateMachine(self._moved)
        self._round = JoinRound(client, options.group_id, options, self._assignors, hooks.watch_group_topics)
        self._heartbeat = Heartbeat(client, options.group_id, options, clock, self, backoff)
        self._join_task: asyncio.Task[None] | None = None
        self._joined_topics: frozenset[str] = frozenset()
        self._reason = "the consumer starts"
        self._again = ""
        self._tasks: set[asyncio.Task[None]] = set()
        self.group_id: str = options.group_id
        self.generation: Generation = NO_GENERATION
        self.assignment: list[TopicPartition] = []
        """What the last round gave; the caller reads it in state ADOPTING."""
        self.lost = False
        """Whether the partitions held may belong to other members already: set on the way to UNJOINED."""

    @property
    def state(self) -> MemberState:
        """The present state; may be read from any thread."""
        return self._machine.state

    # The caller's side -----------------------------------------------------------------------------------------------

    def start_join(self) -> None:
        """Join, or join again; the caller has given up what was assigned. Does nothing while a round is under way."""
        if self.state in (MemberState.UNJOINED, MemberState.REBALANCING):
            self.lost = False
            self._machine.move(MemberState.JOINING)
            self._join_task = asyncio.get_running_loop().create_task(self._join(), name=f"join {self.group_id}")

    def adopt(self) -> None:
        """The caller has taken over the assignment."""
        if self.state is not MemberState.ADOPTING:
            return
        self._machine.move(MemberState.STABLE)
        if self._again or self._hooks.subscribed_topics() != self._joined_topics:
            self.request_rejoin(self._again or "the subscription has changed")

    def request_rejoin(self, reason: str) -> None:
        """Have the group rebalance, because ``reason``; a round under way is finished first."""
        if self.state in (MemberState.STABLE, MemberState.ADOPTING):
            log.info("group %s: joining again, because %s", self.group_id, reason)
            self._reason, self._again = reason, ""
            self._machine.move(MemberState.REBALANCING)
        elif self.state in (MemberState.JOINING, MemberState.SYNCING):
            self._again = reason

    def check_metadata(self, metadata: ClusterMetadata) -> None:
        """A leader joins again when a topic of the group has got partitions, appeared or vanished."""
        for topic, count in self._round.partition_counts.items():
            found = len(metadata.partitions_for_topic(topic) or ())
            if found != count:
                self._round.partition_counts = {}
                self.request_rejoin(f"topic {topic} has {found} partitions instead of {count}")
                return

    async def leave(self, reason: str, timeout_ms: float) -> None:
        """Give the membership up and tell the coordinator; a static member only stops (KIP-345). Raises nothing."""
        generation = self._drop_membership(lost=False)
        if generation.member_id and self._options.group_instance_id is None:
            await leave_group(self._client, self.group_id, generation.member_id, reason, timeout_ms)

    async def close(self, timeout_ms: float) -> None:
        """Leave and stop for good. Raises nothing."""
        if self.state is MemberState.CLOSED:
            return
        await self.leave("the consumer is being closed", timeout_ms)
        for task in list(self._tasks):
            task.cancel()
        self._machine.move(MemberState.CLOSED)

    # What offset commits tell -----------------------------------------------------------------------------------------

    def commit_refused(self, error_code: int, generation: Generation) -> None:
        """The coordinator refused a commit made with ``generation``; that may be news about the membership."""
        if generation == self.generation and self.state in BEATING:
            self.heartbeat_answered(error_code)

    # The coordinator's side -------------------------------------------------------------------------------------------

    def heartbeat_answered(self, error_code: int) -> None:
        """Act on a heartbeat's answer."""
        if error_code in (0, CoordinatorLoadInProgressError.errno):
            return
        if error_code in (NotCoordinatorError.errno, CoordinatorNotAvailableError.errno):
            self._client.forget_coordinator(GROUP, self.group_id)
        elif error_code == RebalanceInProgressError.errno:
            self.request_rejoin("the group rebalances")
        elif error_code in (IllegalGenerationError.errno, UnknownMemberIdError.errno):
            log.warning("group %s no longer has this member (%s)", self.group_id, for_code(error_code).message)
            self._drop_membership(lost=True, keep_id=error_code == IllegalGenerationError.errno)
        else:
            self._fail(for_code(error_code)(f"heartbeat of group {self.group_id!r}"))

    def poll_overdue(self, idle_s: float) -> None:
        """The caller is stuck: leave, so that others get the partitions; the next `poll()` joins again."""
        log.warning(
            "group %s: no poll() for %.1f s, longer than max_poll_interval_ms=%d allows; leaving the group until the "
            "next one. Raise max_poll_interval_ms, or process fewer records at a time (max_poll_records)",
            self.group_id,
            idle_s,
            self._options.max_poll_interval_ms,
        )
        generation = self._drop_membership(lost=True)
        if generation.member_id and self._options.group_instance_id is None:
            reason = "poll() was not called in time"
            leave = leave_group(self._client, self.group_id, generation.member_id, reason, 5_000)
            self._spawn(leave)

    # Joining ----------------------------------------------------------------------------------------------------------

    async def _join(self) -> None:
        """Rounds until one succeeds, or until an error that trying again does not mend."""
        failures = 0
        while True:
            try:
                await self._one_round()
                return
            except (MemberIdRequiredError, RebalanceInProgressError):
                self._back_to_joining()
                continue
            except (UnknownMemberIdError, IllegalGenerationError):
                self.generation = NO_GENERATION
                error_text = "the coordinator has forgotten this member"
            except (NotCoordinatorError, CoordinatorNotAvailableError) as error:
                self._client.forget_coordinator(GROUP, self.group_id)
                error_text = str(error)
            except KafkaError as error:
                if not error.retriable:
                    self._fail(error)
                    return
                if not isinstance(error, CoordinatorLoadInProgressError):
                    self._client.forget_coordinator(GROUP, self.group_id)
                error_text = str(error)
            except Exception as error:  # an assignor of the user's may raise anything: it has to reach poll()
                self._fail(error)
                return
            log.info("joining group %s failed, trying again: %s", self.group_id, error_text)
            self._back_to_joining()
            failures += 1
            await asyncio.sleep(self._backoff.seconds(failures))

    async def _one_round(self) -> None:
        topics = self._hooks.subscribed_topics()
        response = await self._round.join(self.generation.member_id, topics, self._reason)
        if response.error_code:
            error = for_code(response.error_code)
            if error is MemberIdRequiredError:
                self.generation = Generation(-1, response.member_id, None)
            raise error(f"JoinGroup of {self.group_id!r}")
        self._joined_topics, self._again = topics, ""
        self.generation = Generation(response.generation_id, response.member_id, response.protocol_name)
        assignor = self._assignors.choose(response.protocol_name)
        self._machine.move(MemberState.SYNCING)
        assignment = await self._round.sync(Joined(self.generation, response))
        self.assignment = assigned_partitions(assignment)
        notify(assignor, assignment, self.generation.generation_id)
        log.info(
            "joined group %s as %s, generation %d: %d partitions by %s",
            self.group_id,
            self.generation.member_id,
            self.generation.generation_id,
            len(self.assignment),
            response.protocol_name,
        )
        self._machine.move(MemberState.ADOPTING)

    def _back_to_joining(self) -> None:
        if self.state is MemberState.SYNCING:
            self._machine.move(MemberState.JOINING)

    # Losing it --------------------------------------------------------------------------------------------------------

    def _drop_membership(self, lost: bool, keep_id: bool = False) -> Generation:
        """Go to UNJOINED; returns the credentials as they were."""
        task, self._join_task = self._join_task, None
        if task is not None and task is not asyncio.current_task():
            task.cancel()
        before = self.generation
        self.generation = Generation(-1, before.member_id, None) if keep_id else NO_GENERATION
        self._round.partition_counts = {}
        self.lost = lost
        if self.state not in (MemberState.UNJOINED, MemberState.CLOSED):
            self._machine.move(MemberState.UNJOINED)
        return before

    def _fail(self, error: Exception) -> None:
        self._drop_membership(lost=True, keep_id=not isinstance(error, FencedInstanceIdError))
        self._hooks.member_failed(error)

    def _moved(self, state: MemberState) -> None:
        if state in BEATING:
            self._heartbeat.start()
        else:
            self._heartbeat.stop()
        self._hooks.member_moved(state)

    def _spawn(self, coroutine: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
