"""Audits a declared pipeline: determines what its runs have read, and balances that with the cluster.

`audit_pipeline` is the entry point for programs and for ``kafka pipeline audit``. The plans of replays and backfills
become a `Scope`; `recomputation` evaluates the declaration again with Spark.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import kafka
from kafka._file_locks import is_locked
from kafka.consumer.bounds import OffsetRange
from kafka.pipelines.audit.audited_topics import check_topics
from kafka.pipelines.audit.balance import MAX_OFFSETS, AuditResult, audit
from kafka.pipelines.audit.evidence import KafkaEvidence
from kafka.pipelines.audit.groups import NotCompared
from kafka.pipelines.audit.micro_batches import joined, ranges_of_event
from kafka.pipelines.audit.recomputation import Recomputation
from kafka.pipelines.audit.scope import Backfilled, Replayed, Scope, scope_of
from kafka.pipelines.audit.windows import GroupBalance
from kafka.pipelines.backfill import source_topics
from kafka.pipelines.bounded_runs import Kind, RunDirectory, RunPlan, consumer_of
from kafka.pipelines.client_configs import client_configs, isolation_of_source
from kafka.pipelines.declaration import Declaration
from kafka.pipelines.directories import PipelineDirectory, directory_of
from kafka.pipelines.events import Event, read_events
from kafka.pipelines.first_backfill import planned_starts
from kafka.pipelines.start_checks import LOCK
from kafka.pipelines.stream_checkpoint import read_checkpoint
from kafka.pipelines.topic_ids import ids_of, topic_ids
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kafka.consumer.bounds import Bound

_MAX_NAMES = 5
"""Maximum number of micro-batches that a note names."""


def audit_pipeline(
    declaration: Declaration,
    spark: SparkSession | None = None,
    *,
    recompute: bool = True,
    partitions: Sequence[TopicPartition] = (),
    start: Bound = "earliest",
    end: Bound = "latest",
    function: Callable[..., Any] | None = None,
    max_offsets: int = MAX_OFFSETS,
) -> AuditResult:
    """Balance what a pipeline has read with its sink, its dead letters and its events.

    Arguments:
        declaration: the pipeline.
        spark: the session with which the rules and the query are evaluated again; None for a new one.
        recompute: whether to evaluate them again. Without it, Spark is not needed, but the audit cannot name the offset
            of a row that is missing in the sink, only its micro-batch.
        partitions: the partitions of the sources to audit; empty for all.
        start, end: the part of the source to audit: offsets, times and other bounds of `kafka.read`; end is exclusive.
            By default, everything that the pipeline has read, up to the last complete micro-batch.
        function: the query if it is a Python function.
        max_offsets: maximum number of offsets whose evidence is in memory at a time.

    Returns the balance. Raises `KafkaError` if the cluster does not respond or a topic does not exist,
    `IllegalArgumentError` for partitions that the pipeline does not read, and `InvalidDeclaration`.
    """
    check_topics(declaration, partitions)
    directory = directory_of(declaration)
    events = read_events(directory.events)
    sources = topic_ids(declaration)
    letters = None if declaration.dead_letters is None else declaration.dead_letters.topic
    ids = sources | (ids_of(declaration, [letters]) if letters is not None else {})
    scope = scope_of_pipeline(declaration, directory, events, ids)
    consumer = client_configs(declaration)
    with consumer_of(declaration) as client:
        topics = source_topics(client, declaration)
    if partitions or start != "earliest" or end != "latest":
        with kafka.read(topics, start=start, end=end, **consumer) as read:
            scope = scope.within(dict(read.ranges), partitions)
    computed = Recomputation(declaration, spark, function, events, scope) if recompute else None
    sink = _sink_topic(declaration)
    positions = sink is not None and (computed is None or computed.is_by_row)
    (source, *_) = declaration.all_sources.values()
    evidence = KafkaEvidence(
        topics=topics,
        sink_topic=sink,
        dead_topic=letters,
        pipeline=declaration.pipeline,
        consumer=consumer,
        admin=client_configs(declaration, "admin"),
        ids=sources,
        isolation=isolation_of_source(declaration, source.options),
        replays=scope.replays,
        evaluate=None if computed is None else computed.outcomes,
        evaluate_replays=None if computed is None else computed.replay_outcomes,
    )
    if computed is None and positions:
        positions = evidence.has_positions()
    notes = [*_foreign_runs(directory, ids), *([] if computed is None else computed.notes)]
    if scope.late:
        notes.append(f"{scope.late:,} rows were late: Spark reports only their total, not their partitions or offsets")
    if recovered := [batch.name for batch in scope.batches if batch.event is not None and batch.event.recovered]:
        notes.append(
            f"the counts of {', '.join(recovered[:_MAX_NAMES])}{', ...' if len(recovered) > _MAX_NAMES else ''} were "
            "computed again after the driver was killed; if the query has state, their late rows and result rows are "
            "unknown"
        )
    if untimed := sum(batch.event.untimed for batch in scope.batches if batch.event is not None):
        notes.append(f"{untimed:,} rows without a time were dropped by steps of the query")
    if not positions:
        reason = "do not have the positions of their input records" if sink is not None else "are not in a topic"
        notes = [*notes, f"rows of the sink were not compared by offset: they {reason}"]
    result = audit(
        scope,
        evidence,
        positions=positions,
        exact=computed is None or computed.is_exact,
        max_offsets=max_offsets,
    )
    if computed is not None and not computed.is_by_row and scope.batches:
        is_whole = not partitions and start == "earliest" and end == "latest"
        try:
            groups = _groups(computed, scope, directory, evidence, is_whole)
            result = dataclasses.replace(result, groups=groups, faults=(*result.faults, *groups.faults))
        except NotCompared as error:
            notes = [*notes, f"the windows of the query were not compared: {error}"]
    return result.with_notes([*notes, *evidence.notes()])


def _groups(
    computed: Recomputation, scope: Scope, directory: PipelineDirectory, evidence: KafkaEvidence, is_whole: bool
) -> GroupBalance:
    """Compare the groups of an aggregating query. Raises `NotCompared`."""
    checkpoint = read_checkpoint(directory.stream)
    if not is_whole:
        raise NotCompared("only a part of the sources is audited")
    if is_locked(directory.base / LOCK) or checkpoint.unfinished is not None:
        raise NotCompared("the pipeline is running, or its last micro-batch is incomplete: stop it, or run it again")
    begin = evidence.bounds()
    if any(tp not in begin or begin[tp].start > start for tp, (start, _) in scope.ranges.items()):
        raise NotCompared("records that the pipeline has read are deleted from the log")
    return computed.groups(scope, checkpoint)


def scope_of_pipeline(
    declaration: Declaration,
    directory: PipelineDirectory,
    events: Sequence[Event],
    ids: Mapping[str, str] | None = None,
) -> Scope:
    """Return what the runs of a pipeline have read, from its directory.

    Arguments:
        declaration: the pipeline.
        directory: its directory.
        events: the events in the directory.
        ids: the ids of topics, by name. Replays and backfills that read a deleted topic of the same name are left out.
    """
    ids = ids or {}
    batches = joined(events, read_checkpoint(directory.stream))
    sink = _sink_topic(declaration)
    backfills = [
        Backfilled(
            _done(plan),
            plan.selection.get("to", sink) == sink,
            _current(plan),
            f"backfill {plan.number}",
            _slices(plan, events),
        )
        for plan in RunDirectory(directory.backfills, "backfill").plans()
        if plan.has_same_topics(ids)
    ]
    starts: dict[TopicPartition, int] = {}
    for plan in RunDirectory(directory.first_backfill, "first").plans():
        starts |= planned_starts(plan)
        slices = _slices(plan, events)
        backfills.append(Backfilled(_done(plan), True, _current(plan), "the backfill before the stream", slices))
    replays = [
        Replayed(_done(plan), plan.selection.get("rule"), bool(plan.selection.get("again")), _current(plan))
        for plan in RunDirectory(directory.replays, "replay").plans()
        if plan.has_same_topics(ids)
    ]
    return scope_of(declaration.pipeline, batches, backfills, replays, starts)


def _foreign_runs(directory: PipelineDirectory, ids: Mapping[str, str]) -> Iterator[str]:
    """Yield a note for each replay and backfill that read a topic that has been deleted and created again since."""
    kinds: tuple[tuple[Path, Kind], ...] = ((directory.replays, "replay"), (directory.backfills, "backfill"))
    for folder, kind in kinds:
        for plan in RunDirectory(folder, kind).plans():
            if not plan.has_same_topics(ids):
                topics = ", ".join(plan.topic_ids)
                yield (
                    f"{kind} {plan.number} read a topic {topics} that has been deleted and created again since, so its "
                    "offsets were not audited"
                )


def _slices(plan: RunPlan, events: Sequence[Event]) -> list[Event]:
    """Return the last event of each finished slice of a backfill."""
    found: dict[int, Event] = {}
    number = 0 if plan.kind == "first" else plan.number
    for event in events:
        if (event.kind, event.run, event.number) != ("batch", "backfill", number) or event.batch is None:
            continue
        if event.batch < plan.done and ranges_of_event(event) == _ranges(plan.slices[event.batch]):
            found[event.batch] = event
    return [found[number] for number in sorted(found)]


def _ranges(part: Mapping[TopicPartition, tuple[int, int]]) -> dict[TopicPartition, OffsetRange]:
    return {tp: OffsetRange(*ends) for tp, ends in part.items()}


def _sink_topic(declaration: Declaration) -> str | None:
    """Return the topic of the sink; None if the sink is not a topic."""
    topic: str | None = getattr(declaration.sink, "topic", None)
    return topic


def _done(plan: RunPlan) -> dict[TopicPartition, OffsetRange]:
    """Return the ranges of the finished slices of a run, which adjoin."""
    found: dict[TopicPartition, OffsetRange] = {}
    for part in plan.slices[: plan.done]:
        for tp, (start, end) in part.items():
            found[tp] = OffsetRange(found[tp].start if tp in found else start, end)
    return found


def _current(plan: RunPlan) -> dict[TopicPartition, OffsetRange]:
    """Return the ranges of the slice that an unfinished run processes, or will process, next."""
    if plan.is_finished:
        return {}
    return _ranges(plan.slices[plan.done])
