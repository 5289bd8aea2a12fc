"""Counts in the events of micro-batches against what an audit finds, and the offsets that are audited."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka.consumer.bounds import OffsetRange
from kafka.pipelines.audit.batch_counts import BatchComparison
from kafka.pipelines.audit.ledger import Ledger
from kafka.pipelines.audit.micro_batches import MicroBatch, ranges_of_event
from kafka.pipelines.audit.offset_evidence import Outcome, Reader
from kafka.pipelines.audit.scope import Scope, scope_of
from kafka.pipelines.events import Event, SourceCounts
from kafka.structs import TopicPartition

pytestmark = pytest.mark.once

T0, T1, U0 = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 0)


def counts(start: int, end: int, name: str = "t-0", **changed: int) -> SourceCounts:
    """The counts of a batch that has read a range of offsets, whose records are in the sink."""
    numbers: dict[str, Any] = {"rows": end - start, "processed": end - start, "dropped": 0, "dead": 0} | changed
    return SourceCounts(**numbers, ranges={name: (start, end)})


def batch(number: int, out: int | None, late: int = 0, **sources: SourceCounts) -> MicroBatch:
    """A micro-batch with its event."""
    event = Event("batch", "2026-01-01T00:00:00", "p", batch=number, sources=sources, out=out, late=late)
    return MicroBatch(number, ranges_of_event(event), event)


def ledger(tp: TopicPartition, start: int, end: int, evaluated: bool) -> Ledger:
    """A ledger of records that are all in the sink, except the one at offset 3, which is dead."""
    found = Ledger(tp, start, end)
    offsets = np.arange(start, end, dtype=np.int64)
    found.cover(start, end, Reader.BATCH)
    found.add_log(offsets)
    found.add_sink(offsets[offsets != 3])
    dead = offsets[offsets == 3]
    found.add_dead(dead, np.ones_like(dead), np.zeros_like(dead))
    if evaluated:
        found.add_outcomes(offsets, np.where(offsets == 3, Outcome.DEAD, Outcome.OUT).astype(np.uint8))
    return found


def differences(
    batches: list[MicroBatch], ranges: Mapping[TopicPartition, tuple[int, int]], **options: Any
) -> list[str]:
    """Audit ranges of offsets, in ledgers of two offsets."""
    scope = Scope("p", {tp: OffsetRange(*ends) for tp, ends in ranges.items()}, batches)
    comparison = BatchComparison(scope, **{"exact": True, "compacted": set(), **options})
    for tp, (start, end) in ranges.items():
        for at in range(start, end, 2):
            comparison.add(tp, ledger(tp, at, min(at + 2, end), options.get("evaluated", True)))
    return list(comparison.differences())


@pytest.mark.parametrize("evaluated", [True, False])
def test_correct_counts_do_not_differ(evaluated: bool) -> None:
    batches = [
        batch(0, 2, s=counts(0, 2)),
        MicroBatch(1, {T0: OffsetRange(2, 3)}),
        batch(2, 3, s=counts(3, 7, processed=3, dead=1)),
    ]
    assert differences(batches, {T0: (0, 7)}, evaluated=evaluated) == []


@pytest.mark.parametrize("evaluated", [True, False])
@pytest.mark.parametrize(
    ("changed", "out", "found"),
    [
        ({"processed": 4, "dead": 0}, 3, "dead: 0 in the event, 1 in the audit"),
        ({"processed": 2, "dead": 2}, 3, "dead: 2 in the event, 1 in the audit"),
        ({"processed": 3, "dead": 1, "dropped": 1, "rows": 5}, 3, "rows: 5 in the event, 4 in the audit"),
        ({"processed": 3, "dead": 2}, 3, "the event has 4 rows, but 3 processed, 0 dropped and 2 dead"),
        ({"processed": 3, "dead": 1}, 2, "rows out: 2 in the event, 3 in the audit"),
    ],
)
def test_wrong_counts_are_told(evaluated: bool, changed: dict[str, Any], out: int, found: str) -> None:
    batches = [batch(0, 2, s=counts(0, 2)), batch(2, out, s=counts(3, 7, **changed))]
    texts = differences(batches, {T0: (0, 7)}, evaluated=evaluated)
    assert any(found in text for text in texts)
    assert all(
        text.startswith(("micro-batch 2, source s, t-0 offsets 3-6: ", "micro-batch 2, t-0 offsets 3-6: r"))
        for text in texts
    )


def test_with_another_declaration_only_numbers_of_records_are_compared() -> None:
    batches = [batch(0, 7, s=counts(3, 7, processed=2, dropped=2))]
    assert differences(batches, {T0: (3, 7)}, exact=False) == []
    batches = [batch(0, 7, s=counts(3, 7, processed=3, dropped=2, rows=5))]
    (text,) = differences(batches, {T0: (3, 7)}, exact=False)
    assert "rows: 5 in the event, 4 in the audit" in text


WRONG = counts(3, 7)
"""Counts that lack the dead letter."""


@pytest.mark.parametrize(
    ("ranges", "compared"),
    [
        ({T0: (3, 7)}, True),
        ({T0: (0, 9)}, True),
        ({T0: (4, 7)}, False),
        ({T0: (3, 6)}, False),
        ({T1: (3, 7)}, False),
    ],
)
def test_a_batch_is_compared_if_its_whole_range_is_audited(
    ranges: dict[TopicPartition, tuple[int, int]], compared: bool
) -> None:
    assert bool(differences([batch(0, 4, s=WRONG)], ranges)) is compared


def test_what_is_not_compared() -> None:
    ranges = {T0: (3, 7)}
    assert len(differences([batch(0, 4, s=WRONG)], ranges)) == 2
    assert differences([batch(0, 4, s=WRONG)], ranges, compacted={"t"}) == []
    assert len(differences([batch(0, 4, s=WRONG)], ranges, compacted={"u"})) == 2
    for ignored in (batch(0, None, s=WRONG), batch(0, 4, 1, s=WRONG)):  # late rows are not in the sink
        assert len(differences([ignored], ranges)) == 1
    assert len(differences([batch(0, 4, s=WRONG)], ranges, positions=False)) == 1


def test_outputs_are_compared_if_all_sources_are_audited() -> None:
    right = counts(3, 7, processed=3, dead=1)
    both = [batch(0, 4, s=right, u=counts(0, 2, "u-0"))]
    (text,) = differences(both, {T0: (3, 7), U0: (0, 2)})
    assert text == "micro-batch 0, t-0 offsets 3-6, u-0 offsets 0-1: rows out: 4 in the event, 5 in the audit"
    assert differences(both, {T0: (3, 7)}) == []
    assert differences([batch(0, 4)], {T0: (3, 7)}) == []
    idle = [batch(0, 4, s=right, u=counts(9, 9, "u-0"))]
    (text,) = differences(idle, {T0: (3, 7)})
    assert text == "micro-batch 0, t-0 offsets 3-6: rows out: 4 in the event, 3 in the audit"


@given(
    st.dictionaries(
        st.sampled_from([T0, T1, U0]), st.tuples(st.integers(0, 9), st.integers(0, 9)).map(lambda e: (e[0], sum(e)))
    ),
    st.integers(1, 12),
)
def test_slices_of_a_scope_have_each_offset_once(ranges: dict[TopicPartition, tuple[int, int]], most: int) -> None:
    slices = list(Scope("p", {tp: OffsetRange(*ends) for tp, ends in ranges.items()}).slices(most))
    flat = [(tp, offset) for part in slices for tp, ends in part.items() for offset in range(*ends)]
    assert flat == [(tp, offset) for tp, ends in sorted(ranges.items()) for offset in range(*ends)]
    sizes = [sum(end - start for start, end in part.values()) for part in slices]
    assert all(size == most for size in sizes[:-1])
    assert all(0 < size <= most for size in sizes)


def test_a_scope_is_limited_to_offsets_and_partitions() -> None:
    scope = Scope("p", {T0: OffsetRange(3, 9), T1: OffsetRange(0, 4)})
    assert scope.within({}).ranges == scope.ranges
    assert scope.within({T0: OffsetRange(0, 5)}).ranges == {T0: OffsetRange(3, 5), T1: OffsetRange(0, 4)}
    assert scope.within({T0: OffsetRange(5, 50)}, [T0]).ranges == {T0: OffsetRange(5, 9)}
    assert scope.within({T0: OffsetRange(9, 12), T1: OffsetRange(0, 0)}).ranges == {}


def test_a_scope_has_what_the_stream_has_read_and_its_late_rows() -> None:
    batches = [batch(0, 2, 3, s=counts(2, 4)), MicroBatch(1, {T0: OffsetRange(4, 6)}), batch(2, 1, 4, s=counts(6, 7))]
    scope = scope_of("p", batches)
    assert scope.ranges == {T0: OffsetRange(2, 7)}
    assert scope.late == 7
