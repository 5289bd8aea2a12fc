"""Bounded runs: replays and backfills process fixed ranges of offsets, in slices.

The plan of a run is stored in `plan.json` in a directory of its own, before anything is written. Each slice is read as
a batch and written exactly once under its number (`transactionalBatchId`); then the number of finished slices is
stored. A run that was killed is continued with its next slice. If that slice was already committed, it is not written
again.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import json
import logging
import os
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from kafka.errors import IllegalStateError
from kafka.pipelines.declaration import Declaration, Source
from kafka.pipelines.slice_size import SLICE
from kafka.pipelines.start_checks import BOUNDED_LOCK, run_lock
from kafka.pipelines.topic_ids import admin_client
from kafka.structs import OffsetAndMetadata, TopicPartition

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from kafka import KafkaConsumer
    from kafka.pipelines.combined_rows import Form
    from kafka.pipelines.source_rows import Origin

log = logging.getLogger(__name__)

Kind = Literal["replay", "backfill", "first"]
OnPlan = Callable[["RunPlan"], object]
"""Receives the plan of a bounded run before its first slice, or before the slice with which it is continued."""
Ranges = dict[TopicPartition, tuple[int, int]]
"""Start offset and end offset (exclusive) by partition."""


@dataclasses.dataclass(frozen=True, slots=True)
class RunPlan:
    """The plan of a bounded run, and its progress.

    Arguments:
        kind: what runs.
        number: the number of the run, from 1.
        selection: what the user selected, as text by name.
        slices: the ranges of offsets of each slice, which adjoin.
        done: number of finished slices.
        created: when the run was planned, in UTC, in ISO 8601.
        letters: for a replay, the number of dead letters in the slices that are to be replayed; None if unknown.
        id: distinguishes the run from others of this number, such as one whose directory was deleted. The sink
            remembers the slices that it has under this id.
        topic_ids: the ids of the topics that the run reads, by name, as far as they are known: that of the dead letters
            for a replay, those of the sources for a backfill.
    """

    kind: Kind
    number: int
    selection: Mapping[str, str]
    slices: Sequence[Ranges]
    done: int = 0
    created: str = ""
    letters: int | None = None
    id: str = ""
    topic_ids: Mapping[str, str] = dataclasses.field(default_factory=dict)

    @property
    def is_finished(self) -> bool:
        return self.done == len(self.slices)

    @property
    def ranges(self) -> Ranges:
        """The ranges of all slices together."""
        found: Ranges = {}
        for each in self.slices:
            for partition, (start, end) in each.items():
                found[partition] = (found[partition][0] if partition in found else start, end)
        return found

    @property
    def offsets(self) -> int:
        """Number of offsets in all slices."""
        return sum(end - start for start, end in self.ranges.values())

    def has_same_topics(self, ids: Mapping[str, str]) -> bool:
        """Return False if a topic of the plan has been deleted and created again, so that its offsets mean nothing now.

        Arguments:
            ids: the ids of topics by name; topics that are missing are not compared.
        """
        return all(ids.get(topic, topic_id) == topic_id for topic, topic_id in self.topic_ids.items())

    def to_json(self) -> str:
        """Return the content of the plan's file."""
        slices = [{f"{topic}-{number}": ends for (topic, number), ends in each.items()} for each in self.slices]
        return json.dumps(dataclasses.asdict(self) | {"slices": slices}, indent=1)


def _plan_of(text: str) -> RunPlan:
    given = json.loads(text)
    slices = [
        {TopicPartition(*_split(name)): (start, end) for name, (start, end) in each.items()}
        for each in given.pop("slices")
    ]
    return RunPlan(slices=slices, **given)


def _split(name: str) -> tuple[str, int]:
    topic, _, partition = name.rpartition("-")
    return topic, int(partition)


class RunDirectory:
    """The bounded runs of one kind of a pipeline.

    Arguments:
        directory: the directory; it is created with the first run.
        kind: what runs.
    """

    def __init__(self, directory: Path, kind: Kind) -> None:
        self._directory = directory
        self._kind: Kind = kind

    def plans(self) -> list[RunPlan]:
        """Return the plans of all runs, oldest first."""
        found = [_plan_of(path.read_text(encoding="utf-8")) for path in self._directory.glob("*/plan.json")]
        return sorted(found, key=lambda plan: plan.number)

    def add(
        self,
        selection: Mapping[str, str],
        slices: Sequence[Ranges],
        letters: int | None = None,
        topic_ids: Mapping[str, str] | None = None,
    ) -> RunPlan:
        """Store the plan of a new run, and return it. For the arguments, see `RunPlan`."""
        number = max((plan.number for plan in self.plans()), default=0) + 1
        created = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
        plan = RunPlan(
            self._kind,
            number,
            dict(selection),
            slices,
            created=created,
            letters=letters,
            id=uuid.uuid4().hex[:8],
            topic_ids=dict(topic_ids or {}),
        )
        self.store(plan)
        return plan

    def store(self, plan: RunPlan) -> None:
        """Replace the stored plan of a run atomically."""
        directory = self._directory / str(plan.number)
        directory.mkdir(parents=True, exist_ok=True)
        new = directory / f"plan.json.{os.getpid()}"
        with new.open("w", encoding="utf-8") as file:
            file.write(plan.to_json())
            file.flush()
            os.fsync(file.fileno())
        new.replace(directory / "plan.json")

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the lock of these runs. Raises `IllegalStateError` if another process holds it."""
        what = "backfill before the stream" if self._kind == "first" else self._kind
        with run_lock(self._directory / BOUNDED_LOCK, f"{what} of this pipeline"):
            yield


def sliced(ranges: Ranges, most: int = SLICE) -> list[Ranges]:
    """Divide ranges of offsets into slices of at most this number of offsets. Empty ranges are left out."""
    slices: list[Ranges] = []
    room = 0
    for partition, (start, end) in sorted(ranges.items()):
        position = start
        while position < end:
            if room == 0:
                slices.append({})
                room = most
            taken = min(room, end - position)
            slices[-1][partition] = (position, position + taken)
            position += taken
            room -= taken
    return slices


def batch_options(part: Ranges) -> dict[str, str]:
    """Return the options that make a batch read ranges of offsets."""
    assigned: dict[str, list[int]] = {}
    starts: dict[str, dict[str, int]] = {}
    ends: dict[str, dict[str, int]] = {}
    for (topic, partition), (start, end) in sorted(part.items()):
        assigned.setdefault(topic, []).append(partition)
        starts.setdefault(topic, {})[str(partition)] = start
        ends.setdefault(topic, {})[str(partition)] = end
    return {
        "assign": json.dumps(assigned),
        "startingOffsets": json.dumps(starts),
        "endingOffsets": json.dumps(ends),
    }


class SliceRecords(Protocol):
    """The records that a bounded run processes."""

    def read(self, name: str, source: Source, part: Ranges) -> DataFrame:
        """Return the records of a source in a slice.

        Arguments:
            name: the name of the source.
            source: the source.
            part: the ranges of the slice.
        """

    def origin(self) -> Origin | None:
        """Return where the records come from; None if they are read from the sources."""

    def check(self, form: Form) -> None:
        """Raise `InvalidDeclaration` if the records cannot be processed by a query of this form."""


def run_slices(
    runs: RunDirectory,
    plan: RunPlan,
    process: Callable[[int, Ranges], object],
    finished: Callable[[Ranges], object] = lambda _: None,
    stop: threading.Event | None = None,
) -> RunPlan:
    """Process the remaining slices of a run, and return the plan with its progress.

    Arguments:
        runs: the directory of the plan.
        plan: the plan.
        process: processes a slice exactly once, given its number and its ranges.
        finished: called after each slice with its ranges.
        stop: if it is set, no more slices are processed.
    """
    while not plan.is_finished and not (stop is not None and stop.is_set()):
        part = plan.slices[plan.done]
        process(plan.done, part)
        plan = dataclasses.replace(plan, done=plan.done + 1)
        runs.store(plan)
        finished(part)
    return plan


def consumer_of(declaration: Declaration) -> KafkaConsumer:
    """Return a consumer without a group, with the pipeline's options, that reads committed records."""
    from kafka import KafkaConsumer
    from kafka.config.java_names import read_java_names, trimmed

    configs, _ = read_java_names(trimmed(declaration.kafka), "consumer")
    return KafkaConsumer(**configs | {"isolation_level": "read_committed", "group_id": None})


def log_ranges(consumer: KafkaConsumer, topics: Sequence[str]) -> Ranges:
    """Return the offsets in the logs of topics: start and end (exclusive; only committed records).

    Raises `IllegalStateError` if a topic does not exist.
    """
    partitions = []
    for topic in topics:
        numbers = consumer.partitions_for_topic(topic)
        if not numbers:
            raise IllegalStateError(f"topic {topic!r} does not exist")
        partitions += [TopicPartition(topic, number) for number in sorted(numbers)]
    starts, ends = consumer.beginning_offsets(partitions), consumer.end_offsets(partitions)
    return {each: (starts[each], ends[each]) for each in partitions}


def within_times(
    consumer: KafkaConsumer,
    ranges: Ranges,
    since: datetime.datetime | None,
    until: datetime.datetime | None,
) -> Ranges:
    """Return the parts of ranges in a range of time, by the timestamps of records; empty ranges are left out.

    Arguments:
        consumer: looks up the offsets.
        ranges: the ranges.
        since, until: times with time zones; until is exclusive. None for no limit.
    """
    found = dict(ranges)
    for moment, is_start in ((since, True), (until, False)):
        if moment is not None and found:
            offsets = consumer.offsets_for_times(dict.fromkeys(found, int(moment.timestamp() * 1_000)))
            for each, (start, end) in found.items():
                at = offsets[each]
                offset = end if at is None else at.offset
                found[each] = (max(start, offset), end) if is_start else (start, min(end, offset))
    return {each: (start, end) for each, (start, end) in found.items() if start < end}


def commit_progress(declaration: Declaration, group: str, part: Ranges) -> None:
    """Commit the ends of ranges to a group, so that the progress of a run is visible like that of a consumer."""
    offsets = {partition: OffsetAndMetadata(end, "", None) for partition, (_, end) in part.items()}
    try:
        with admin_client(declaration) as admin:
            admin.alter_group_offsets(group, offsets)
    except Exception as error:
        log.warning(
            "could not commit the progress to group %r, so monitoring tools see an old lag; the run continues: %s",
            group,
            error,
        )
