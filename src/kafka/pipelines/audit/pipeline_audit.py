"""Audits a declared pipeline: determines what its runs have read, and balances that with the cluster.

`audit_pipeline` is the entry point for programs and for ``kafka pipeline audit``. The plans of replays and backfills
become a `Scope`; `recomputation` evaluates the declaration again with Spark.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import kafka
from kafka.consumer.bounds import OffsetRange
from kafka.pipelines.audit.balance import MAX_OFFSETS, AuditResult, audit
from kafka.pipelines.audit.evidence import KafkaEvidence
from kafka.pipelines.audit.micro_batches import joined
from kafka.pipelines.audit.recomputation import Recomputation
from kafka.pipelines.audit.scope import Backfilled, Replayed, Scope, scope_of
from kafka.pipelines.backfill import source_topics
from kafka.pipelines.bounded_runs import RunDirectory, RunPlan, consumer_of
from kafka.pipelines.client_configs import client_configs, isolation_of_source
from kafka.pipelines.declaration import Declaration
from kafka.pipelines.directories import PipelineDirectory, directory_of
from kafka.pipelines.events import Event, read_events
from kafka.pipelines.stream_checkpoint import read_checkpoint
from kafka.pipelines.topic_ids import topic_ids
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kafka.consumer.bounds import Bound


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

    Returns the balance. Raises `KafkaError` if the cluster does not respond, and `InvalidDeclaration`.
    """
    directory = directory_of(declaration)
    events = read_events(directory.events)
    scope = scope_of_pipeline(declaration, directory, events)
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
        dead_topic=None if declaration.dead_letters is None else declaration.dead_letters.topic,
        pipeline=declaration.pipeline,
        consumer=consumer,
        admin=client_configs(declaration, "admin"),
        ids=topic_ids(declaration),
        isolation=isolation_of_source(declaration, source.options),
        replays=scope.replays,
        evaluate=None if computed is None else computed.outcomes,
        evaluate_replays=None if computed is None else computed.replay_outcomes,
    )
    if computed is None and positions:
        positions = evidence.has_positions()
    notes = [] if computed is None else computed.notes
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
    return result.with_notes([*notes, *evidence.notes()])


def scope_of_pipeline(declaration: Declaration, directory: PipelineDirectory, events: Sequence[Event]) -> Scope:
    """Return what the runs of a pipeline have read, from its directory.

    Arguments:
        declaration: the pipeline.
        directory: its directory.
        events: the events in the directory.
    """
    batches = joined(events, read_checkpoint(directory.stream))
    sink = _sink_topic(declaration)
    backfills = [
        Backfilled(_done(plan), plan.selection.get("to", sink) == sink, _current(plan))
        for plan in RunDirectory(directory.backfills, "backfill").plans()
    ]
    replays = [
        Replayed(_done(plan), plan.selection.get("rule"), bool(plan.selection.get("again")), _current(plan))
        for plan in RunDirectory(directory.replays, "replay").plans()
    ]
    return scope_of(declaration.pipeline, batches, backfills, replays)


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
    return {tp: OffsetRange(*ends) for tp, ends in plan.slices[plan.done].items()}
