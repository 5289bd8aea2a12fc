"""One round of joining: JoinGroup, the assignment if this member leads the group, and SyncGroup.

The membership retries failed rounds. `JoinRetries` decides whether and when.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import NamedTuple

from kafka.cluster import Attempts, Backoff, CoordinatorRequests, RetryPolicy
from kafka.config import GroupOptions
from kafka.coordinator.classic.assignment import AssignorFailed, Assignors, JoinSubscription, read_members, run_assignor
from kafka.coordinator.consumer_protocol import PROTOCOL_TYPE, decode_assignment
from kafka.coordinator.group_metrics import GroupStatistics
from kafka.coordinator.membership import Generation
from kafka.errors import (
    CoordinatorLoadInProgressError,
    IllegalGenerationError,
    KafkaError,
    MemberIdRequiredError,
    RebalanceInProgressError,
    UnknownMemberIdError,
    check_error,
)
from kafka.wire.api.consumer_protocol import ConsumerProtocolAssignment
from kafka.wire.api.join_group import JoinGroupRequest, JoinGroupResponse
from kafka.wire.api.sync_group import SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse

JOIN_MARGIN_MS = 5_000
"""Added to the rebalance timeout to get the timeout for the JoinGroup response."""


log = logging.getLogger(__name__)


class Joined(NamedTuple):
    """The result of JoinGroup.

    Arguments:
        generation: this member's generation.
        response: the coordinator's response; for the leader, it lists the members.
    """

    generation: Generation
    response: JoinGroupResponse

    @property
    def leads(self) -> bool:
        """Whether this member has to compute the assignment."""
        return self.response.leader == self.response.member_id


class JoinRound:
    """Sends the requests of a round and reads the responses.

    Arguments:
        client: sends requests to the coordinator.
        group_id: the group.
        options: timeouts in milliseconds, and static membership.
        request_timeout_ms: the timeout of SyncGroup, and the minimum timeout of JoinGroup, which waits for all members.
        assignors: the assignors that this member can use.
        watch: called on the leader with all topics of the group, to keep their metadata up to date.
        statistics: counts rounds.
    """

    def __init__(
        self,
        client: CoordinatorRequests,
        group_id: str,
        options: GroupOptions,
        request_timeout_ms: float,
        assignors: Assignors,
        watch: Callable[[frozenset[str]], None],
        statistics: GroupStatistics | None = None,
    ) -> None:
        self._client = client
        self._group_id = group_id
        self._options = options
        self._sync_timeout_ms = request_timeout_ms
        rebalance_ms = max(options.max_poll_interval_ms, options.session_timeout_ms)
        self._join_timeout_ms = max(request_timeout_ms, rebalance_ms + JOIN_MARGIN_MS)
        self._assignors = assignors
        self._watch = watch
        self._statistics = statistics or GroupStatistics()
        self.partition_counts: dict[str, int] = {}
        """The partition counts on which a leader's last assignment was based; empty for other members."""

    async def join(self, member_id: str, subscription: JoinSubscription, reason: str) -> JoinGroupResponse:
        """Send JoinGroup. The caller checks the error code, because MEMBER_ID_REQUIRED comes with an id."""
        self.partition_counts = {}
        request = JoinGroupRequest(
            group_id=self._group_id,
            session_timeout_ms=self._options.session_timeout_ms,
            rebalance_timeout_ms=self._options.max_poll_interval_ms,
            member_id=member_id,
            group_instance_id=self._options.group_instance_id,
            protocol_type=PROTOCOL_TYPE,
            protocols=await self._assignors.protocols(subscription),
            reason=reason[:255],
        )
        loop = asyncio.get_running_loop()
        sent_at = loop.time()
        response: JoinGroupResponse = await self._client.send_coordinator(
            "group", self._group_id, request, timeout_ms=self._join_timeout_ms
        )
        if not response.error_code:
            now = loop.time()
            self._statistics.joins.record(1000 * (now - sent_at), now)
        return response

    async def assign(self, joined: Joined) -> dict[str, bytes]:
        """Run the assignor for all members. Raises `AssignorFailed`."""
        members = read_members(joined.response)
        topics = frozenset(topic for member in members.values() for topic in member.topics)
        self._watch(topics)
        metadata = await self._client.refresh_metadata(topics)
        self.partition_counts = {topic: len(metadata.partitions_for_topic(topic) or ()) for topic in topics}
        if joined.response.skip_assignment:
            return {}
        return await run_assignor(self._assignors.choose(joined.generation.protocol), metadata, members)

    async def sync(self, generation: Generation, assignments: Mapping[str, bytes]) -> ConsumerProtocolAssignment:
        """Send SyncGroup, with the group's assignment if this member leads. Returns this member's assignment."""
        request = SyncGroupRequest(
            group_id=self._group_id,
            generation_id=generation.generation_id,
            member_id=generation.member_id,
            group_instance_id=self._options.group_instance_id,
            protocol_type=PROTOCOL_TYPE,
            protocol_name=generation.protocol,
            assignments=[
                SyncGroupRequestAssignment(member_id=member_id, assignment=data)
                for member_id, data in assignments.items()
            ],
        )
        loop = asyncio.get_running_loop()
        sent_at = loop.time()
        response: SyncGroupResponse = await self._client.send_coordinator(
            "group", self._group_id, request, timeout_ms=self._sync_timeout_ms
        )
        check_error(response.error_code, f"SyncGroup of {self._group_id!r}")
        now = loop.time()
        self._statistics.syncs.record(1000 * (now - sent_at), now)
        return decode_assignment(bytes(response.assignment))


_ABOUT_THE_MEMBER = (
    IllegalGenerationError,
    MemberIdRequiredError,
    RebalanceInProgressError,
    UnknownMemberIdError,
)
"""Errors that are not retriable in general, but that may not occur again in another round."""


def ends_joining(error: Exception) -> bool:
    """Return whether to raise an error because rejoining would fail in the same way."""
    if isinstance(error, KafkaError):
        return not error.retriable and not isinstance(error, _ABOUT_THE_MEMBER)
    return isinstance(error, AssignorFailed)


def leads_elsewhere(error: Exception) -> bool:
    """Return whether another broker may be the coordinator."""
    return not isinstance(error, (CoordinatorLoadInProgressError, *_ABOUT_THE_MEMBER))


def error_for_caller(error: Exception) -> Exception:
    """Return the error to raise: an assignor's own exception unchanged, otherwise the given error."""
    cause = error.__cause__
    return cause if isinstance(error, AssignorFailed) and isinstance(cause, Exception) else error


class JoinRetries:
    """Decides what to do after a failed round: raise the error, or wait before the next round.

    Arguments:
        group_id: the group.
        backoff: pauses between attempts.
    """

    def __init__(self, group_id: str, backoff: Backoff) -> None:
        self._group_id = group_id
        self._backoff = backoff
        self._policy = RetryPolicy(backoff, log, quiet=1, fatal=ends_joining)
        self._refusals = 0

    def begin(self) -> tuple[Attempts, float]:
        """Begin a join. Returns its `Attempts`, and how many seconds to wait first because of earlier refusals."""
        return self._policy.attempts(f"joining group {self._group_id!r}"), self._backoff.seconds(self._refusals)

    def refused(self) -> None:
        """Count a permanent failure; the next `poll()` may begin another join."""
        self._refusals += 1

    def succeeded(self, attempts: Attempts) -> None:
        """Reset the failures, because this consumer is now a member."""
        self._refusals = 0
        attempts.succeeded()

    def pause_after(self, error: Exception, attempts: Attempts) -> float:
        """Count and log a failure. Returns the seconds to wait before the next round."""
        pause = attempts.note(error)
        if isinstance(error, RebalanceInProgressError) and attempts.failures == 1:
            return 0.0  # other members often join at the same time; only repeated failures are unusual
        return pause
