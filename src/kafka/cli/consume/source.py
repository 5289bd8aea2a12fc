"""Sources of records: a snapshot of topics, new records, or the records of a group or share group (KIP-932)."""

import contextlib
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import kafka
from kafka.cli.command_output import note
from kafka.cli.consume.selection import Piece
from kafka.cli.position_syntax import Position
from kafka.cli.session import Session
from kafka.config.option import nearest
from kafka.consumer import ConsumerRebalanceListener
from kafka.consumer.bounds import NOT_FOR_READS, SKIP_ADVICE, WHERE_TOPICS_ARE
from kafka.errors import OffsetOutOfRangeError, UnknownTopicOrPartitionError
from kafka.structs import OffsetAndMetadata, TopicPartition

if TYPE_CHECKING:
    from kafka.consumer import KafkaConsumer
    from kafka.consumer._sync.bounded_read import BoundedRead
    from kafka.record import Columns

POLL_MS = 200
_TOLD = 3
"""Maximum number of partitions for which the searched ranges are reported."""
_COMMIT_S = 1.0
START_S = 30.0
"""Seconds to wait for a group's first record before the group counts as idle."""


class Source:
    """Yields columns until there are no more; the caller reports which records it has written.

    Attributes:
        on_pause: called after each poll without records; an exception from it stops the reading.
    """

    on_pause: Callable[[], None] = staticmethod(lambda: None)

    def columns(self) -> "Iterator[Columns]":
        """Yield records in columns."""
        raise NotImplementedError

    def written(self, piece: Piece) -> None:
        """Record that these records were written."""

    def searched(self) -> str | None:
        """Describe the offsets that were searched; None if the range has no end."""
        return None

    def close(self) -> None:
        """Leave the group, and close the connections."""


def open_read(
    session: Session, targets: Sequence[str | TopicPartition], start: Position, **bounds: Any
) -> "BoundedRead":
    """Return a bounded read with the session's settings."""
    configs = {name: value for name, value in session.configs("consumer").items() if name not in NOT_FOR_READS}
    try:
        return kafka.read(list(targets), start=start, **bounds, **configs)
    except UnknownTopicOrPartitionError as error:
        text = str(error.args[0]).replace(WHERE_TOPICS_ARE, "see 'kafka topics list'")
        raise UnknownTopicOrPartitionError(text) from None


class Snapshot(Source):
    """Reads the records that topics contain now."""

    def __init__(self, read: "BoundedRead") -> None:
        self._read = read

    def columns(self) -> "Iterator[Columns]":
        """See `Source`."""
        try:
            yield from self._read.columns()
        except OffsetOutOfRangeError as error:
            text = str(error.args[0]).replace(SKIP_ADVICE, "; run the command again to read the rest")
            raise OffsetOutOfRangeError(text) from error

    def searched(self) -> str | None:
        """See `Source`."""
        told = [f"{tp.topic}:{tp.partition} from {r.start:,} to {r.end:,}" for tp, r in self._read.ranges.items()]
        more = f" and {len(told) - _TOLD:,} more partitions" if len(told) > _TOLD else ""
        return f"searched offsets of {', '.join(told[:_TOLD])}{more}"

    def close(self) -> None:
        """See `Source`."""
        self._read.close()


class Following(Source):
    """Reads topics starting from a position, including new records, without a group.

    Arguments:
        read: a bounded read whose start positions are used.
        idle_s: stop after this many seconds without records; None: never.
        own: options for the consumer.
    """

    def __init__(self, session: Session, read: "BoundedRead", idle_s: float | None, **own: Any) -> None:
        starts = {tp: each.start for tp, each in read.ranges.items()}
        read.close()
        self._idle_s = idle_s
        self._consumer = session.consumer(group_id=None, enable_auto_commit=False, **own)
        self._consumer._core.history.is_told_elsewhere = own.get("on_topic_recreated") == "raise"
        self._consumer.assign(list(starts))
        for tp, offset in starts.items():
            self._consumer.seek(tp, offset)

    def columns(self) -> "Iterator[Columns]":
        """See `Source`."""
        return _poll(self._consumer, self._idle_s, self.on_pause)

    def close(self) -> None:
        """See `Source`."""
        self._consumer.close()


class InGroup(Source, ConsumerRebalanceListener):
    """Reads a group member's partitions. Only written records are committed, so none is lost if the command ends.

    Arguments:
        topics: the topics, or a pattern of their names, which includes topics that are created later.
        reset: start position for partitions without committed offsets.
        idle_s: stop after this many seconds without records; None: never.
        is_safe: returns whether the written records can no longer be lost; offsets are committed only then.
    """

    def __init__(
        self,
        session: Session,
        topics: Sequence[str] | re.Pattern[str],
        configs: Mapping[str, Any],
        reset: str,
        idle_s: float | None,
        is_safe: Callable[[], bool],
    ) -> None:
        self._idle_s = idle_s
        self._is_safe = is_safe
        self._has_joined = False
        self._offsets: dict[TopicPartition, OffsetAndMetadata] = {}
        self._committed_at = time.monotonic()
        own = {"auto_offset_reset": reset, **configs, "enable_auto_commit": False}
        self._consumer = session.consumer(**own)
        if isinstance(topics, re.Pattern):
            self._consumer.subscribe(pattern=topics, listener=self)
        else:
            _note_missing(self._consumer, topics)
            self._consumer.subscribe(list(topics), listener=self)

    def columns(self) -> "Iterator[Columns]":
        """See `Source`."""
        return _poll(self._consumer, self._idle_s, self.on_pause, lambda: self._has_joined)

    def written(self, piece: Piece) -> None:
        """See `Source`."""
        tp = TopicPartition(piece.columns.topic, piece.columns.partition)
        self._offsets[tp] = OffsetAndMetadata(piece.next_offset, "", piece.columns.leader_epoch)
        if time.monotonic() - self._committed_at >= _COMMIT_S and self._is_safe():
            self._committed_at = time.monotonic()
            self._consumer.commit_async(self._valid(self._offsets))

    def on_partitions_revoked(self, revoked: Any) -> None:
        """Commit before other members take over the partitions."""
        self._commit({tp: self._offsets.pop(tp) for tp in revoked if tp in self._offsets})

    def on_partitions_assigned(self, assigned: Any) -> None:
        """Note that the group has assigned partitions."""
        self._has_joined = True

    def on_partitions_lost(self, lost: Any) -> None:
        """Discard the offsets of these partitions, as other members may already own them."""
        for tp in lost:
            self._offsets.pop(tp, None)

    def _commit(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        if offsets and self._is_safe():
            self._consumer.commit(self._valid(offsets))

    def _valid(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> dict[TopicPartition, OffsetAndMetadata]:
        """Omit offsets beyond the consumer's position, because their topics have been deleted and recreated."""
        state_of = self._consumer._core.subscription.state_of
        places = {tp: None if (state := state_of(tp)) is None else state.position for tp in offsets}
        return {tp: each for tp, each in offsets.items() if (at := places[tp]) is not None and each.offset <= at.offset}

    def close(self) -> None:
        """See `Source`."""
        try:
            self._commit(self._offsets)
        finally:
            self._consumer.close()


def _note_missing(consumer: "KafkaConsumer[Any, Any]", topics: Sequence[str]) -> None:
    """Report topics that do not exist: a group waits for them, and a misspelt one never comes."""
    known = consumer.topics()
    for name in topics:
        if name not in known:
            note(f"topic {name} does not exist yet{nearest(name, sorted(known))}")


class IdleTime:
    """The time without records, counted from the first response from the group and the brokers.

    Arguments:
        limit_s: the limit in seconds; None: no limit.
    """

    def __init__(self, limit_s: float | None) -> None:
        self._limit_s = limit_s
        self._began = self._last = time.monotonic()

    def is_over(self, found: bool, has_begun: bool) -> bool:
        """Return, after a poll, whether the limit is exceeded.

        Arguments:
            found: whether the poll returned records.
            has_begun: whether the group and the brokers had responded before the poll.
        """
        now = time.monotonic()
        if found or not (has_begun or now - self._began >= START_S):
            self._last = now
            return False
        return self._limit_s is not None and now - self._last >= self._limit_s


def _poll(
    consumer: "KafkaConsumer[Any, Any]",
    idle_s: float | None,
    on_pause: Callable[[], None],
    has_joined: Callable[[], bool] = lambda: True,
) -> "Iterator[Columns]":
    """Yield polled columns until no records have arrived for ``idle_s`` seconds."""
    idle = IdleTime(idle_s)
    while True:
        has_begun = idle_s is not None and has_joined() and _all_answered(consumer)
        found = consumer.poll_columns(timeout_ms=POLL_MS)
        yield from found.values()
        if not found:
            on_pause()
        if idle.is_over(bool(found), has_begun):
            return


def _all_answered(consumer: "KafkaConsumer[Any, Any]") -> bool:
    return all(consumer.highwater(each) is not None for each in consumer.assignment())


@contextlib.contextmanager
def closing(source: Source) -> Iterator[Source]:
    """Close the source at the end of the block, even after an error."""
    try:
        yield source
    finally:
        source.close()


_AT_ONCE = 500
"""Maximum number of records to acquire at a time if the total is limited."""


class InShareGroup(Source):
    """Reads the records that a member of a share group acquires.

    A record is accepted once it is written. Records that were not written are released when the command ends. Records
    that do not match the filters are also accepted; otherwise they would be redelivered again and again.

    Arguments:
        most: total number of records to read; None: no limit. At most this many records are acquired at a time.
        idle_s: stop after this many seconds without records; None: never.
    """

    def __init__(
        self, session: Session, topics: Sequence[str], group: str, most: int | None, idle_s: float | None
    ) -> None:
        self._idle_s = idle_s
        self._has_complained = False
        limits: dict[str, Any] = {}
        if most is not None:
            limits = {"share_acquire_mode": "record_limit", "max_poll_records": min(most, _AT_ONCE)}
        own = {"group_id": group, "share_acknowledgement_mode": "explicit", **limits}
        self._consumer = session.share_consumer(**own)
        self._consumer.set_acknowledgement_commit_callback(self._acknowledged)
        self._consumer.subscribe(list(topics))

    def columns(self) -> "Iterator[Columns]":
        """See `Source`."""
        idle = IdleTime(self._idle_s)
        while True:
            has_begun = self._consumer.acquisition_lock_timeout_ms() is not None  # known after the first response
            found = self._consumer.poll_columns(timeout_ms=POLL_MS)
            yield from found
            if not found:
                self.on_pause()
            if idle.is_over(bool(found), has_begun):
                return

    def written(self, piece: Piece) -> None:
        """See `Source`."""
        columns, acknowledge = piece.columns, self._consumer.acknowledge
        topic, partition = columns.topic, columns.partition
        for offset in columns.offsets:
            if offset >= piece.next_offset:
                break  # the remaining records were not examined
            acknowledge(topic, partition, offset)

    def _acknowledged(self, offsets: dict[TopicPartition, set[int]], error: Exception | None) -> None:
        """Report the first failure. For example, acquisition locks expire if the output is read slowly."""
        if error is not None and not self._has_complained:
            self._has_complained = True
            for tp, each in offsets.items():
                note(
                    f"{len(each):,} records of {tp.topic}:{tp.partition} were written but will be delivered again, "
                    f"because they could not be acknowledged: {error}"
                )

    def close(self) -> None:
        """See `Source`."""
        self._consumer.close()
