"""The evidence for an audit: the logs of the source, the sink and the dead letters, and the outcomes of records.

`Evidence` is what the balance needs; tests provide it from arrays. `KafkaEvidence` reads it from a cluster with our own
consumer, in columns. Outcomes come from Spark, which evaluates the declaration again (`add_outcomes` accepts its frames
as Arrow batches).
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import kafka
from kafka.consumer.bounds import OffsetRange
from kafka.errors import IllegalArgumentError
from kafka.pipelines.audit.offset_evidence import Outcome
from kafka.pipelines.audit.scope import Ranges, Replayed
from kafka.pipelines.header_columns import OwnHeaders
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    from kafka.pipelines.header_columns import Integers, Mask

OUTCOMES = {
    "out": Outcome.OUT,
    "processed": Outcome.OUT,
    "filtered": Outcome.FILTERED,
    "dropped": Outcome.DROPPED,
    "dead": Outcome.DEAD,
}
"""The values of the column `outcome`."""
Frames = Iterable["pa.RecordBatch | pa.Table"]
Evaluate = Callable[[Ranges], Frames]
"""Evaluates a declaration for ranges of offsets. Each frame has the columns topic, partition, offset and outcome."""


class Offsets(NamedTuple):
    """Offsets in a partition of the source.

    Arguments:
        partition: the partition.
        offsets: the offsets.
        topic_id: the id of the topic; empty if unknown.
    """

    partition: TopicPartition
    offsets: Integers
    topic_id: str = ""


class DeadOffsets(NamedTuple):
    """The input records of dead letters in a partition of the source.

    Arguments:
        partition, offsets, topic_id: as in `Offsets`.
        attempts: the attempt of each dead letter.
        replayed: how many replays have processed each; -1 if that is unknown, because a replay is not finished.
    """

    partition: TopicPartition
    offsets: Integers
    attempts: Integers
    replayed: Integers
    topic_id: str = ""


class Evidence(Protocol):
    """What the balance of a pipeline is computed from. Each method can be called several times."""

    @property
    def is_evaluated(self) -> bool:
        """Whether `outcomes` returns outcomes."""

    def bounds(self) -> Mapping[TopicPartition, OffsetRange]:
        """Return the current start and end of the logs of all partitions of the source topics."""

    def topic_ids(self) -> Mapping[str, str]:
        """Return the ids of the source topics, as in the header `SOURCE`; without unknown ones."""

    def compacted(self) -> set[str]:
        """Return the source topics whose logs are compacted."""

    def log(self, ranges: Ranges) -> Iterator[Offsets]:
        """Yield the offsets of the records in the logs of the source."""

    def sink(self) -> Iterator[Offsets]:
        """Yield the positions in the sink."""

    def dead(self) -> Iterator[DeadOffsets]:
        """Yield the positions in the dead letters of the pipeline."""

    def outcomes(self, ranges: Ranges) -> Iterator[tuple[Offsets, Any]] | None:
        """Yield the outcomes of records, as codes; None if they are not evaluated."""

    def replay_outcomes(self, ranges: Ranges) -> Iterator[tuple[Offsets, Any]] | None:
        """Yield the outcomes with the declaration of the replays; None if they are not evaluated."""


def codes_of(frames: Frames) -> Iterator[tuple[Offsets, Any]]:
    """Convert frames with outcomes to offsets and codes, for each partition in each frame.

    Raises `IllegalArgumentError` for an outcome that is not in `OUTCOMES`.
    """
    for frame in frames:
        topics, outcomes = (pc.dictionary_encode(_joined(frame.column(name))) for name in ("topic", "outcome"))
        unknown = [name for name in outcomes.dictionary.to_pylist() if name not in OUTCOMES]
        if unknown or outcomes.null_count:
            raise IllegalArgumentError(f"expected an outcome of {', '.join(OUTCOMES)}, got {(unknown or [None])[0]!r}")
        numbers = np.array([int(OUTCOMES[name]) for name in outcomes.dictionary.to_pylist()] or [0], np.uint8)
        codes = numbers[outcomes.indices.to_numpy(zero_copy_only=False)]
        partitions, offsets = (
            _joined(frame.column(name)).to_numpy(zero_copy_only=False).astype(np.int64)
            for name in ("partition", "offset")
        )
        keys = (topics.indices.to_numpy(zero_copy_only=False).astype(np.int64) << 32) | partitions
        for key in np.unique(keys).tolist():
            rows = keys == key
            tp = TopicPartition(topics.dictionary[key >> 32].as_py(), key & 0xFFFFFFFF)
            yield Offsets(tp, offsets[rows]), codes[rows]


def _within(offsets: Integers, part: OffsetRange | None) -> Mask:
    start, end = part or (0, 0)
    found: Mask = (offsets >= start) & (offsets < end)
    return found


def _joined(column: Any) -> Any:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


@dataclasses.dataclass(frozen=True)
class KafkaEvidence:
    """Reads the evidence from a cluster.

    Arguments:
        topics: the source topics.
        sink_topic: the topic of the sink; None if its rows have no positions.
        dead_topic: the topic of the dead letters; None if there is none.
        pipeline: the name of the pipeline.
        consumer: options for consumers; see `client_configs`.
        admin: options for the admin client.
        ids: the ids of source topics, if known.
        isolation: the isolation level at which the pipeline reads its source.
        replays: what replays have processed.
        evaluate: evaluates the declaration of the time for ranges of the source; None to do without outcomes.
        evaluate_replays: evaluates the declaration of the replays.
    """

    topics: Sequence[str]
    sink_topic: str | None
    dead_topic: str | None
    pipeline: str
    consumer: Mapping[str, Any]
    admin: Mapping[str, Any]
    ids: Mapping[str, str] = dataclasses.field(default_factory=dict)
    isolation: str = "read_uncommitted"
    replays: Sequence[Replayed] = ()
    evaluate: Evaluate | None = None
    evaluate_replays: Evaluate | None = None
    counted: dict[str, int] = dataclasses.field(default_factory=dict)
    """Number of records without a position, by topic."""
    deleted: dict[TopicPartition, int] = dataclasses.field(default_factory=dict)
    """The first offset of partitions of the sink and the dead letters whose first records are deleted."""

    @property
    def is_evaluated(self) -> bool:
        """See `Evidence`."""
        return self.evaluate is not None

    def bounds(self) -> Mapping[TopicPartition, OffsetRange]:
        """See `Evidence`."""
        with contextlib.closing(kafka.read(list(self.topics), **self._options(self.isolation))) as read:
            return dict(read.ranges)

    def topic_ids(self) -> Mapping[str, str]:
        """See `Evidence`."""
        return self.ids

    def compacted(self) -> set[str]:
        """See `Evidence`."""
        from kafka.admin import ConfigResource, ConfigResourceType

        resources = [ConfigResource(ConfigResourceType.TOPIC, name) for name in self.topics]
        with kafka.KafkaAdminClient(**self.admin) as admin:
            found = admin.describe_configs(resources, config_filter="all")
        by_topic = found["topic"]
        return {name for name in self.topics if "compact" in str(by_topic[name]["cleanup.policy"]["value"])}

    def log(self, ranges: Ranges) -> Iterator[Offsets]:
        """See `Evidence`."""
        start, end = ({tp: each[at] for tp, each in ranges.items()} for at in (0, 1))
        with kafka.read(list(ranges), start=start, end=end, on_missing="skip", **self._options(self.isolation)) as read:
            for columns in read.columns():
                tp = TopicPartition(columns.topic, columns.partition)
                yield Offsets(tp, np.asarray(columns.offsets, np.int64))

    def sink(self) -> Iterator[Offsets]:
        """See `Evidence`."""
        for _, own in self._headers(self.sink_topic):
            for tp, topic_id, _, offsets in own.positions():
                yield Offsets(tp, offsets, topic_id)

    def has_positions(self) -> bool:
        """Return whether any row in the sink has the position of its input record."""
        return any(True for _ in self.sink())

    def dead(self) -> Iterator[DeadOffsets]:
        """See `Evidence`."""
        for columns, own in self._headers(self.dead_topic):
            attempts = own.attempts()
            letters = TopicPartition(columns.topic, columns.partition)
            replayed = self.replays_of(letters, np.asarray(columns.offsets, np.int64), own)
            for tp, topic_id, rows, offsets in own.positions(own.are_of(self.pipeline)):
                yield DeadOffsets(tp, offsets, attempts[rows], replayed[rows], topic_id)

    def notes(self) -> list[str]:
        """Return what the sink and the dead letters lack, as sentences, after they were read."""
        found = [
            f"{tp.topic}-{tp.partition}: records before offset {offset} are deleted, so they count as missing"
            for tp, offset in sorted(self.deleted.items())
        ]
        if self.sink_topic is not None and self.counted.get(self.sink_topic):
            count = self.counted[self.sink_topic]
            found.append(f"{count:,} records in {self.sink_topic} have no position of an input record")
        return found

    def _headers(self, topic: str | None) -> Iterator[tuple[Any, OwnHeaders]]:
        if topic is None:
            return
        self.counted[topic] = 0
        with kafka.read(topic, on_missing="skip", **self._options("read_committed")) as read:
            self.deleted.update({tp: each.start for tp, each in read.ranges.items() if each.start > 0})
            for columns in read.columns():
                own = OwnHeaders(columns.to_arrow(["headers"]).column(0))
                self.counted[topic] += len(own.without_position())
                yield columns, own

    def replays_of(self, partition: TopicPartition, offsets: Integers, own: OwnHeaders) -> Integers:
        """Return how many replays have processed each dead letter of a batch; -1 if an unfinished one may have.

        Arguments:
            partition: the partition of the topic of the dead letters.
            offsets: the offsets of the dead letters.
            own: their headers.
        """
        found = np.zeros(len(offsets), np.int64)
        uncertain = np.zeros(len(offsets), np.bool_)
        for replay in self.replays:
            is_open = np.ones(len(offsets), np.bool_) if replay.again else (found == 0) & ~uncertain
            if replay.rule is not None and is_open.any():
                is_open &= own.have_rule(replay.rule)
            found += is_open & _within(offsets, replay.ranges.get(partition))
            uncertain |= is_open & _within(offsets, replay.current.get(partition))
        return np.where(uncertain, -1, found)

    def outcomes(self, ranges: Ranges) -> Iterator[tuple[Offsets, Any]] | None:
        """See `Evidence`."""
        return None if self.evaluate is None else codes_of(self.evaluate(ranges))

    def replay_outcomes(self, ranges: Ranges) -> Iterator[tuple[Offsets, Any]] | None:
        """See `Evidence`."""
        return None if self.evaluate_replays is None else codes_of(self.evaluate_replays(ranges))

    def _options(self, isolation: str) -> dict[str, Any]:
        return {**self.consumer, "isolation_level": isolation}
