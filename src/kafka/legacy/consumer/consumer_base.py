"""`kafka.consumer.base`: tracks and commits the offsets of a topic's partitions."""

from __future__ import annotations

import atexit
import logging
import numbers
import os
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from kafka.errors import KafkaError, UnknownTopicOrPartitionError, check_error
from kafka.legacy.deprecation import warn_deprecated
from kafka.legacy.kafka_util import ReentrantTimer
from kafka.legacy.payloads import OffsetCommitRequestPayload, OffsetFetchRequestPayload, OffsetRequestPayload
from kafka.legacy.simple.apis import text

log = logging.getLogger("kafka.consumer")

AUTO_COMMIT_MSG_COUNT = 100
AUTO_COMMIT_INTERVAL = 5000

FETCH_DEFAULT_BLOCK_TIMEOUT = 1
FETCH_MAX_WAIT_TIME = 100
FETCH_MIN_BYTES = 4096
FETCH_BUFFER_SIZE_BYTES = 4096
MAX_FETCH_BUFFER_SIZE_BYTES = FETCH_BUFFER_SIZE_BYTES * 8

ITER_TIMEOUT_SECONDS = 60
NO_MESSAGES_WAIT_TIME_SECONDS = 0.1
FULL_QUEUE_WAIT_TIME_SECONDS = 0.1
MAX_BACKOFF_SECONDS = 60

EARLIEST = -2
LATEST = -1


class Consumer:
    """The common base of `SimpleConsumer` and `MultiProcessConsumer`; do not use it directly.

    Offsets are committed after a number of messages, and also at an interval. Each commit restarts the count of
    messages. The consumer stores offsets for the group without joining it: other consumers in the group find these
    offsets, and this consumer finds theirs.

    Arguments:
        client: a `SimpleClient`.
        group: the group whose offsets are used; None: offsets begin at 0, and nothing is committed.
        topic: the topic to read.
        partitions: the partitions to read; None: all.
        auto_commit: whether to commit automatically.
        auto_commit_every_n: number of messages after which to commit; None: no limit.
        auto_commit_every_t: milliseconds after which to commit; None: commit neither by time nor in `stop`.

    Attributes:
        offsets: by partition, the offset of the next message to return.
        count_since_commit: number of messages returned since the last commit.
    """

    def __init__(
        self,
        client: Any,
        group: str | bytes | None,
        topic: str | bytes,
        partitions: Sequence[int] | None = None,
        auto_commit: bool = True,
        auto_commit_every_n: int | None = AUTO_COMMIT_MSG_COUNT,
        auto_commit_every_t: float | None = AUTO_COMMIT_INTERVAL,
    ) -> None:
        warn_deprecated(f"{type(self).__name__} is deprecated: use KafkaConsumer")
        self.client = client
        self.topic = text(topic)
        self.group = text(group)
        self.client.load_metadata_for_topics(self.topic, ignore_leadernotavailable=True)
        self.offsets: dict[int, int] = {}
        self.partition_info = False
        if partitions is None:
            partitions = self.client.get_partition_ids_for_topic(self.topic)
        elif not all(isinstance(each, numbers.Integral) for each in partitions):
            raise AssertionError(f"partitions must be numbers, not {partitions!r}")

        self.commit_lock = threading.Lock()
        self.commit_timer: ReentrantTimer | None = None
        self.count_since_commit = 0
        self.auto_commit = auto_commit
        self.auto_commit_every_n = auto_commit_every_n
        self.auto_commit_every_t = auto_commit_every_t

        if self.group is not None:
            self.fetch_last_known_offsets(partitions)
        else:
            self.offsets.update(dict.fromkeys(partitions, 0))
        if auto_commit and auto_commit_every_t is not None:
            self.commit_timer = ReentrantTimer(auto_commit_every_t, self.commit)
            self.commit_timer.start()
        self._pid = os.getpid()
        atexit.register(self._stop_at_exit)

    def provide_partition_info(self) -> None:
        """Make the consumer return messages as pairs of partition and message."""
        self.partition_info = True

    def fetch_last_known_offsets(self, partitions: Iterable[int] | None = None) -> None:
        """Continue from the group's stored offsets, or from 0 in partitions without one.

        Raises `ValueError` without a group, and the coordinator's first error.
        """
        if self.group is None:
            raise ValueError("stored offsets require a group, but group is None")
        if partitions is None:
            partitions = self.client.get_partition_ids_for_topic(self.topic)
        asked = [OffsetFetchRequestPayload(self.topic, each) for each in partitions]
        for answer in self.client.send_offset_fetch_request(self.group, asked, fail_on_error=False):
            try:
                check_error(answer)
            except UnknownTopicOrPartitionError:
                log.debug("group %s has no offset for %s:%d", self.group, answer.topic, answer.partition)
            self.offsets[answer.partition] = max(answer.offset, 0)

    def commit(self, partitions: Iterable[int] | None = None) -> bool | None:
        """Store the offsets for the group.

        Arguments:
            partitions: the partitions to commit; None: all.

        Returns True if the offsets are stored, False on failure (the log says why), None if there is nothing to store.
        """
        with self.commit_lock:
            count = self.count_since_commit
            if count == 0 or self.group is None:
                return None
            wanted = list(self.offsets if partitions is None else partitions)
            log.debug("committing offsets of %s, partitions %s", self.topic, wanted)
            asked = [OffsetCommitRequestPayload(self.topic, each, self.offsets[each], None) for each in wanted]
            try:
                self.client.send_offset_commit_request(self.group, asked)
            except KafkaError as error:
                log.error("%s saving offsets: %s", type(error).__name__, error)
                return False
            self.count_since_commit -= count  # more messages may have been returned in the meantime
            return True

    def _auto_commit(self) -> None:
        """Commit if enough messages have been returned."""
        limit = self.auto_commit_every_n
        if self.auto_commit and limit is not None and self.count_since_commit >= limit:
            self.commit()

    def _hand_out(self, found: Sequence[tuple[int, Any]], put_back: Callable[[Iterable[Any]], object]) -> None:
        """Count messages, given as pairs of partition and message, as returned, and commit if a commit is due.

        Arguments:
            put_back: called with the messages in reverse order if an interrupt prevents their return. The next call
                returns them, and offsets that a commit may already have stored for them are committed again.
        """
        before = {partition: self.offsets[partition] for partition, _ in found if partition in self.offsets}
        try:
            self.offsets.update({partition: message.offset + 1 for partition, message in found})
            self.count_since_commit += len(found)
            self._auto_commit()
        except BaseException:
            self.offsets.update(before)
            self.count_since_commit = max(self.count_since_commit, 1)
            put_back(reversed(found))
            raise

    def stop(self) -> None:
        """Commit if time-based automatic commits are enabled, and stop. The client stays open. Also called at exit."""
        atexit.unregister(self._stop_at_exit)
        timer, self.commit_timer = self.commit_timer, None
        if timer is not None:
            timer.stop()
            self.commit()

    def _stop_at_exit(self) -> None:
        """Stop, except in a forked child, because the parent may have committed later offsets since the fork."""
        if os.getpid() == self._pid:
            self.stop()

    def pending(self, partitions: Iterable[int] | None = None) -> int:
        """Ask brokers for the number of messages that have not been returned yet.

        Arguments:
            partitions: the partitions; None: all.
        """
        wanted = list(self.offsets) if partitions is None else partitions
        ends = self._ask_offsets(wanted, LATEST)
        return sum(end - self.offsets[partition] for partition, end in ends.items())

    def _ask_offsets(self, partitions: Iterable[int], time: int) -> dict[int, int]:
        """Ask brokers for an offset of each partition. Raises the first error in the responses."""
        asked = [OffsetRequestPayload(self.topic, partition, time, 1) for partition in partitions]
        return {answer.partition: answer.offsets[0] for answer in self.client.send_offset_request(asked)}
