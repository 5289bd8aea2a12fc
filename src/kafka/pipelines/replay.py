"""Replays dead letters: processes them again with the current declaration.

Good rows go to the sink. A record that fails again becomes a new dead letter, with its number of attempts increased.
A dead letter is replayed once: later replays leave out the dead letters that an earlier replay has processed, unless
`again` is set. The progress is visible as the group ``PIPELINE-replay``.
"""

from __future__ import annotations

import dataclasses
import datetime
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kafka.errors import IllegalStateError
from kafka.pipelines import record_headers
from kafka.pipelines.batch_runs import BoundedRun
from kafka.pipelines.bounded_runs import (
    OnPlan,
    Ranges,
    RunDirectory,
    RunPlan,
    batch_options,
    consumer_of,
    log_ranges,
    sliced,
    within_times,
)
from kafka.pipelines.combined_rows import Form
from kafka.pipelines.declaration import Declaration, InvalidDeclaration, Source
from kafka.pipelines.directories import directory_of
from kafka.pipelines.planning import plan as plan_rows
from kafka.pipelines.rules import SETTINGS
from kafka.pipelines.run_events import OnEvent
from kafka.pipelines.run_results import RunResult, failure_of
from kafka.pipelines.slice_size import SLICE
from kafka.pipelines.source_rows import Origin, added_headers, dead_letter_origin, read_options
from kafka.pipelines.start_checks import check_owner
from kafka.pipelines.topic_ids import ids_of
from kafka.spark.queries import FORMAT

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

    from kafka import KafkaConsumer

log = logging.getLogger(__name__)


def replay(
    declaration: Declaration,
    spark: SparkSession | None = None,
    *,
    rule: str | None = None,
    offsets: Mapping[int, tuple[int, int]] | None = None,
    since: datetime.datetime | None = None,
    until: datetime.datetime | None = None,
    again: bool = False,
    function: Callable[..., Any] | None = None,
    on_event: OnEvent | None = None,
    on_plan: OnPlan | None = None,
    stop: threading.Event | None = None,
    slice_offsets: int = SLICE,
) -> RunResult:
    """Process dead letters again with the current declaration, each once, and wait for the end.

    If an earlier replay did not finish, it is finished first; if it had the same selection, nothing else is replayed.

    Arguments:
        declaration: the pipeline.
        spark: the session; None for a new one.
        rule: replay only records that failed this rule; None for all.
        offsets: replay only these ranges of the dead-letter topic: start and end (exclusive) by partition.
        since, until: replay only dead letters written in this time, with time zones; until is exclusive.
        again: whether to replay dead letters that an earlier replay has processed, too.
        function: the query if it is a Python function.
        on_event: called with each event.
        on_plan: called with the plan before the first slice, or before the slice with which a replay is continued.
        stop: set this event to stop after the current slice; the same call then continues the replay.
        slice_offsets: maximum number of offsets to process together.

    Returns the counts of the replay, without events if there is nothing to replay. Raises `InvalidDeclaration` if the
    pipeline has no dead letters or its query is stateful, `IllegalStateError` if another replay of the pipeline is
    running, or if the topic or a partition does not exist, and `PipelineFailedError`.
    """
    from kafka.spark import session

    if declaration.dead_letters is None:
        raise InvalidDeclaration(
            "replay: the pipeline has no dead_letters, so there is nothing to replay: name the topic that has them"
        )
    given = {
        "rule": rule,
        "offsets": _shown(offsets),
        "since": since.isoformat() if since is not None else None,
        "until": until.isoformat() if until is not None else None,
        "again": "true" if again else None,
    }
    selection = {name: value for name, value in given.items() if value is not None}
    directory = directory_of(declaration)
    check_owner(declaration, directory)
    runs = RunDirectory(directory.replays, "replay")
    spark = spark or session(declaration.pipeline, **SETTINGS)
    bounded = BoundedRun(declaration, function, runs, on_event, on_plan, stop)

    def process(plan: RunPlan) -> RunResult:
        return bounded.process(plan, _Letters(declaration, spark, plan.selection.get("rule"), _earlier(runs, plan)))

    with runs.lock():
        done = RunResult((), directory)
        topic = declaration.dead_letters.topic
        ids = ids_of(declaration, [topic])
        for unfinished in [each for each in runs.plans() if not each.is_finished]:
            if not unfinished.has_same_topics(ids):
                log.warning(
                    "replay %d ends here: topic %s has been deleted and created again", unfinished.number, topic
                )
                runs.store(dataclasses.replace(unfinished, done=len(unfinished.slices)))
                continue
            log.info("replay %d is not finished; continuing with slice %d", unfinished.number, unfinished.done)
            done = done.followed_by(process(unfinished))
            if unfinished.selection == selection or not done.is_complete:
                return done
        with consumer_of(declaration) as consumer:
            if not consumer.partitions_for_topic(topic):
                log.warning("topic %s does not exist, so there are no dead letters", topic)
                return done
            ranges = _selected(consumer, topic, offsets, since, until)
        earlier = [] if again else [each for each in runs.plans() if each.slices and each.has_same_topics(ids)]
        letters = _Letters(declaration, spark, rule, earlier).count(function, ranges) if ranges else 0
        if not letters:
            return done
        return done.followed_by(process(runs.add(selection, sliced(ranges, slice_offsets), letters, ids)))


def _shown(offsets: Mapping[int, tuple[int, int]] | None) -> str | None:
    if offsets is None:
        return None
    return ",".join(f"{partition}:{start}-{end}" for partition, (start, end) in sorted(offsets.items()))


def _selected(
    consumer: KafkaConsumer,
    topic: str,
    offsets: Mapping[int, tuple[int, int]] | None,
    since: datetime.datetime | None,
    until: datetime.datetime | None,
) -> Ranges:
    """Return the offsets of the dead-letter topic to replay; empty ranges are left out."""
    ranges = log_ranges(consumer, [topic])
    if offsets is not None:
        for missing in sorted(set(offsets) - {each.partition for each in ranges}):
            raise IllegalStateError(f"topic {topic!r} has no partition {missing}; it has {len(ranges)} partition(s)")
        ranges = {
            each: (max(start, offsets[each.partition][0]), min(end, offsets[each.partition][1]))
            for each, (start, end) in ranges.items()
            if each.partition in offsets
        }
    return within_times(consumer, ranges, since, until)


class _Letters:
    """The dead letters that a replay processes; see `bounded_runs.SliceRecords`.

    Arguments:
        declaration: the pipeline.
        spark: the session.
        rule: the rule that the records failed; None for all.
        earlier: earlier replays, whose dead letters are left out.
    """

    def __init__(
        self, declaration: Declaration, spark: SparkSession, rule: str | None, earlier: Sequence[RunPlan]
    ) -> None:
        self._declaration = declaration
        self._spark = spark
        self._rule = rule
        self._earlier = earlier

    def read(self, name: str, source: Source, part: Ranges) -> DataFrame:
        """Return the dead letters of a source in ranges of the dead-letter topic."""
        options = replay_options(self._declaration, source) | batch_options(part)
        letters = self._spark.read.format(FORMAT).options(**options).load()
        return letters.where(selected_letters(self._declaration, source, self._rule, self._earlier))

    def origin(self) -> Origin:
        """Return the position and the metadata of the original record."""
        return dead_letter_origin()

    def check(self, form: Form) -> None:
        """Raise `InvalidDeclaration` if the query is stateful."""
        if form is Form.UNION:
            raise InvalidDeclaration(
                "replay: the query keeps state (an aggregation, a join of sources, or a removal of duplicates), so "
                "dead letters cannot be processed without the rows that were with them; run a backfill of the time in "
                "question. A join with a table keeps no state, unless it returns rows of the table alone"
            )

    def count(self, function: Callable[..., Any] | None, ranges: Ranges) -> int:
        """Return the number of dead letters. Raises `InvalidDeclaration` if they cannot be replayed."""
        sources = self._declaration.all_sources
        records = {name: self.read(name, source, ranges) for name, source in sources.items()}
        planned = plan_rows(self._declaration, records, function, lambda frame, name, counts: frame, self.origin())
        self.check(planned.form)
        try:
            return sum(each.count() for each in records.values())
        except Exception as error:
            raise failure_of(self._declaration, error) from None


def _earlier(runs: RunDirectory, plan: RunPlan) -> list[RunPlan]:
    """Return the earlier replays whose dead letters a replay leaves out."""
    if plan.selection.get("again"):
        return []
    others = [each for each in runs.plans() if each.number < plan.number and each.slices]
    return [each for each in others if each.has_same_topics(plan.topic_ids)]


def replay_options(declaration: Declaration, source: Source) -> dict[str, str]:
    """Return the options for reading the dead letters of a source, whose subjects are those of the source's topic."""
    options = read_options(declaration, source)
    options.pop("maxOffsetsPerTrigger", None)
    if not any(name.lower() == "failondataloss" for name in options):
        options["failOnDataLoss"] = "false"  # otherwise, a replay whose dead letters retention deletes would never end
    topic = source.topic or (source.topics or ("",))[0]
    for field, format_ in (("key", source.key), ("value", source.value)):
        uses_registry = format_.format in ("avro", "json-schema", "protobuf") and "schemaRegistryUrl" in options
        if uses_registry and format_.text is None and format_.file is None:
            options.setdefault(f"{field}Subject", f"{topic}-{field}")
    return options


def selected_letters(declaration: Declaration, source: Source, rule: str | None, earlier: Sequence[RunPlan]) -> Column:
    """Return a condition for the dead letters of a source that a replay processes.

    Arguments:
        declaration: the pipeline.
        source: the source.
        rule: the rule that the records failed; None for all.
        earlier: earlier replays, whose dead letters are left out.
    """
    from pyspark.sql import functions as f

    added = added_headers()

    def has(name: str, value: str) -> Column:
        return f.exists(added, lambda each: (each["key"] == name) & (each["value"] == f.lit(value.encode())))

    condition = has(record_headers.PIPELINE, declaration.pipeline)
    if rule is not None:
        condition &= has(record_headers.RULE, rule)
    origin = dead_letter_origin().topic
    if source.pattern is not None:
        condition &= origin.rlike(source.pattern)
    else:
        condition &= origin.isin(*(source.topics or (source.topic,)))
    for plan in earlier:
        for (topic, partition), (start, end) in plan.ranges.items():
            inside = (f.col("topic") == topic) & (f.col("partition") == partition)
            inside &= f.col("offset").between(start, end - 1)
            if "rule" in plan.selection:
                inside &= has(record_headers.RULE, plan.selection["rule"])
            condition &= ~inside
    return f.coalesce(condition, f.lit(False))
