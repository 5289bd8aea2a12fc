"""One round of joining, in the caller's thread: JoinGroup, the leader's assignment, and SyncGroup, as futures."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kafka.config import GroupOptions
from kafka.coordinator.classic.join import JOIN_MARGIN_MS
from kafka.errors import (
    CoordinatorNotAvailableError,
    IllegalGenerationError,
    KafkaError,
    MemberIdRequiredError,
    NotCoordinatorError,
    UnknownMemberIdError,
    for_code,
)
from kafka.legacy.coordinator.coordinator_link import CoordinatorLink
from kafka.legacy.coordinator.coordinator_metrics import GroupCoordinatorMetrics
from kafka.legacy.coordinator.group_member import Generation, GroupMember, Member, UnjoinedGroupException
from kafka.legacy.kafka_future import Future
from kafka.wire.api.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from kafka.wire.api.sync_group import SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse

log = logging.getLogger("kafka.coordinator")


def as_bytes(data: Any) -> bytes:
    """Convert the result of a hook to bytes; it may be bytes already, or have ``encode()``."""
    encoded: bytes = data if isinstance(data, bytes) else data.encode()
    return encoded


def members_of(response: JoinGroupResponse) -> list[GroupMember]:
    """Return the members to which a leader has to assign work."""
    return [GroupMember(each.member_id, bytes(each.metadata), each.group_instance_id) for each in response.members]


class Joining:
    """Sends the requests of a round, and handles the errors in their responses.

    Arguments:
        link: the coordinator.
        options: group and timeouts.
        member: the member that joins.
        sensors: the metrics, or None.
    """

    def __init__(
        self, link: CoordinatorLink, options: GroupOptions, member: Member, sensors: GroupCoordinatorMetrics | None
    ) -> None:
        self._link = link
        self._options = options
        self._member = member
        self._sensors = sensors
        self._group_id = options.group_id or ""
        rebalance_ms = max(options.max_poll_interval_ms, options.session_timeout_ms)
        self._join_timeout_ms = max(link.request_timeout_ms, rebalance_ms + JOIN_MARGIN_MS)

    def join(
        self,
        protocol_type: str,
        protocols: Iterable[tuple[str, Any]],
        then: Callable[[JoinGroupResponse], Future],
    ) -> Future:
        """Send JoinGroup; ``then`` handles the response once the round has started, and returns the assignment."""
        begin = time.monotonic()
        outcome = Future()
        request = JoinGroupRequest(
            group_id=self._group_id,
            session_timeout_ms=self._options.session_timeout_ms,
            rebalance_timeout_ms=self._options.max_poll_interval_ms,
            member_id=self._member.generation.member_id,
            group_instance_id=self._options.group_instance_id,
            protocol_type=protocol_type,
            protocols=[JoinGroupRequestProtocol(name=name, metadata=as_bytes(data)) for name, data in protocols],
        )

        def answered(response: JoinGroupResponse) -> None:
            if response.error_code:
                outcome.failure(self._refused(response.error_code, "JoinGroup", response.member_id))
                return
            if self._sensors is not None:
                self._sensors.join_latency.record((time.monotonic() - begin) * 1000)
            generation = Generation(response.generation_id, response.member_id, response.protocol_name)
            if not self._member.accepted(generation):
                outcome.failure(UnjoinedGroupException())
                return
            log.info("Joined group %s: %s", self._group_id, generation)
            then(response).chain(outcome)

        self._send(request, self._join_timeout_ms, answered, outcome)
        return outcome

    def sync(self, protocol_type: str, assignments: Mapping[str, Any]) -> Future:
        """Send SyncGroup, with assignments if this member leads; the future's result is this member's assignment."""
        begin = time.monotonic()
        outcome = Future()
        generation = self._member.generation
        request = SyncGroupRequest(
            group_id=self._group_id,
            generation_id=generation.generation_id,
            member_id=generation.member_id,
            group_instance_id=self._options.group_instance_id,
            protocol_type=protocol_type,
            protocol_name=generation.protocol,
            assignments=[
                SyncGroupRequestAssignment(member_id=member_id, assignment=as_bytes(data))
                for member_id, data in assignments.items()
            ],
        )

        def answered(response: SyncGroupResponse) -> None:
            if response.error_code:
                outcome.failure(self._refused(response.error_code, "SyncGroup", generation.member_id))
                return
            if self._sensors is not None:
                self._sensors.sync_latency.record((time.monotonic() - begin) * 1000)
            outcome.success(bytes(response.assignment))

        self._send(request, self._link.request_timeout_ms, answered, outcome)
        return outcome

    def _send(self, request: Any, timeout_ms: float, answered: Callable[[Any], None], outcome: Future) -> None:
        """Send a request. The outcome fails if ``answered``, which calls hooks of the program, raises an error."""

        def guarded(response: Any) -> None:
            try:
                answered(response)
            except Exception as error:
                outcome.failure(error)

        def failed(error: BaseException) -> None:
            log.info("%s of group %s failed: %s", type(request).__name__, self._group_id, error)
            self._link.forget()
            outcome.failure(error)

        self._link.send(request, timeout_ms).add_callback(guarded).add_errback(failed)

    def _refused(self, error_code: int, what: str, member_id: str) -> KafkaError:
        """Apply a broker's error to the member, and return it as an exception."""
        error = for_code(error_code)(f"{what} of group {self._group_id!r}")
        log.info("%s of group %s was refused: %s", what, self._group_id, error)
        if isinstance(error, CoordinatorNotAvailableError | NotCoordinatorError):
            self._link.forget()
        elif isinstance(error, MemberIdRequiredError):
            self._member.reset(member_id)
        elif isinstance(error, UnknownMemberIdError):
            self._member.reset()
        elif isinstance(error, IllegalGenerationError):
            self._member.reset(self._member.generation.member_id)
        return error
