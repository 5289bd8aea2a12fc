"""Dead letters: the records that pipelines rejected, and why. Reads them without Spark.

`dead_letter_of` interprets one record, whatever its headers contain. `DeadLetterTopic` selects and counts the dead
letters of a topic; it reads headers in columns (`header_columns`, `dead_letter_counts`), so that a million dead letters
are counted in seconds. The writing of dead letters is part of a run.
"""

from __future__ import annotations

import collections
import dataclasses
import heapq
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import kafka
from kafka.pipelines.dead_letter_counts import NO_RULE, Count, Counter, RuleCount
from kafka.pipelines.header_columns import MAX_ATTEMPT, POSITION, OwnHeaders
from kafka.pipelines.record_headers import (
    ATTEMPT,
    CAUSE,
    CONNECT_PREFIX,
    OWN,
    PIPELINE,
    RULE,
    SOURCE,
    TIMESTAMP,
    Position,
    added_headers,
)
from kafka.pipelines.replayed_letters import ReplayedLetters
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    from kafka.consumer.bounds import Bound, OffsetRange
    from kafka.pipelines.header_columns import Mask
    from kafka.record import Columns

__all__ = ["NO_RULE", "Count", "DeadLetter", "DeadLetterTopic", "RuleCount", "Selection", "dead_letter_of"]

Headers = tuple[tuple[str, bytes | None], ...]
_WINDOW = 10_000
"""Number of offsets in a partition that a search for the newest dead letters reads first."""
_POSITION = re.compile(POSITION.encode())
_NUMBER = re.compile(rb"-?[0-9]{1,18}")
_MAX_OFFSET = 2**63 - 1


@dataclasses.dataclass(frozen=True, slots=True)
class DeadLetter:
    """A rejected record.

    Arguments:
        position: the position of the dead letter itself, in the topic of the dead letters.
        source: the position of the input record; None if the headers do not contain one.
        pipeline: the name of the pipeline that rejected the record; "" if another program wrote the record.
        rules: the names of the rules that the row fails.
        cause: why the record was rejected, as text.
        attempt: how often the record has been rejected: 1 for a new dead letter; 0 if unknown.
        timestamp_ms: when the dead letter was written, in milliseconds since 1970; -1 if unknown.
        key: the key of the input record.
        value: the value of the input record.
        headers: the headers of the input record, without those that the pipeline added.
        source_timestamp_ms: the timestamp of the input record, in milliseconds since 1970; None if unknown.
    """

    position: Position
    source: Position | None
    pipeline: str
    rules: tuple[str, ...]
    cause: str
    attempt: int
    timestamp_ms: int
    key: bytes | None = dataclasses.field(repr=False)
    value: bytes | None = dataclasses.field(repr=False)
    headers: Headers = dataclasses.field(default=(), repr=False)
    source_timestamp_ms: int | None = None


def dead_letter_of(
    position: Position, timestamp_ms: int, key: bytes | None, value: bytes | None, headers: Iterable[Any]
) -> DeadLetter:
    """Interpret a record as a dead letter. A record of any content is accepted.

    Arguments:
        position: the position of the record.
        timestamp_ms: its timestamp, in milliseconds since 1970.
        key, value: its key and value.
        headers: its headers, as pairs of name and value.
    """
    given: Headers = tuple((name, content) for name, content in headers)
    own = tuple(added_headers(given))
    original = given[: len(given) - len(own)] + tuple(each for each in own if not _is_added(each[0]))
    if not any(name in OWN for name, _ in own):
        return _of_connect(position, timestamp_ms, key, value, original, own)
    rules = dict.fromkeys(_text(content) for name, content in own if name == RULE and content is not None)
    return DeadLetter(
        position=position,
        source=_position(_last(own, SOURCE)),
        pipeline=_text(_last(own, PIPELINE)),
        rules=tuple(rules),
        cause=_text(_last(own, CAUSE)),
        attempt=_attempt(_last(own, ATTEMPT)),
        timestamp_ms=timestamp_ms,
        key=key,
        value=value,
        headers=original,
        source_timestamp_ms=_milliseconds(_last(own, TIMESTAMP)),
    )


def _of_connect(
    position: Position, timestamp_ms: int, key: bytes | None, value: bytes | None, original: Headers, own: Headers
) -> DeadLetter:
    """Interpret a dead letter of Kafka Connect, or a record that is not a dead letter."""
    parts = [_text(_last(own, CONNECT_PREFIX + name)) for name in ("topic", "partition", "offset")]
    return DeadLetter(
        position=position,
        source=_position("/".join(parts).encode()),
        pipeline="",
        rules=(),
        cause=_text(_last(own, CONNECT_PREFIX + "exception.message")),
        attempt=0,
        timestamp_ms=timestamp_ms,
        key=key,
        value=value,
        headers=original,
    )


def _is_added(name: str) -> bool:
    return name in OWN or name.startswith(CONNECT_PREFIX)


def _last(headers: Headers, name: str) -> bytes | None:
    return next((content for each, content in reversed(headers) if each == name and content is not None), None)


def _text(content: bytes | None) -> str:
    return "" if content is None else content.decode("utf-8", "replace")


def _position(content: bytes | None) -> Position | None:
    found = _POSITION.fullmatch(content or b"")
    if found is None:
        return None
    topic, partition, offset, topic_id = found.groups(b"")
    return Position(topic.decode(), int(partition), int(offset), topic_id.decode())


def _attempt(content: bytes | None) -> int:
    given = content or b""
    return int(given) if given.isdigit() and len(given) <= 7 and int(given) <= MAX_ATTEMPT else 0


def _milliseconds(content: bytes | None) -> int | None:
    found = _NUMBER.fullmatch(content or b"")
    return None if found is None else int(found[0])


@dataclasses.dataclass(frozen=True, slots=True)
class Selection:
    """Which dead letters of a topic to read.

    Arguments:
        pipeline: only dead letters of this pipeline; None for all records.
        rule: only dead letters that fail this rule; None for all.
        start: where to begin in the topic of the dead letters: an offset, a dict of `TopicPartition` to offset, a time
            or "earliest"; see `kafka.read`. The timestamp of a dead letter is the time at which it was written.
        end: where to stop, exclusive.
        partitions: only these partitions of the topic; empty for all.
    """

    pipeline: str | None = None
    rule: str | None = None
    start: Bound = "earliest"
    end: Bound = "latest"
    partitions: tuple[int, ...] = ()


class DeadLetterTopic:
    """The dead letters in a topic, which may be those of several pipelines.

    Each method reads what the topic contains at the time of the call, committed records only.

    Arguments:
        topic: the topic.
        configs: options for the consumer, such as ``bootstrap_servers``; see `kafka.read`.
    """

    def __init__(self, topic: str, configs: Mapping[str, Any]) -> None:
        self.topic = topic
        self._configs: dict[str, Any] = {**configs, "isolation_level": "read_committed"}

    def count_by_rule(self, selection: Selection = Selection(), replayed: ReplayedLetters | None = None) -> Count:
        """Count the dead letters in a selection.

        Arguments:
            selection: which dead letters.
            replayed: which ones replays have processed, from `replayed_letters`; None if that is not known.

        Raises the errors of `kafka.read`.
        """
        found, known = Counter(), replayed or ReplayedLetters()
        with self._read(selection) as read:
            for columns in read.columns():
                own = _own_headers(columns)
                mine, done = own.are_of(selection.pipeline), known.mask(own, columns.partition, columns.offsets)
                found.add(own, _wanted(own, selection), mine, done)
        return found.result()

    def ranges(self, selection: Selection = Selection()) -> dict[int, OffsetRange]:
        """Return the offsets that a selection covers now, by partition. Raises the errors of `kafka.read`."""
        with self._read(selection) as read:
            return {tp.partition: each for tp, each in read.ranges.items()}

    def letters(
        self,
        selection: Selection = Selection(),
        *,
        limit: int | None = None,
        newest_first: bool = True,
    ) -> Iterator[DeadLetter]:
        """Iterate over the dead letters in a selection.

        Within a partition they are in the order in which they were written, or in the reverse order. Partitions are
        merged by the times at which they were written if there is a limit or the newest come first.

        Arguments:
            selection: which dead letters.
            limit: maximum number of dead letters; None for all.
            newest_first: whether to begin with the newest. Without a limit, this keeps all of them in memory.

        Raises the errors of `kafka.read`.
        """
        if limit is not None and limit < 1:
            return iter(())
        if newest_first:
            return self._newest(selection, limit)
        return self._oldest(selection, limit)

    def later_attempts(self, letters: Iterable[DeadLetter]) -> dict[Position, int]:
        """Return the highest attempt for dead letters that were replayed and rejected again.

        Arguments:
            letters: dead letters, such as those to be shown.

        Returns the attempt by the position of the dead letter; dead letters without a later attempt are left out.
        Raises the errors of `kafka.read`.
        """
        wanted: dict[tuple[str, TopicPartition], dict[int, int]] = {}
        given = [each for each in letters if each.source is not None]
        for each in given:
            wanted.setdefault(_partition_of(each), {})[each.source.offset] = 0  # type: ignore[union-attr]
        for pipeline in {name for name, _ in wanted}:
            self._add_attempts(pipeline, wanted)
        found = {each.position: wanted[_partition_of(each)][each.source.offset] for each in given}  # type: ignore[union-attr]
        return {each.position: found[each.position] for each in given if found[each.position] > each.attempt}

    def _add_attempts(self, pipeline: str, wanted: dict[tuple[str, TopicPartition], dict[int, int]]) -> None:
        with self._read(Selection(pipeline)) as read:
            for columns in read.columns():
                own = _own_headers(columns)
                attempts = own.attempts()
                for tp, _, rows, offsets in own.positions(own.are_of(pipeline)):
                    mine = wanted.get((pipeline, tp), {})
                    for index in np.flatnonzero(np.isin(offsets, list(mine))).tolist():
                        offset = int(offsets[index])
                        mine[offset] = max(mine[offset], int(attempts[rows[index]]))

    def _read(self, selection: Selection, start: Bound | None = None, end: Bound | None = None) -> Any:
        topics = [TopicPartition(self.topic, each) for each in selection.partitions] or self.topic
        start = selection.start if start is None else start
        end = selection.end if end is None else end
        return kafka.read(topics, start=start, end=end, on_missing="skip", **self._configs)

    def _oldest(self, selection: Selection, limit: int | None) -> Iterator[DeadLetter]:
        if limit is None:
            with self._read(selection) as read:
                for columns in read.columns():
                    yield from _letters(columns, _rows(columns, selection))
            return
        found: dict[int, list[DeadLetter]] = {}
        with self._read(selection) as read:
            open_partitions = {tp.partition for tp, each in read.ranges.items() if each.start < each.end}
            for columns in read.columns():
                mine = found.setdefault(columns.partition, [])
                mine += _letters(columns, _rows(columns, selection)[: limit - len(mine)])
                if len(mine) == limit:
                    open_partitions.discard(columns.partition)
                if not open_partitions:
                    break
        yield from itertools.islice(heapq.merge(*found.values(), key=lambda each: each.timestamp_ms), limit)

    def _newest(self, selection: Selection, limit: int | None) -> Iterator[DeadLetter]:
        """Read back from the end of each partition, twice as far in each round, until there are enough."""
        with self._read(selection) as read:
            ranges = dict(read.ranges)
        found: dict[TopicPartition, collections.deque[DeadLetter]] = {tp: collections.deque() for tp in ranges}
        size = _WINDOW if limit is not None else _MAX_OFFSET
        ends = {tp: each.end for tp, each in ranges.items() if each.start < each.end}
        while ends:
            starts = {tp: max(ranges[tp].start, end - size) for tp, end in ends.items()}
            for tp, letters in self._last_of(selection, starts, ends, limit).items():
                found[tp].extendleft(itertools.islice(reversed(letters), None if limit is None else limit))
            is_enough = {tp: limit is not None and len(found[tp]) >= limit for tp in ends}
            ends = {tp: start for tp, start in starts.items() if start > ranges[tp].start and not is_enough[tp]}
            size *= 2
        newest = [list(reversed(letters)) for letters in found.values()]
        yield from itertools.islice(heapq.merge(*newest, key=lambda each: -each.timestamp_ms), limit)

    def _last_of(
        self,
        selection: Selection,
        starts: Mapping[TopicPartition, int],
        ends: Mapping[TopicPartition, int],
        limit: int | None,
    ) -> dict[TopicPartition, collections.deque[DeadLetter]]:
        """Return the last dead letters in the ranges, at most ``limit`` of each partition, oldest first."""
        found: dict[TopicPartition, collections.deque[DeadLetter]] = {}
        narrowed = dataclasses.replace(selection, partitions=tuple(tp.partition for tp in starts))
        with self._read(narrowed, dict(starts), dict(ends)) as read:
            for columns in read.columns():
                rows = _rows(columns, selection)
                mine = found.setdefault(
                    TopicPartition(columns.topic, columns.partition), collections.deque(maxlen=limit)
                )
                mine.extend(_letters(columns, rows if limit is None else rows[-limit:]))
        return found


def _partition_of(letter: DeadLetter) -> tuple[str, TopicPartition]:
    assert letter.source is not None
    return letter.pipeline, TopicPartition(letter.source.topic, letter.source.partition)


def _own_headers(columns: Columns) -> OwnHeaders:
    return OwnHeaders(columns.to_arrow(["headers"]).column(0))


def _wanted(own: OwnHeaders, selection: Selection) -> Mask:
    mask = own.are_of(selection.pipeline)
    return mask if selection.rule is None else mask & own.have_rule(selection.rule)


def _rows(columns: Columns, selection: Selection) -> Sequence[int]:
    if selection.pipeline is None and selection.rule is None:
        return range(len(columns))
    rows: list[int] = np.flatnonzero(_wanted(_own_headers(columns), selection)).tolist()
    return rows


def _letters(columns: Columns, rows: Iterable[int]) -> Iterator[DeadLetter]:
    offsets, times = columns.offsets, columns.timestamps
    for row in rows:
        position = Position(columns.topic, columns.partition, offsets[row])
        yield dead_letter_of(position, times[row], columns.key(row), columns.value(row), columns.headers(row))
