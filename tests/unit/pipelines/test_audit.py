"""The audit finds every fault that is planted in a pipeline, with its offsets, and reports nothing that is correct."""

from __future__ import annotations

import dataclasses
import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka.consumer.bounds import OffsetRange
from kafka.pipelines.audit import AuditResult, Backfilled, FaultKind, KafkaEvidence, Replayed, audit, scope_of
from kafka.pipelines.audit.pipeline_audit import _foreign_runs, scope_of_pipeline
from kafka.pipelines.audit.recomputation import _Read
from kafka.pipelines.bounded_runs import RunDirectory
from kafka.pipelines.declaration import declare
from kafka.pipelines.directories import directory_of
from kafka.pipelines.header_columns import OwnHeaders
from kafka.structs import TopicPartition

from .audit_support import PLANTS, ArrayEvidence, Planted, World
from .dead_letter_support import own_headers

pytestmark = pytest.mark.once


def found(result: AuditResult) -> Planted:
    """Return the faults of single offsets in a result."""
    return {
        (fault.kind, fault.partition, offset)
        for fault in result.faults
        if fault.partition is not None
        for part in fault.ranges
        for offset in range(*part)
    }


def audited(world: World, **given: bool | int) -> AuditResult:
    """Audit a pipeline."""
    return audit(world.scope(), ArrayEvidence(world), **given)  # type: ignore[arg-type]


@given(st.integers(0, 10**9), st.integers(1, 4), st.sampled_from([53, 500, 10**6]))
@settings(max_examples=40)
def test_nothing_correct_is_reported(seed: int, partitions: int, most: int) -> None:
    world = World.correct(seed, partitions)
    for evidence in (ArrayEvidence(world), ArrayEvidence(world, knows_replays=False)):
        result = audit(world.scope(), evidence, max_offsets=most)
        assert [str(each) for each in result.faults] == []
    assert result.balances
    total = audited(world).total
    assert total.records == total.out + total.filtered + total.dropped + total.dead
    assert total.unaccounted == 0


@given(st.integers(0, 10**9), st.sampled_from([101, 10**6]))
@settings(max_examples=40)
def test_each_planted_fault_is_reported_with_its_offset(seed: int, most: int) -> None:
    """Each example plants fifty faults."""
    world = World.correct(seed, partitions=4, size=500)
    planted: Planted = set()
    for index in range(50):
        planted |= PLANTS[index % len(PLANTS)](world)
    result = audited(world, max_offsets=most)
    assert found(result) == planted
    assert not result.balances
    assert sum(each.faults for each in result.partitions) == len(
        {place for place in planted if place[2] < world.ends[place[1]] or place[0].name.endswith("INPUT")}
    )


@given(st.integers(0, 10**9))
@settings(max_examples=20)
def test_skipped_offsets_are_reported_with_the_micro_batches_around_them(seed: int) -> None:
    world = World.correct(seed, partitions=2, backfills=False)
    tp = world.random.choice(sorted(world.ends))
    number = world.random.randrange(len(world.batches) - 1)
    start, end = world.batches[number][tp]
    lost = OffsetRange(max(start, end - world.random.randrange(1, 9)), end)
    world.batches[number][tp] = OffsetRange(start, lost.start)
    gone = [place for place in world.outcomes if place[0] == tp and lost.start <= place[1] < lost.end]
    world.sink = [place for place in world.sink if place not in gone]
    world.letters = [each for each in world.letters if each.place not in gone]
    result = audited(world)
    assert found(result) == {(FaultKind.SKIPPED, *place) for place in gone}
    assert all(each.detail == f"micro-batches {number} and {number + 1}" for each in result.faults)


@given(st.integers(0, 10**9))
@settings(max_examples=20)
def test_offsets_that_two_micro_batches_read_are_reported(seed: int) -> None:
    world = World.correct(seed, partitions=1, backfills=False)
    tp, number = TopicPartition("flights", 0), world.random.randrange(1, len(world.batches))
    start, end = world.batches[number][tp]
    world.batches[number][tp] = OffsetRange(max(start - 3, 0), end)
    again = {(tp, offset) for offset in range(max(start - 3, 0), start) if (tp, offset) in world.outcomes}
    assert found(audited(world)) == {(FaultKind.READ_TWICE, *place) for place in again}


@given(st.integers(0, 10**9), st.sampled_from(["rows", "processed", "dropped", "dead"]))
@settings(max_examples=20)
def test_counts_in_events_that_differ_are_reported(seed: int, name: str) -> None:
    world = World.correct(seed, partitions=2)
    number = random.Random(seed).randrange(len(world.batches))
    counts = world.events()[number].sources["source"]
    world.changed[number] = {name: getattr(counts, name) + 2}
    (fault,) = audited(world, max_offsets=90).faults
    assert fault.kind is FaultKind.COUNTS_DIFFER
    text = f"{name}: {getattr(counts, name) + 2} in the event, {getattr(counts, name)} in the audit"
    assert fault.detail.startswith(f"micro-batch {number}, source source, flights-0 offsets ")
    assert text in fault.detail


@pytest.mark.parametrize("is_evaluated", [True, False])
def test_deleted_offsets_are_noted(is_evaluated: bool) -> None:
    world = World.correct(1, partitions=1, most=1)
    tp = TopicPartition("flights", 0)
    begin = world.batches[1][tp].start
    evidence = ArrayEvidence(world, is_evaluated)
    evidence.bounds = lambda: {tp: OffsetRange(begin, world.ends[tp])}  # type: ignore[method-assign]
    result = audit(world.scope(), evidence)
    assert result.balances
    first = world.batches[0][tp].start
    assert f"flights-0: offsets {first}-{begin - 1} are deleted" in result.notes[0]
    assert result.partitions[0].start == begin


@given(st.integers(0, 10**9))
@settings(max_examples=30)
def test_without_an_evaluation_duplicates_and_wrong_counts_are_reported(seed: int) -> None:
    """Which row is missing is unknown then, but not in which micro-batch."""
    world = World.correct(seed, partitions=2, backfills=False, most=1)
    assert audit(world.scope(), ArrayEvidence(world, is_evaluated=False)).balances
    missing = world.inside("out")
    world.sink.remove(missing)
    result = audit(world.scope(), ArrayEvidence(world, is_evaluated=False))
    (fault,) = (each for each in result.faults if each.kind is FaultKind.COUNTS_DIFFER)
    (number,) = (index for index, batch in enumerate(world.batches) if missing[1] in range(*batch[missing[0]]))
    assert fault.detail.startswith(f"micro-batch {number}, ")
    assert "rows out" in fault.detail


@given(st.integers(0, 10**9))
@settings(max_examples=20)
def test_dead_letters_of_an_aggregating_query_are_compared_by_offset_and_the_rest_by_counts(seed: int) -> None:
    world = World.correct(seed, partitions=2, most=1)
    world.sink = []  # windows have no positions of input records
    events = world.events()
    world.late = 3
    result = audited(world, positions=False)
    assert [str(each) for each in result.faults] == []
    total = result.total
    assert (total.unaccounted, result.late) == (0, 3)
    assert total.out + total.filtered + total.dropped + total.dead == total.records
    place = world.inside("dead", 1)
    world.letters.remove(world.letter_of(place))
    number = world.random.randrange(len(events))
    rows_read = events[number].sources["source"].rows
    world.changed[number] = {"rows": rows_read - 1, "processed": events[number].sources["source"].processed - 1}
    result = audited(world, positions=False)
    assert found(result) == {(FaultKind.MISSING_DEAD_LETTER, *place)}
    (fault,) = (each for each in result.faults if each.partition is None)
    assert f"rows: {rows_read - 1} in the event, {rows_read} in the audit" in fault.detail


@given(st.integers(0, 10**9))
@settings(max_examples=20)
def test_records_that_an_unfinished_replay_may_have_written_are_left_out(seed: int) -> None:
    world = World.correct(seed, partitions=2)
    before = audited(world).total.records
    place = world.inside("dead", 1)
    world.letter_of(place).replayed = -1
    world.sink.append(place)
    result = audited(world)
    assert result.balances
    assert result.total.records == before - 1


def test_replays_process_each_dead_letter_once_unless_they_are_told_to_do_it_again() -> None:
    letters = TopicPartition("dead", 0)
    first = Replayed({letters: OffsetRange(0, 4)}, rule="one")
    second = Replayed({letters: OffsetRange(0, 6)}, current={letters: OffsetRange(6, 8)})
    again = Replayed({letters: OffsetRange(2, 3)}, again=True)
    headers = [own_headers(rules=("one" if number % 2 == 0 else "two",)) for number in range(10)]
    own = OwnHeaders(pa.array(headers, pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))))
    evidence = KafkaEvidence(["t"], "s", "dead", "p", {}, {}, replays=[first, second, again])
    found = evidence.replays_of(letters, np.arange(10), own)
    assert found.tolist() == [1, 1, 2, 1, 1, 1, -1, -1, 0, 0]


def before_the_stream(world: World, **changed: int) -> Backfilled:
    """Return the first micro-batch of a pipeline as if a backfill before the stream had read it."""
    event = world.events()[0]
    counts = dataclasses.replace(event.sources["source"], **changed)
    event = dataclasses.replace(event, run="backfill", sources={"source": counts})
    return Backfilled(world.batches[0], name="the backfill before the stream", slices=[event])


@given(st.integers(0, 10**9), st.sampled_from(["", "rows", "processed", "dead", "out"]))
@settings(max_examples=20)
def test_a_backfill_before_the_stream_is_audited_like_a_micro_batch(seed: int, wrong: str) -> None:
    world = World.correct(seed, partitions=2, backfills=False)
    given = {wrong: getattr(world.events()[0].sources["source"], wrong) + 1} if wrong not in ("", "out") else {}
    first = before_the_stream(world, **given)
    if wrong == "out":
        (event,) = first.slices
        first = dataclasses.replace(first, slices=[dataclasses.replace(event, out=(event.out or 0) + 1)])
    starts = {tp: each.end for tp, each in world.batches[0].items()}
    scope = scope_of("p", world.scope().batches[1:], [first], [Replayed({})], starts)
    assert {tp: each.start for tp, each in scope.ranges.items()} == {
        tp: each.start for tp, each in world.batches[0].items()
    }
    result = audit(scope, ArrayEvidence(world))
    assert result.balances == (not wrong)
    for fault in result.faults:
        assert fault.kind is FaultKind.COUNTS_DIFFER
        assert fault.detail.startswith("slice 0 of the backfill before the stream, ")
        assert ("rows out" if wrong == "out" else wrong) in fault.detail


@given(st.integers(0, 10**9))
@settings(max_examples=20)
def test_records_between_the_backfill_and_the_stream_are_not_lost(seed: int) -> None:
    world = World.correct(seed, partitions=2, backfills=False)
    starts = {tp: each.end for tp, each in world.batches[0].items()}
    scope = scope_of("p", world.scope().batches[2:], [before_the_stream(world)], [Replayed({})], starts)
    gone = {
        (tp, offset)
        for tp, offset in world.outcomes
        if tp in world.batches[1] and offset in range(*world.batches[1][tp])
    }
    world.sink = [place for place in world.sink if place not in gone]
    world.letters = [each for each in world.letters if each.place not in gone]
    assert found(audit(scope, ArrayEvidence(world))) == {(FaultKind.SKIPPED, *place) for place in gone}


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 10)), max_size=8))
def test_each_offset_belongs_to_the_first_run_that_read_it(runs: list[tuple[int, int]]) -> None:
    tp, read, seen = TopicPartition("flights", 0), _Read(), set[int]()
    for start, size in runs:
        pieces = read.rest_of({tp: OffsetRange(start, start + size)})
        offsets = [offset for piece in pieces for offset in range(*piece[tp])]
        assert sorted(offsets) == sorted(set(range(start, start + size)) - seen)
        seen |= set(offsets)


def test_runs_that_read_a_deleted_topic_of_the_same_name_do_not_count(tmp_path: Path) -> None:
    given = {"topic": "flights", "value": {"format": "json", "schema": "n int"}}
    declaration = declare(
        {
            "pipeline": "p",
            "kafka": {"bootstrap.servers": "localhost:1"},
            "source": given,
            "sink": {"topic": "out"},
            "dead_letters": {"topic": "dead"},
            "checkpoint": str(tmp_path),
        }
    )
    directory = directory_of(declaration)
    replays, backfills = RunDirectory(directory.replays, "replay"), RunDirectory(directory.backfills, "backfill")
    letters, source = TopicPartition("dead", 0), TopicPartition("flights", 0)
    for runs, tp, topic_id in ((replays, letters, "old"), (replays, letters, "new"), (backfills, source, "old")):
        plan = runs.add({}, [{tp: (0, 5)}], topic_ids={tp.topic: topic_id})
        runs.store(dataclasses.replace(plan, done=1))
    now = {"dead": "new", "flights": "new"}
    scope = scope_of_pipeline(declaration, directory, [], now)
    assert [dict(each.ranges) for each in scope.replays] == [{letters: OffsetRange(0, 5)}]
    assert list(scope.backfills) == []
    assert len(scope_of_pipeline(declaration, directory, []).backfills) == 1, "an unknown id is no reason"
    assert list(_foreign_runs(directory, now)) == [
        f"{run} 1 read a topic {topic} that has been deleted and created again since, so its offsets were not audited"
        for run, topic in (("replay", "dead"), ("backfill", "flights"))
    ]
