"""The status of a pipeline, from its directory and the broker, without Spark.

The directory says what ran, how far it came and what it counted; the broker says how far the logs have grown since.
Without a broker, the status contains what the directory says.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import kafka
from kafka._file_locks import is_locked
from kafka.errors import KafkaError
from kafka.pipelines.bounded_runs import RunDirectory, RunPlan
from kafka.pipelines.client_configs import client_configs, isolation_of_source
from kafka.pipelines.declaration import Declaration
from kafka.pipelines.directories import PipelineDirectory, directory_of
from kafka.pipelines.events import Event, read_events
from kafka.pipelines.run_history import History, RunHistory, Totals, history
from kafka.pipelines.source_declaration import Otherwise
from kafka.pipelines.source_rows import by_topic
from kafka.pipelines.start_checks import LOCK
from kafka.pipelines.stream_checkpoint import StreamCheckpoint, read_checkpoint
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    from collections.abc import Iterable

State = Literal["never started", "running", "stopped", "failed", "killed", "running or killed"]
_RECENT = 10
"""Number of micro-batches from which recent rates are computed."""


@dataclasses.dataclass(frozen=True, slots=True)
class PartitionStatus:
    """How far the stream has come in a partition of a source.

    Arguments:
        partition: the partition.
        offset: the next offset to read; None if the stream has not read the partition.
        end: the end of the log; None if the broker did not respond.
    """

    partition: TopicPartition
    offset: int | None
    end: int | None

    @property
    def lag(self) -> int | None:
        """Number of offsets that are not processed; None if unknown."""
        return None if self.end is None or self.offset is None else max(0, self.end - self.offset)


@dataclasses.dataclass(frozen=True, slots=True)
class SourceStatus:
    """A source.

    Arguments:
        name: its name.
        rows, processed, dropped, dead: sums of the counts of all micro-batches.
        partitions: how far the stream has come.
    """

    name: str
    rows: int
    processed: int
    dropped: int
    dead: int
    partitions: tuple[PartitionStatus, ...]

    @property
    def lag(self) -> int | None:
        """Number of offsets that are not processed, in all partitions; None if it is unknown for one of them."""
        lags = [each.lag for each in self.partitions]
        return None if not lags or None in lags else sum(each or 0 for each in lags)


@dataclasses.dataclass(frozen=True, slots=True)
class PipelineStatus:
    """The status of a pipeline.

    Arguments:
        pipeline: the name of the pipeline.
        directory: its directory.
        state: whether the stream runs. Without a lock file, it is unknown whether a run without an end was killed.
        cause: the error's text if the last run failed.
        last_event: the newest event of the stream; None if there is none.
        last_batch: the newest micro-batch.
        unfinished_batch: the number of a micro-batch that is planned but not complete; None if there is none.
        totals: the counts of all micro-batches of the stream.
        recent_rate: rows per second of the last micro-batches; None if unknown.
        sources: the sources.
        dead_by_rule: number of rows that failed each rule with the outcome dead_letter.
        unfinished: replays and backfills that did not finish.
        runs: number of finished replays and backfills.
        other_totals: the counts of all replays and of all backfills, by kind; only for kinds with micro-batches.
        broker_error: why the broker did not respond; None if it did.
    """

    pipeline: str
    directory: Path
    state: State
    cause: str
    last_event: Event | None
    last_batch: Event | None
    unfinished_batch: int | None
    totals: Totals
    recent_rate: float | None
    sources: tuple[SourceStatus, ...]
    dead_by_rule: Mapping[str, int]
    unfinished: tuple[RunPlan, ...]
    runs: Mapping[str, int]
    other_totals: Mapping[str, Totals]
    broker_error: str | None

    @property
    def age(self) -> datetime.timedelta | None:
        """The time since the last event."""
        return None if self.last_event is None else datetime.datetime.now(datetime.UTC) - self.last_event.moment

    def to_dict(self) -> dict[str, Any]:
        """Return the status as values for JSON."""
        batch, age = self.last_batch, self.age
        return {
            "pipeline": self.pipeline,
            "directory": str(self.directory),
            "state": self.state,
            "cause": self.cause or None,
            "last_event": None if self.last_event is None else self.last_event.time,
            "last_event_age_s": None if age is None else round(age.total_seconds(), 3),
            "last_batch": None
            if batch is None
            else {
                "batch": batch.batch,
                "time": batch.time,
                "seconds": batch.seconds,
                "rows": batch.rows,
                "out": batch.out,
                "dead": batch.dead,
            },
            "unfinished_batch": self.unfinished_batch,
            "rows": self.totals.rows,
            "out": self.totals.out,
            "dead": self.totals.dead,
            "dropped": self.totals.dropped,
            "late": self.totals.late,
            "untimed": self.totals.untimed,
            "rate": self.totals.rate,
            "recent_rate": self.recent_rate,
            "dead_by_rule": dict(self.dead_by_rule),
            "sources": [_source_dict(each) for each in self.sources],
            "unfinished": [
                {
                    "run": plan.kind,
                    "number": plan.number,
                    "done": plan.done,
                    "slices": len(plan.slices),
                    "created": plan.created,
                    "selection": dict(plan.selection),
                }
                for plan in self.unfinished
            ],
            "finished": dict(self.runs),
            "other_totals": {
                kind: {"rows": each.rows, "out": each.out, "dead": each.dead, "dropped": each.dropped}
                for kind, each in self.other_totals.items()
            },
            "broker_error": self.broker_error,
        }


def _source_dict(source: SourceStatus) -> dict[str, Any]:
    return {
        "source": source.name,
        "rows": source.rows,
        "processed": source.processed,
        "dropped": source.dropped,
        "dead": source.dead,
        "lag": source.lag,
        "partitions": [
            {
                "topic": each.partition.topic,
                "partition": each.partition.partition,
                "offset": each.offset,
                "end": each.end,
                "lag": each.lag,
            }
            for each in source.partitions
        ],
    }


def status_of(declaration: Declaration) -> PipelineStatus:
    """Return the status of a pipeline.

    Arguments:
        declaration: the pipeline.

    Raises `ValueError` for an invalid file of events, and `KafkaConfigurationError` for an invalid checkpoint.
    """
    directory = directory_of(declaration)
    events = read_events(directory.events)
    found = history(events)
    checkpoint = read_checkpoint(directory.stream)
    ends, error = _ends(declaration)
    stream = [event for event in events if event.run == "stream"]
    batches = [batch for run in found.runs_of("stream") for batch in run.batches]
    plans = [*RunDirectory(directory.replays, "replay").plans(), *RunDirectory(directory.backfills, "backfill").plans()]
    state, cause = _state(found.newest, directory)
    totals = found.totals.get("stream") or Totals()
    return PipelineStatus(
        pipeline=declaration.pipeline,
        directory=directory.base,
        state=state,
        cause=cause,
        last_event=stream[-1] if stream else None,
        last_batch=batches[-1] if batches else None,
        unfinished_batch=checkpoint.unfinished,
        totals=totals,
        recent_rate=_rate(batches[-_RECENT:]),
        sources=tuple(_sources(declaration, found, _positions(checkpoint, batches), ends)),
        dead_by_rule=_dead_by_rule(declaration, totals),
        unfinished=tuple(plan for plan in plans if not plan.is_finished),
        runs={kind: sum(plan.kind == kind and plan.is_finished for plan in plans) for kind in ("replay", "backfill")},
        other_totals={kind: each for kind, each in found.totals.items() if kind != "stream" and each.batches},
        broker_error=error,
    )


def _state(newest: RunHistory | None, directory: PipelineDirectory) -> tuple[State, str]:
    locked = is_locked(directory.base / LOCK)
    if locked:
        return "running", ""
    if newest is None:
        return "never started", ""
    if newest.ending == "open":
        return ("running or killed" if locked is None else "killed"), ""
    if newest.ending == "failed":
        return "failed", newest.cause
    return ("killed" if newest.ending == "killed" else "stopped"), ""


def _rate(batches: Sequence[Event]) -> float | None:
    """Return the rows per second while the batches ran; None without batches that contain rows."""
    with_rows = [each for each in batches if each.busy]
    seconds = sum(each.busy for each in with_rows)
    return sum(each.rows for each in with_rows) / seconds if seconds else None


def _positions(checkpoint: StreamCheckpoint, batches: Sequence[Event]) -> dict[TopicPartition, int]:
    """Return the next offset to read of each partition: from the checkpoint, or else from the events."""
    from kafka.pipelines.audit.micro_batches import ranges_of_event

    found: dict[TopicPartition, int] = {}
    for batch in batches:
        found |= {tp: each.end for tp, each in ranges_of_event(batch).items()}
    return found | checkpoint.last_end


def _sources(
    declaration: Declaration,
    found: History,
    positions: Mapping[TopicPartition, int],
    ends: Mapping[TopicPartition, int] | None,
) -> Iterable[SourceStatus]:
    sources = declaration.all_sources
    totals = found.totals.get("stream") or Totals()
    for name in sources:
        partitions = sorted(tp for tp in {*positions, *(ends or {})} if by_topic(sources, tp.topic) == name)
        counts = totals.sources.get(name)
        yield SourceStatus(
            name=name,
            rows=counts.rows if counts else 0,
            processed=counts.processed if counts else 0,
            dropped=counts.dropped if counts else 0,
            dead=counts.dead if counts else 0,
            partitions=tuple(PartitionStatus(tp, positions.get(tp), (ends or {}).get(tp)) for tp in partitions),
        )


def _dead_by_rule(declaration: Declaration, totals: Totals) -> dict[str, int]:
    """Return how many rows failed each rule that writes dead letters, the most frequent first."""
    counts: dict[str, int] = {}
    for name, source in declaration.all_sources.items():
        others = {rule.name for rule in source.rules if rule.otherwise is not Otherwise.DEAD_LETTER}
        for rule, failed in (totals.sources[name].rules if name in totals.sources else {}).items():
            if rule not in others:
                counts[rule] = counts.get(rule, 0) + failed
    return dict(sorted(counts.items(), key=lambda each: (-each[1], each[0])))


def _ends(declaration: Declaration) -> tuple[dict[TopicPartition, int] | None, str | None]:
    """Return the ends of the logs of all sources, or why they are unknown."""
    found: dict[TopicPartition, int] = {}
    try:
        for source in declaration.all_sources.values():
            topics = [each for each in (source.topic, *(source.topics or ())) if each is not None]
            configs = client_configs(declaration, options=source.options)
            isolation = isolation_of_source(declaration, source.options)
            if source.pattern is not None:
                with kafka.KafkaConsumer(**configs) as consumer:
                    topics = [name for name in consumer.topics() if by_topic({"": source}, name) is not None]
            if topics:
                with contextlib.closing(kafka.read(topics, **{**configs, "isolation_level": isolation})) as read:
                    found |= {tp: each.end for tp, each in read.ranges.items()}
    except KafkaError as error:
        return None, " ".join(str(error).split()) or type(error).__name__
    return found, None
