"""A pipeline in arrays: what its source, sink, dead letters and events contain, and faults that are planted in them.

`World.correct` creates a pipeline in which everything adds up, of random shape: gaps in the logs, several
micro-batches, replays, a backfill, rows that are dropped or filtered out. Each function in `PLANTS` breaks one thing,
and returns the faults that an audit has to report: kind, partition and offsets.
"""

from __future__ import annotations

import collections
import dataclasses
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from kafka.consumer.bounds import OffsetRange
from kafka.pipelines.audit import Backfilled, DeadOffsets, FaultKind, MicroBatch, Offsets, Replayed, Scope, scope_of
from kafka.pipelines.audit.evidence import codes_of
from kafka.pipelines.events import Event, SourceCounts
from kafka.structs import TopicPartition

Place = tuple[TopicPartition, int]
Planted = set[tuple[FaultKind, TopicPartition, int]]
"""Kind, partition and offset of each fault."""


@dataclasses.dataclass(slots=True)
class Letter:
    """A dead letter."""

    place: Place
    attempt: int
    replayed: int = 0


@dataclasses.dataclass
class World:
    """A pipeline.

    Attributes:
        random: chooses everything.
        outcomes: the outcome of each record in the log.
        after: the outcome of each record with the declaration of the replays.
        sink: the position of each row in the sink.
        letters: the dead letters.
        batches: the ranges of the micro-batches, by number.
        ends: the ends of the logs.
        sizes: how many rows the query returns for each record that passes; 1 unless noted.
        late: number of late rows.
    """

    random: random.Random
    outcomes: dict[Place, str] = dataclasses.field(default_factory=dict)
    after: dict[Place, str] = dataclasses.field(default_factory=dict)
    sink: list[Place] = dataclasses.field(default_factory=list)
    letters: list[Letter] = dataclasses.field(default_factory=list)
    batches: list[dict[TopicPartition, OffsetRange]] = dataclasses.field(default_factory=list)
    backfill: dict[TopicPartition, OffsetRange] = dataclasses.field(default_factory=dict)
    ends: dict[TopicPartition, int] = dataclasses.field(default_factory=dict)
    sizes: dict[Place, int] = dataclasses.field(default_factory=dict)
    changed: dict[int, dict[str, int]] = dataclasses.field(default_factory=dict)
    late: int = 0

    @classmethod
    def correct(cls, seed: int, partitions: int = 3, size: int = 200, backfills: bool = True, most: int = 3) -> World:
        """Return a pipeline in which everything adds up.

        Arguments:
            partitions: number of partitions.
            size: maximum number of offsets in each.
            backfills: whether there may be a backfill.
            most: maximum number of rows that the query returns for a record.
        """
        world = cls(random.Random(seed))
        choose = world.random
        for number in range(partitions):
            tp = TopicPartition("flights", number)
            start = choose.choice([0, 0, choose.randrange(50)])
            stop = start + choose.randrange(size // 2, size)
            world.ends[tp] = stop + choose.randrange(0, 40)
            world._add_batches(tp, start, stop)
            if backfills and choose.random() < 0.3:
                world.backfill[tp] = OffsetRange(choose.randrange(start + 1), choose.randrange(start + 1, stop))
            for offset in range(world.ends[tp]):
                if choose.random() < 0.93:  # other offsets are markers, or compacted
                    world._add_record((tp, offset), most)
        choose.shuffle(world.sink)
        choose.shuffle(world.letters)
        return world

    def _add_batches(self, tp: TopicPartition, start: int, stop: int) -> None:
        cuts = sorted(self.random.sample(range(start + 1, stop), 4))
        for index, (first, last) in enumerate(zip([start, *cuts], [*cuts, stop], strict=True)):
            if index == len(self.batches):
                self.batches.append({})
            self.batches[index][tp] = OffsetRange(first, last)

    def runs(self, place: Place) -> int:
        """Return how many runs have read an offset."""
        tp, offset = place
        ranges = [*(batch[tp] for batch in self.batches), *([self.backfill[tp]] if tp in self.backfill else [])]
        return sum(start <= offset < end for start, end in ranges)

    def is_after_stream(self, place: Place) -> bool:
        """Whether the stream has not come that far."""
        return place[1] >= self.batches[-1][place[0]].end

    def _add_record(self, place: Place, most: int) -> None:
        choose = self.random
        kinds = choose.choices(["out", "filtered", "dropped", "dead"], [60, 20, 8, 12], k=1)
        self.outcomes[place] = kinds[0]
        self.after[place] = choose.choice(["out", "filtered", "dead"]) if kinds[0] == "dead" else kinds[0]
        if kinds[0] == "out" and choose.random() < 0.02:
            self.sizes[place] = most
        if self.is_after_stream(place):
            if choose.random() < 0.3:  # a batch that is written, but not yet complete
                self.sink.append(place)
            return
        for _ in range(self.runs(place)):
            if self.outcomes[place] == "out":
                self.sink += [place] * self.sizes.get(place, 1)
            elif self.outcomes[place] == "dead":
                self._reject(place)

    def _reject(self, place: Place) -> None:
        """Add a dead letter, and perhaps replays of it."""
        self.letters.append(Letter(place, 1))
        while self.random.random() < 0.4:
            self.letters[-1].replayed = 1
            if self.after[place] != "dead":
                self.sink += [place] * self.sizes.get(place, 1) if self.after[place] == "out" else []
                break
            self.letters.append(Letter(place, self.letters[-1].attempt + 1))

    def inside(self, outcome: str, letters: int | None = None) -> Place:
        """Choose a record that exactly one run has read, with an outcome and a number of dead letters."""
        counts = collections.Counter(letter.place for letter in self.letters)
        found = [
            place
            for place, each in self.outcomes.items()
            if each == outcome and place not in self.touched and (letters is None or counts[place] == letters)
            if self.runs(place) == 1 and not self.is_after_stream(place)
        ]
        place = self.random.choice(found)
        self.touched.add(place)
        return place

    touched: set[Place] = dataclasses.field(default_factory=set)

    def letter_of(self, place: Place) -> Letter:
        """Return the only dead letter of a record."""
        (found,) = [each for each in self.letters if each.place == place]
        return found

    def events(self) -> list[Event]:
        """Return the events of the micro-batches, with correct counts except where they were changed."""
        found = []
        for number, ranges in enumerate(self.batches):
            inside = [place for place in self.outcomes if place[0] in ranges and _contains(ranges[place[0]], place[1])]
            kinds = [self.outcomes[place] for place in inside]
            counts = {
                "rows": len(inside),
                "processed": kinds.count("out") + kinds.count("filtered"),
                "dropped": kinds.count("dropped"),
                "dead": kinds.count("dead"),
            } | self.changed.get(number, {})
            out = sum(self.sizes.get(place, 1) for place in inside if self.outcomes[place] == "out")
            named = {f"{tp.topic}-{tp.partition}": (each.start, each.end) for tp, each in ranges.items()}
            rows, processed, dropped, dead = (counts[name] for name in ("rows", "processed", "dropped", "dead"))
            source = SourceCounts(rows, processed, dropped, dead, ranges=named)
            time = f"2026-01-01T00:00:{number:02}+00:00"
            late = self.late if number == 0 else 0
            found.append(Event("batch", time, "p", batch=number, sources={"source": source}, out=out, late=late))
        return found

    def scope(self) -> Scope:
        """Return what there is to audit."""
        events = self.events()
        batches = [MicroBatch(number, ranges, events[number]) for number, ranges in enumerate(self.batches)]
        return scope_of("p", batches, [Backfilled(self.backfill)] if self.backfill else [], [Replayed({})])


def _contains(part: OffsetRange, offset: int) -> bool:
    return part.start <= offset < part.end


@dataclasses.dataclass
class ArrayEvidence:
    """The evidence from a `World`; see `kafka.pipelines.audit.evidence.Evidence`."""

    world: World
    is_evaluated: bool = True
    knows_replays: bool = True

    def bounds(self) -> Mapping[TopicPartition, OffsetRange]:
        return {tp: OffsetRange(0, end) for tp, end in self.world.ends.items()}

    def topic_ids(self) -> Mapping[str, str]:
        return {"flights": "now"}

    def compacted(self) -> set[str]:
        return set()

    def log(self, ranges: Mapping[TopicPartition, OffsetRange]) -> Iterator[Offsets]:
        for tp, part in ranges.items():
            yield Offsets(tp, self._of(tp, [p for p in self.world.outcomes if p[0] == tp and _contains(part, p[1])]))

    def _of(self, tp: TopicPartition, places: list[Place]) -> Any:
        return np.array([offset for partition, offset in places if partition == tp], np.int64)

    def sink(self) -> Iterator[Offsets]:
        for tp in sorted({place[0] for place in self.world.sink}):
            yield Offsets(tp, self._of(tp, self.world.sink), "now")
            yield Offsets(tp, np.array([1, 5, 10**9], np.int64), "a deleted topic")
        yield Offsets(TopicPartition("another", 0), np.array([1]), "")

    def dead(self) -> Iterator[DeadOffsets]:
        for tp in sorted({letter.place[0] for letter in self.world.letters}):
            letters = [each for each in self.world.letters if each.place[0] == tp]
            offsets = self._of(tp, [each.place for each in letters])
            attempts = np.array([each.attempt for each in letters], np.int64)
            yield DeadOffsets(tp, offsets, attempts, np.array([each.replayed for each in letters], np.int64))

    def outcomes(self, ranges: Mapping[TopicPartition, OffsetRange]) -> Iterator[tuple[Offsets, Any]] | None:
        return self._evaluated(ranges, self.world.outcomes) if self.is_evaluated else None

    def replay_outcomes(self, ranges: Mapping[TopicPartition, OffsetRange]) -> Iterator[tuple[Offsets, Any]] | None:
        return self._evaluated(ranges, self.world.after) if self.is_evaluated and self.knows_replays else None

    def _evaluated(
        self, ranges: Mapping[TopicPartition, OffsetRange], outcomes: Mapping[Place, str]
    ) -> Iterator[tuple[Offsets, Any]]:
        rows = [
            (tp, offset, outcome)
            for (tp, offset), outcome in outcomes.items()
            for _ in range(self.world.sizes.get((tp, offset), 1) if outcome == "out" else 1)
            if tp in ranges and _contains(ranges[tp], offset)
        ]
        for at in range(0, len(rows), 97):
            part = rows[at : at + 97]
            yield from codes_of(
                [
                    pa.table(
                        {
                            "topic": [tp.topic for tp, _, _ in part],
                            "partition": pa.array([tp.partition for tp, _, _ in part], pa.int32()),
                            "offset": [offset for _, offset, _ in part],
                            "outcome": [outcome for _, _, outcome in part],
                        }
                    )
                ]
            )


def delete_row(world: World) -> Planted:
    """An output row is deleted."""
    place = world.inside("out")
    world.sink.remove(place)
    return {(FaultKind.MISSING_IN_SINK, *place)}


def duplicate_row(world: World) -> Planted:
    """An output row is written twice."""
    place = world.inside("out")
    world.sink.append(place)
    return {(FaultKind.DUPLICATED_IN_SINK, *place)}


def unexpected_row(world: World) -> Planted:
    """A row that a rule dropped, or that the query filtered out, is in the sink."""
    place = world.inside(world.random.choice(["dropped", "filtered"]))
    world.sink.append(place)
    return {(FaultKind.UNEXPECTED_IN_SINK, *place)}


def delete_letter(world: World) -> Planted:
    """A dead letter is deleted."""
    place = world.inside("dead", 1)
    letter = world.letter_of(place)
    world.letters.remove(letter)
    planted = {(FaultKind.MISSING_DEAD_LETTER, *place)}
    if place in world.sink:  # its replay has succeeded
        planted.add((FaultKind.UNEXPECTED_IN_SINK, *place))
    return planted


def duplicate_letter(world: World) -> Planted:
    """A dead letter is written twice."""
    place = world.inside("dead", 1)
    letter = world.letter_of(place)
    world.letters.append(Letter(place, letter.attempt))
    return {(FaultKind.DUPLICATED_DEAD_LETTER, *place)}


def dead_and_out(world: World) -> Planted:
    """A record is in the sink and in the dead letters, without a replay."""
    place = world.inside("out")
    world.letters.append(Letter(place, 1))
    return {(FaultKind.IN_SINK_AND_DEAD, *place)}


def dead_instead_of_out(world: World) -> Planted:
    """A record that passes is in the dead letters."""
    place = world.inside("out")
    world.sink = [each for each in world.sink if each != place]
    world.letters.append(Letter(place, 1))
    return {(FaultKind.UNEXPECTED_DEAD_LETTER, *place)}


def replay_lost(world: World) -> Planted:
    """A replay of a record that passes by now has written nothing."""
    place = world.inside("dead", 1)
    world.after[place] = "out"
    world.letter_of(place).replayed = 1
    world.sink = [each for each in world.sink if each != place]
    return {(FaultKind.MISSING_IN_SINK, *place)}


def row_without_input(world: World) -> Planted:
    """The position of a row is a gap in the log, or beyond its end."""
    tp = world.random.choice(sorted(world.ends))
    gaps = [
        offset
        for offset in range(world.batches[0][tp].start, world.batches[-1][tp].end)
        if (tp, offset) not in world.outcomes and (tp, offset) not in world.touched and world.runs((tp, offset))
    ]
    offset = world.random.choice([*gaps, world.ends[tp] + world.random.randrange(1000)])
    world.touched.add((tp, offset))
    if world.random.random() < 0.5:
        world.sink.append((tp, offset))
        return {(FaultKind.ROW_WITHOUT_INPUT, tp, offset)}
    world.letters.append(Letter((tp, offset), 1))
    return {(FaultKind.DEAD_WITHOUT_INPUT, tp, offset)}


PLANTS: tuple[Callable[[World], Planted], ...] = (
    delete_row,
    duplicate_row,
    unexpected_row,
    delete_letter,
    duplicate_letter,
    dead_and_out,
    dead_instead_of_out,
    replay_lost,
    row_without_input,
)
"""Faults of single offsets."""
