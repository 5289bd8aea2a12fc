"""Checks, after a leader change, whether the new leader's log contains the records read before a position (KIP-320).

A leader that was not in sync may lack records that consumers have seen, or have others at their offsets. So the new
leader is asked where the epoch of the last record ends in its log (OffsetForLeaderEpoch). Fetching is paused in the
meantime. Runs on the loop. Java: ``OffsetsForLeaderEpochUtils``, ``SubscriptionState.maybeValidatePosition``.
"""

import asyncio
import logging
from typing import Any, NamedTuple, Protocol

from kafka.cluster import Backoff, RetryPolicy
from kafka.cluster.protocols import BrokerRequests
from kafka.cluster.retry import nothing
from kafka.consumer.buffer.partition_state import FetchPosition, PartitionState
from kafka.consumer.fetch.fetch_session import FetchTarget
from kafka.consumer.position.offset_requests import FOR_CONSUMERS_SINCE, EpochQuery, epoch_answers, epoch_request
from kafka.errors import BrokerResponseError, UnknownTopicOrPartitionError, UnsupportedVersionError, for_code

log = logging.getLogger(__name__)


class Divergence(NamedTuple):
    """A difference between a leader's log and the log that was read.

    Arguments:
        state: the partition.
        generation: the generation of the state at the time of the request.
        position: the compared position, up to which the partition was fetched.
        end: the end of the common part of the logs, and the epoch before it; None if the leader does not know it.
    """

    state: PartitionState
    generation: int
    position: FetchPosition
    end: FetchPosition | None


class ValidationListener(Protocol):
    """The listener of `PositionValidation`: the fetcher."""

    def refresh(self, state: PartitionState) -> None:
        """Called when a partition may be fetched again."""

    def back_off(self, state: PartitionState) -> None:
        """Called when a partition should be refreshed after a pause."""

    def refused(self, target: FetchTarget, error: type[BrokerResponseError]) -> None:
        """Called when a leader answers a query about a position with an error."""

    def metadata_stale(self) -> None:
        """Called when newer metadata is needed because a leader cannot be asked."""

    def diverged(self, divergence: Divergence) -> None:
        """Called when the logs differ; the partition is not fetched until its generation changes."""


class PositionValidation:
    """Validates positions after a leader change; see the module.

    Arguments:
        client: sends requests, and knows the leaders.
        backoff: pauses after failures.
        listener: receives the results.
    """

    def __init__(
        self,
        client: BrokerRequests,
        backoff: Backoff,
        listener: ValidationListener,
    ) -> None:
        self._client = client
        self._listener = listener
        self._retry = RetryPolicy(backoff, log, quiet=2, fatal=nothing)
        self._asked: dict[PartitionState, FetchTarget] = {}
        """The positions being validated."""
        self._next: dict[PartitionState, FetchTarget] = {}
        """Those of them that the next requests will contain."""
        self._failures = 0
        self._tasks: set[asyncio.Task[None]] = set()

    def close(self) -> None:
        """Stop all validation."""
        self._asked.clear()
        self._next.clear()
        for task in self._tasks:
            task.cancel()

    def forget(self, state: PartitionState) -> None:
        """Forget a partition that is no longer assigned."""
        self._asked.pop(state, None)
        self._next.pop(state, None)

    def is_valid(self, state: PartitionState, leader_epoch: int) -> bool:
        """Return whether fetching from a partition may continue; start a validation if necessary.

        Positions are not validated within a leader's own epoch, because the leader has all records of that epoch.

        Arguments:
            leader_epoch: the epoch of the leader in the metadata; -1 if unknown.
        """
        fetching = state.fetching
        if fetching.leader_epoch in (-1, leader_epoch) or leader_epoch in (-1, fetching.checked_epoch):
            return True
        assert fetching.offset is not None
        asked = FetchTarget(
            state, fetching.generation, fetching.offset, leader_epoch, fetching.topic_id, fetching.leader_epoch
        )
        if self._asked.get(state) != asked:
            if not self._next:  # partitions that are refreshed together share a request
                asyncio.get_running_loop().call_soon(self._ask_leaders)
            self._asked[state] = self._next[state] = asked
        return False

    def judge(self, asked: FetchTarget, epoch: int, end_offset: int) -> None:
        """Compare a position with a leader's answer about the epoch before it.

        Arguments:
            epoch: the newest epoch in the leader's log that is not newer than the requested one; -1 if unknown.
            end_offset: the end of that epoch in the leader's log; -1 if unknown.
        """
        state, fetching = asked.state, asked.state.fetching
        end = FetchPosition(end_offset, epoch) if end_offset >= 0 and epoch >= 0 else None
        if end is None or end.offset < asked.offset:
            fetching.offset = None
            self._listener.diverged(
                Divergence(state, asked.generation, FetchPosition(asked.offset, asked.last_epoch), end)
            )
        else:
            # The epoch may be older than the requested one if the requested epoch contains no records.
            fetching.leader_epoch, fetching.checked_epoch = end.leader_epoch, asked.leader_epoch
        self._listener.refresh(state)

    # Internals --------------------------------------------------------------------------------------------------------

    def _ask_leaders(self) -> None:
        wanted, self._next = self._next, {}
        by_leader: dict[int | None, list[FetchTarget]] = {}
        for state, asked in wanted.items():
            by_leader.setdefault(self._client.metadata.leader_for_partition(state.tp), []).append(asked)
        for leader, targets in by_leader.items():
            if leader is None:
                self._failed(targets)
                continue
            task = asyncio.get_running_loop().create_task(self._ask(leader, targets), name="check positions")
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _ask(self, leader: int, targets: list[FetchTarget]) -> None:
        what = f"checking positions on broker {leader}"
        try:
            request = epoch_request(EpochQuery(each.state.tp, each.leader_epoch, each.last_epoch) for each in targets)
            response = await self._client.send(leader, request, min_version=FOR_CONSUMERS_SINCE)
            answers = epoch_answers(response)
        except UnsupportedVersionError:
            for asked in targets:
                if self._take_back(asked):
                    asked.state.fetching.checked_epoch = asked.leader_epoch
                    self._listener.refresh(asked.state)
            return
        except Exception as error:
            self._failures += 1
            self._retry.tell_failure(what, error, self._failures)
            self._failed(targets)
            return
        self._failures = 0
        self._retry.tell_success(what)
        for asked in targets:
            if self._take_back(asked):
                self._take(asked, answers.get(asked.state.tp))

    def _take(self, asked: FetchTarget, answer: Any) -> None:
        code = UnknownTopicOrPartitionError.errno if answer is None else answer.error_code
        if code:
            self._listener.refused(asked, for_code(code))
        else:
            self.judge(asked, answer.leader_epoch, answer.end_offset)

    def _take_back(self, asked: FetchTarget) -> bool:
        """Stop waiting for an answer, and return whether it is still useful."""
        if self._asked.get(asked.state) is not asked:
            return False
        del self._asked[asked.state]
        fetching = asked.state.fetching
        now = asked.state.generation, fetching.offset, fetching.leader_epoch
        return now == (asked.generation, asked.offset, asked.last_epoch)

    def _failed(self, targets: list[FetchTarget]) -> None:
        """Schedule a retry, because newer metadata may contain a leader that answers."""
        self._listener.metadata_stale()
        for asked in targets:
            if self._take_back(asked):
                asked.state.fetching.failures += 1
                self._listener.back_off(asked.state)
