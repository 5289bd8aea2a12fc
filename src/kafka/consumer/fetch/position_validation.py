"""Finds out, once a leader has changed, whether its log still has what was read before a position (KIP-320).

A leader that was not in sync may lack records that consumers have seen, and have others under their offsets. So the new
leader is asked where the epoch of the last record ends in its log (OffsetForLeaderEpoch). Nothing is fetched meanwhile.
Runs on the loop. Java: ``OffsetsForLeaderEpochUtils``, ``SubscriptionState.maybeValidatePosition``.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Any, NamedTuple

from kafka.cluster import Backoff, RetryPolicy
from kafka.cluster.protocols import BrokerRequests
from kafka.cluster.retry import nothing
from kafka.consumer.buffer.partition_state import FetchPosition, PartitionState
from kafka.consumer.fetch.fetch_session import FetchTarget
from kafka.consumer.position.offset_requests import FOR_CONSUMERS_SINCE, EpochQuery, epoch_answers, epoch_request
from kafka.errors import BrokerResponseError, UnknownTopicOrPartitionError, UnsupportedVersionError, for_code

log = logging.getLogger(__name__)


class Divergence(NamedTuple):
    """A leader's log is not the one that was read.

    Arguments:
        state: the partition.
        generation: of the state, when this was asked for.
        position: what was compared: up to where the partition was fetched.
        end: up to where the logs may be the same, and the epoch before that; None: the leader cannot tell.
    """

    state: PartitionState
    generation: int
    position: FetchPosition
    end: FetchPosition | None


class PositionValidation:
    """See the module.

    Arguments:
        client: sends, and knows the leaders.
        backoff: pauses after failures.
        refresh: called with a partition that may be fetched on.
        back_off: called with one that is to be left alone for a moment, and then refreshed.
        refused: called with what was asked, and the error that a leader has answered.
        metadata_stale: called when a leader cannot be asked.
        diverged: told of logs that differ; the partition is not fetched until its generation changes.
    """

    def __init__(
        self,
        client: BrokerRequests,
        backoff: Backoff,
        refresh: Callable[[PartitionState], None],
        back_off: Callable[[PartitionState], None],
        refused: Callable[[FetchTarget, type[BrokerResponseError]], None],
        metadata_stale: Callable[[], None],
        diverged: Callable[[Divergence], None],
    ) -> None:
        self._client = client
        self._refresh = refresh
        self._back_off = back_off
        self._refused = refused
        self._metadata_stale = metadata_stale
        self._diverged = diverged
        self._retry = RetryPolicy(backoff, log, quiet=2, fatal=nothing)
        self._asked: dict[PartitionState, FetchTarget] = {}
        """What is being checked."""
        self._next: dict[PartitionState, FetchTarget] = {}
        """The part of it that goes out with the next requests."""
        self._failures = 0
        self._tasks: set[asyncio.Task[None]] = set()

    def close(self) -> None:
        """Stop."""
        self._asked.clear()
        self._next.clear()
        for task in self._tasks:
            task.cancel()

    def forget(self, state: PartitionState) -> None:
        """A partition is no longer assigned."""
        self._asked.pop(state, None)
        self._next.pop(state, None)

    def is_valid(self, state: PartitionState, leader_epoch: int) -> bool:
        """Whether a partition may be fetched on; if it has to be checked first, that begins.

        A leader has all that was read in its own epoch: that, and what was fetched from it, is not checked.

        Arguments:
            leader_epoch: of the leader, as the metadata have it; -1 if not known.
        """
        fetching = state.fetching
        if fetching.leader_epoch in (-1, leader_epoch) or leader_epoch in (-1, fetching.checked_epoch):
            return True
        assert fetching.offset is not None
        asked = FetchTarget(
            state, fetching.generation, fetching.offset, leader_epoch, fetching.topic_id, fetching.leader_epoch
        )
        if self._asked.get(state) != asked:
            if not self._next:  # those that are refreshed together are asked for together
                asyncio.get_running_loop().call_soon(self._ask_leaders)
            self._asked[state] = self._next[state] = asked
        return False

    def judge(self, asked: FetchTarget, epoch: int, end_offset: int) -> None:
        """Take what a leader says about the epoch before a position.

        Arguments:
            epoch: the newest one up to that epoch that its log has; -1: it cannot tell.
            end_offset: where that epoch ends in its log; -1: it cannot tell.
        """
        state, fetching = asked.state, asked.state.fetching
        end = FetchPosition(end_offset, epoch) if end_offset >= 0 and epoch >= 0 else None
        if end is None or end.offset < asked.offset:
            fetching.offset = None
            self._diverged(Divergence(state, asked.generation, FetchPosition(asked.offset, asked.last_epoch), end))
        else:
            # The epoch may be older than the one asked for: nothing was written in that one.
            fetching.leader_epoch, fetching.checked_epoch = end.leader_epoch, asked.leader_epoch
        self._refresh(state)

    # Inside -----------------------------------------------------------------------------------------------------------

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
                    self._refresh(asked.state)
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
            self._refused(asked, for_code(code))
        else:
            self.judge(asked, answer.leader_epoch, answer.end_offset)

    def _take_back(self, asked: FetchTarget) -> bool:
        """Whether an answer is still of use; it is not waited for any more."""
        if self._asked.get(asked.state) is not asked:
            return False
        del self._asked[asked.state]
        fetching = asked.state.fetching
        now = asked.state.generation, fetching.offset, fetching.leader_epoch
        return now == (asked.generation, asked.offset, asked.last_epoch)

    def _failed(self, targets: list[FetchTarget]) -> None:
        """Newer metadata may name a leader that answers."""
        self._metadata_stale()
        for asked in targets:
            if self._take_back(asked):
                asked.state.fetching.failures += 1
                self._back_off(asked.state)
