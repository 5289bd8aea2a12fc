"""What an audit makes of one offset: each combination of its record, rows in the sink, dead letters and outcome."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from kafka.consumer.bounds import OffsetRange
from kafka.pipelines.audit.faults import MAX_RANGES, Fault, FaultKind, FaultList, offsets_text, ranges_in, ranges_of
from kafka.pipelines.audit.ledger import Ledger
from kafka.pipelines.audit.offset_evidence import Balance, BatchCounts, Outcome, Reader
from kafka.structs import TopicPartition

pytestmark = pytest.mark.once

TP = TopicPartition("t", 3)
AT = 101
"""The offset that the cases are about, the second of three."""
UNKNOWN, FILTERED, OUT, DROPPED, DEAD = Outcome


@dataclasses.dataclass(frozen=True)
class Case:
    """What is known of the offset.

    Attributes:
        code, rows: the outcome, and how many rows the query returns; None without an evaluation.
        sink: number of rows in the sink.
        letters: attempt of each dead letter, and how many replays have processed it.
        after, after_rows: the outcome with the declaration of the replays; None if it is unknown.
        log: whether the log has a record.
        read: who has read the offset.
        faults: the faults to report.
        balance: the numbers of the balance that are not 0.
    """

    code: Outcome | None = None
    rows: int = 1
    sink: int = 0
    letters: tuple[tuple[int, int], ...] = ()
    after: Outcome | None = None
    after_rows: int = 1
    log: bool = True
    read: tuple[Reader, ...] = (Reader.BATCH,)
    faults: tuple[str, ...] = ()
    balance: dict[str, int] = dataclasses.field(default_factory=dict)
    options: dict[str, Any] = dataclasses.field(default_factory=dict)

    def ledger(self) -> Ledger:
        """Return a ledger with this knowledge."""
        ledger = Ledger(TP, AT - 1, AT + 2, **self.options)
        for by in self.read:
            ledger.cover(AT, AT + 1, by)
        at = np.array([AT], np.int64)
        if self.log:
            ledger.add_log(at)
        ledger.add_sink(np.full(self.sink, AT, np.int64))
        attempts, replayed = (np.array([each[index] for each in self.letters], np.int64) for index in (0, 1))
        ledger.add_dead(np.full(len(self.letters), AT, np.int64), attempts, replayed)
        for code, rows, replay in ((self.code, self.rows, False), (self.after, self.after_rows, True)):
            if code is not None:
                count = rows if code is OUT else int(code is not UNKNOWN)
                ledger.add_outcomes(np.full(count, AT, np.int64), np.full(count, code, np.uint8), replay=replay)
        return ledger


ONE = (1, 0)
REPLAYED = (1, 1)
AGAIN = (2, 0)
BATCH, BACKFILL, ELSEWHERE = Reader.BATCH, Reader.BACKFILL, Reader.ELSEWHERE
INEXACT = {"exact": False}
COUNTED = {"positions": False}
IS_OUT, IS_DEAD = {"out": 1, "rows_out": 1}, {"dead": 1}

CASES = {
    "a row": Case(OUT, sink=1, balance=IS_OUT),
    "no row": Case(OUT, faults=("MISSING_IN_SINK",)),
    "a row twice": Case(OUT, sink=2, faults=("DUPLICATED_IN_SINK",), balance={"out": 1, "rows_out": 2}),
    "three rows": Case(OUT, rows=3, sink=3, balance={"out": 1, "rows_out": 3}),
    "two of three rows": Case(OUT, rows=3, sink=2, faults=("MISSING_IN_SINK",), balance={"out": 1, "rows_out": 2}),
    "four of three rows": Case(OUT, rows=3, sink=4, faults=("DUPLICATED_IN_SINK",), balance={"out": 1, "rows_out": 4}),
    "more rows than are counted": Case(OUT, rows=300, sink=290, balance={"out": 1, "rows_out": 255}),
    "filtered": Case(FILTERED, balance={"filtered": 1}),
    "filtered but there": Case(FILTERED, sink=1, faults=("UNEXPECTED_IN_SINK",), balance=IS_OUT),
    "dropped": Case(DROPPED, balance={"dropped": 1}),
    "dropped but there": Case(DROPPED, sink=1, faults=("UNEXPECTED_IN_SINK",), balance=IS_OUT),
    "dropped and dead": Case(DROPPED, letters=(ONE,), faults=("UNEXPECTED_DEAD_LETTER",), balance=IS_DEAD),
    "no outcome": Case(UNKNOWN, faults=("UNACCOUNTED",)),
    "no outcome but dead": Case(UNKNOWN, letters=(ONE,), balance=IS_DEAD),
    "no outcome but there": Case(UNKNOWN, sink=1, balance=IS_OUT),
    "no outcome but there twice": Case(
        UNKNOWN, sink=2, faults=("DUPLICATED_IN_SINK",), balance={"out": 1, "rows_out": 2}
    ),
    # dead letters
    "dead": Case(DEAD, letters=(ONE,), balance=IS_DEAD),
    "dead without a letter": Case(DEAD, faults=("MISSING_DEAD_LETTER",)),
    "dead but there": Case(DEAD, sink=1, faults=("MISSING_DEAD_LETTER", "UNEXPECTED_IN_SINK"), balance=IS_OUT),
    "dead twice": Case(DEAD, letters=(ONE, ONE), faults=("DUPLICATED_DEAD_LETTER",), balance=IS_DEAD),
    "out and dead": Case(OUT, sink=1, letters=(ONE,), faults=("IN_SINK_AND_DEAD",), balance=IS_OUT),
    "dead instead of out": Case(OUT, letters=(ONE,), faults=("UNEXPECTED_DEAD_LETTER",), balance=IS_DEAD),
    "rejected again": Case(DEAD, letters=(REPLAYED, AGAIN), balance={"dead": 1, "replayed": 1}),
    "rejected again, by a replay that is unknown": Case(DEAD, letters=(ONE, AGAIN), balance={"dead": 1, "replayed": 1}),
    "the first letter is gone": Case(
        DEAD, letters=(AGAIN,), faults=("MISSING_DEAD_LETTER",), balance={"dead": 1, "replayed": 1}
    ),
    "the second letter is there twice": Case(
        DEAD, letters=(REPLAYED, AGAIN, AGAIN), faults=("DUPLICATED_DEAD_LETTER",), balance={"dead": 1, "replayed": 1}
    ),
    # replays
    "repaired": Case(DEAD, sink=1, letters=(REPLAYED,), after=OUT, balance=IS_OUT | {"replayed": 1}),
    "repaired into two": Case(
        DEAD, sink=2, letters=(REPLAYED,), after=OUT, after_rows=2, balance={"out": 1, "rows_out": 2, "replayed": 1}
    ),
    "repaired into two, of which one is lost": Case(
        DEAD,
        sink=1,
        letters=(REPLAYED,),
        after=OUT,
        after_rows=2,
        faults=("MISSING_IN_SINK",),
        balance=IS_OUT | {"replayed": 1},
    ),
    "the repaired row is lost": Case(
        DEAD, letters=(REPLAYED,), after=OUT, faults=("MISSING_IN_SINK",), balance={"replayed": 1}
    ),
    "the repaired row is there twice": Case(
        DEAD,
        sink=2,
        letters=(REPLAYED,),
        after=OUT,
        faults=("DUPLICATED_IN_SINK",),
        balance={"out": 1, "rows_out": 2, "replayed": 1},
    ),
    "repaired after two attempts": Case(
        DEAD, sink=1, letters=(REPLAYED, (2, 1)), after=OUT, balance=IS_OUT | {"replayed": 1}
    ),
    "replayed twice": Case(
        DEAD, sink=2, letters=((1, 2),), after=OUT, balance={"out": 1, "rows_out": 2, "replayed": 1}
    ),
    "filtered by the replay": Case(DEAD, letters=(REPLAYED,), after=FILTERED, balance={"filtered": 1, "replayed": 1}),
    "filtered by the replay but there": Case(
        DEAD,
        sink=1,
        letters=(REPLAYED,),
        after=FILTERED,
        faults=("UNEXPECTED_IN_SINK",),
        balance=IS_OUT | {"replayed": 1},
    ),
    "dropped by the replay": Case(DEAD, letters=(REPLAYED,), after=DROPPED, balance={"dropped": 1, "replayed": 1}),
    "the second letter is lost": Case(
        DEAD, letters=(REPLAYED,), after=DEAD, faults=("MISSING_DEAD_LETTER",), balance={"replayed": 1}
    ),
    "the outcome of the replay is unknown": Case(
        DEAD, sink=1, letters=(REPLAYED,), after=UNKNOWN, balance=IS_OUT | {"replayed": 1}
    ),
    "out, but dead with the declaration of the replays": Case(OUT, sink=1, after=DEAD, balance=IS_OUT),
    "the outcome of the replay is unknown, and nothing is there": Case(
        DEAD, letters=(REPLAYED,), after=UNKNOWN, balance={"replayed": 1}
    ),
    "nothing came of a replay whose outcome is unknown": Case(
        DEAD, letters=(REPLAYED,), balance={"filtered": 1, "replayed": 1}
    ),
    "there twice after a replay whose outcome is unknown": Case(
        DEAD,
        sink=2,
        letters=(REPLAYED,),
        faults=("DUPLICATED_IN_SINK",),
        balance={"out": 1, "rows_out": 2, "replayed": 1},
    ),
    # who has read the offset
    "read by nobody": Case(OUT, read=(), faults=("SKIPPED",)),
    "read by nobody but there": Case(FILTERED, sink=1, read=(), faults=("UNEXPECTED_IN_SINK",), balance=IS_OUT),
    "read by two batches": Case(OUT, sink=1, read=(BATCH, BATCH), faults=("READ_TWICE",), balance=IS_OUT),
    "read and backfilled": Case(OUT, sink=2, read=(BATCH, BACKFILL), balance={"out": 1, "rows_out": 2}),
    "one row is missing after a backfill": Case(
        OUT, sink=1, read=(BATCH, BACKFILL), faults=("MISSING_IN_SINK",), balance=IS_OUT
    ),
    "dead in the stream and in a backfill": Case(DEAD, letters=(ONE, ONE), read=(BATCH, BACKFILL), balance=IS_DEAD),
    "dead in the stream but not in a backfill": Case(
        DEAD, letters=(ONE,), read=(BATCH, BACKFILL), faults=("MISSING_DEAD_LETTER",), balance=IS_DEAD
    ),
    "a backfill elsewhere": Case(OUT, sink=1, read=(BATCH, ELSEWHERE), balance=IS_OUT),
    "dead in a backfill elsewhere": Case(DEAD, letters=(ONE, ONE), read=(BATCH, ELSEWHERE), balance=IS_DEAD),
    "an unfinished run": Case(OUT, sink=7, letters=(ONE,), read=(BATCH, Reader.UNFINISHED), balance={"records": 0}),
    "an unfinished replay": Case(DEAD, sink=1, letters=((1, -1),), balance={"records": 0}),
    "no outcome, and read by nobody": Case(UNKNOWN, read=(), faults=("SKIPPED",)),
    "dead, though filtered, and read by nobody": Case(FILTERED, letters=(ONE,), read=(), balance=IS_DEAD),
    "more runs than are counted": Case(OUT, sink=255, read=(BACKFILL,) * 256, balance={"out": 1, "rows_out": 255}),
    # without the log
    "a row of no record": Case(sink=1, log=False, faults=("ROW_WITHOUT_INPUT",), balance={"records": 0}),
    "a letter of no record": Case(letters=(ONE,), log=False, faults=("DEAD_WITHOUT_INPUT",), balance={"records": 0}),
    "a row of a compacted record": Case(
        sink=1, letters=(ONE,), log=False, options={"compacted": True}, balance={"records": 0}
    ),
    # without an evaluation
    "there": Case(sink=1, balance=IS_OUT),
    "not there": Case(),
    "there twice": Case(sink=2, faults=("DUPLICATED_IN_SINK",), balance={"out": 1, "rows_out": 2}),
    "there twice after a backfill": Case(sink=2, read=(BATCH, BACKFILL), balance={"out": 1, "rows_out": 2}),
    "a letter": Case(letters=(ONE,), balance=IS_DEAD),
    "there and dead": Case(sink=1, letters=(ONE,), faults=("IN_SINK_AND_DEAD",), balance=IS_OUT),
    "there and dead after a backfill": Case(sink=1, letters=(ONE,), read=(BATCH, BACKFILL), balance=IS_OUT),
    "there after a replay": Case(sink=1, letters=(REPLAYED,), balance=IS_OUT | {"replayed": 1}),
    "there twice after a replay": Case(
        sink=2, letters=(REPLAYED,), faults=("DUPLICATED_IN_SINK",), balance={"out": 1, "rows_out": 2, "replayed": 1}
    ),
    # with another declaration
    "filtered now, but not then": Case(FILTERED, sink=1, options=INEXACT, balance=IS_OUT),
    "filtered now, and there twice": Case(
        FILTERED,
        sink=2,
        options=INEXACT,
        faults=("DUPLICATED_IN_SINK",),
        balance={"out": 1, "rows_out": 2},
    ),
    "dead now, but not then": Case(DEAD, sink=1, options=INEXACT, balance=IS_OUT),
    "dead now, and neither there nor dead then": Case(DEAD, options=INEXACT, faults=("MISSING_DEAD_LETTER",)),
    "dead then, but not now": Case(OUT, letters=(ONE,), options=INEXACT, balance=IS_DEAD),
    "dead in one of two runs": Case(DEAD, letters=(ONE,), read=(BATCH, BACKFILL), options=INEXACT, balance=IS_DEAD),
    "out now, and neither there nor dead then": Case(OUT, options=INEXACT, faults=("MISSING_IN_SINK",)),
    # aggregating queries
    "counted": Case(OUT, options=COUNTED, balance={"out": 1}),
    "counted and dead": Case(DEAD, letters=(ONE,), options=COUNTED, balance=IS_DEAD),
    "counted though it is dead": Case(
        OUT, letters=(ONE,), options=COUNTED, faults=("UNEXPECTED_DEAD_LETTER",), balance=IS_DEAD
    ),
    "counted after a replay": Case(
        DEAD, letters=(REPLAYED,), after=OUT, options=COUNTED, balance={"out": 1, "replayed": 1}
    ),
    "dropped by the replay of an aggregating query": Case(
        DEAD, letters=(REPLAYED,), after=DROPPED, options=COUNTED, balance={"dropped": 1, "replayed": 1}
    ),
    "dropped before the aggregation": Case(DROPPED, options=COUNTED, balance={"dropped": 1}),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_an_offset_is_judged_by_all_that_is_known_of_it(case: Case) -> None:
    faults = FaultList()
    balance = case.ledger().examine(faults)
    found = faults.faults()
    assert {each.kind.name for each in found} == set(case.faults)
    assert all(each.ranges == (OffsetRange(AT, AT + 1),) and each.partition == TP for each in found)
    assert dataclasses.asdict(balance) == dataclasses.asdict(Balance(**{"records": 1} | case.balance))


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        (Case(OUT, rows=2, sink=2), BatchCounts(rows=1, processed=1, out=2, found_out=2)),
        (Case(FILTERED), BatchCounts(rows=1, processed=1)),
        (Case(DROPPED), BatchCounts(rows=1, dropped=1)),
        (Case(DEAD, letters=(ONE,)), BatchCounts(rows=1, dead=1, found_dead=1)),
        (Case(DEAD, sink=1, letters=(REPLAYED, AGAIN)), BatchCounts(rows=1, dead=1, found_dead=1)),
        (Case(sink=1), BatchCounts(rows=1, found_out=1)),
        (Case(sink=1, log=False, letters=(ONE,)), BatchCounts()),
        (Case(OUT, read=(BATCH, Reader.UNFINISHED)), BatchCounts(rows=1, processed=1, out=1)),
    ],
)
def test_a_micro_batch_counts_records_as_they_were_when_it_read_them(case: Case, expected: BatchCounts) -> None:
    ledger = case.ledger()
    assert ledger.counted(AT, AT + 1) == expected
    assert ledger.counted(0, 1000) == expected
    assert ledger.counted(AT - 1, AT) == ledger.counted(AT + 1, AT + 2) == BatchCounts()


def test_only_backfills_count_before_the_stream() -> None:
    offsets = np.arange(10, 20, dtype=np.int64)
    for backfilled, start in ((None, 15), ((12, 14), 15)):
        ledger = Ledger(TP, 10, 20, stream=OffsetRange(start, 18))
        ledger.cover(start, 18, BATCH)
        if backfilled is not None:
            ledger.cover(*backfilled, BACKFILL)
        ledger.add_log(offsets)
        ledger.add_sink(offsets)
        faults = FaultList()
        balance = ledger.examine(faults)
        assert faults.faults() == []
        assert balance.records == balance.out == 3 + (2 if backfilled else 0)


def test_the_stream_has_to_read_all_its_offsets() -> None:
    ledger = Ledger(TP, 10, 14, stream=OffsetRange(11, 13))
    ledger.add_log(np.arange(10, 14, dtype=np.int64))
    faults = FaultList()
    ledger.examine(faults)
    assert faults.faults() == [Fault(FaultKind.SKIPPED, TP, (OffsetRange(11, 13),), 2)]


@pytest.mark.parametrize(("sink", "is_faulty"), [(2, False), (3, True)])
def test_a_replay_of_unknown_outcome_may_have_written_as_many_rows_as_the_query_returns_for_any_record(
    sink: int, is_faulty: bool
) -> None:
    ledger = Case(DEAD, sink=sink, letters=(REPLAYED,)).ledger()
    other = np.array([AT + 1, AT + 1])
    ledger.cover(AT + 1, AT + 2, BATCH)
    ledger.add_log(other[:1])
    ledger.add_sink(other)
    ledger.add_outcomes(other, np.full(2, OUT, np.uint8))
    ledger.add_outcomes(np.array([AT - 1]), np.array([OUT], np.uint8))  # of a record that is gone
    faults = FaultList()
    ledger.examine(faults)
    assert [(each.kind.name, each.ranges) for each in faults.faults()] == (
        [("DUPLICATED_IN_SINK", (OffsetRange(AT, AT + 1),))] if is_faulty else []
    )


def test_offsets_outside_a_ledger_are_ignored() -> None:
    ledger = Ledger(TP, 10, 13)
    for part in ((0, 11), (12, 99), (0, 5), (13, 20)):
        ledger.cover(*part, BATCH)
    around = np.arange(8, 15, dtype=np.int64)
    ledger.add_log(around)
    ledger.add_sink(around)
    ledger.add_outcomes(around, np.full(7, OUT, np.uint8))
    ledger.add_dead(around[[1, 5]], np.array([1, 1]), np.array([0, 0]))
    faults = FaultList()
    assert ledger.examine(faults) == Balance(records=3, out=3, rows_out=3)
    (fault,) = faults.faults()
    assert (fault.kind, fault.ranges) == (FaultKind.UNEXPECTED_IN_SINK, (OffsetRange(11, 12),))


@pytest.mark.parametrize("chunk", [1, 3, 1 << 20])
def test_evidence_can_come_in_parts(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kafka.pipelines.audit.ledger._CHUNK", chunk)
    ledger = Ledger(TP, 0, 4)
    ledger.cover(0, 4, BATCH)
    ledger.add_log(np.array([0, 1, 2, 3]))
    ledger.add_outcomes(np.array([0, 1, 3]), np.array([DEAD, OUT, DEAD], np.uint8))
    ledger.add_dead(np.array([3]), np.array([2]), np.array([0]))
    faults = FaultList()
    ledger.examine(faults)
    ledger.add_outcomes(np.array([2]), np.array([FILTERED], np.uint8))
    ledger.add_dead(np.array([3, 0]), np.array([1, 1]), np.array([1, 0]))
    ledger.add_sink(np.array([1]))
    after = FaultList()
    assert ledger.examine(after) == Balance(records=4, out=1, filtered=1, dead=2, rows_out=1, replayed=1)
    assert after.faults() == []
    assert [(each.kind.name, each.ranges) for each in faults.faults()] == [
        ("MISSING_IN_SINK", (OffsetRange(1, 2),)),
        ("MISSING_DEAD_LETTER", (OffsetRange(0, 1), OffsetRange(3, 4))),
        ("UNACCOUNTED", (OffsetRange(2, 3),)),
    ]
    assert ledger.counted(0, 4) == BatchCounts(rows=4, processed=2, dead=2, out=1, found_out=1, found_dead=2)
    assert ledger.counted(3, 9) == BatchCounts(rows=1, dead=1, found_dead=1)


def test_ranges_of_offsets() -> None:
    assert ranges_in(np.array([True, True, False, True]), 5) == [OffsetRange(5, 7), OffsetRange(8, 9)]
    assert ranges_in(np.zeros(3, np.bool_), 5) == []
    assert ranges_of(np.array([9, 3, 4, 4, 7])) == [OffsetRange(3, 5), OffsetRange(7, 8), OffsetRange(9, 10)]
    assert ranges_of(np.array([], np.int64)) == []
    assert offsets_text([OffsetRange(5, 6), OffsetRange(7, 13)]) == "5, 7-12"
    assert offsets_text([OffsetRange(1, 2), OffsetRange(4, 5)], 2) == "1, 4"
    assert offsets_text([OffsetRange(1, 2), OffsetRange(4, 5)], 1) == "1, ..."


def test_faults_are_joined_and_counted() -> None:
    faults = FaultList()
    faults.add(FaultKind.SKIPPED, TP, [OffsetRange(5, 7), OffsetRange(7, 7)])
    faults.add(FaultKind.SKIPPED, TP, [OffsetRange(7, 9), OffsetRange(11, 12)])
    faults.add(FaultKind.SKIPPED, TopicPartition("t", 1), [OffsetRange(0, 1)])
    faults.add(FaultKind.READ_TWICE, TP, [OffsetRange(3, 3)])
    faults.add_detail(FaultKind.COUNTS_DIFFER, "rows")
    assert faults.faults() == [
        Fault(FaultKind.COUNTS_DIFFER, None, (), 0, "rows"),
        Fault(FaultKind.SKIPPED, TopicPartition("t", 1), (OffsetRange(0, 1),), 1),
        Fault(FaultKind.SKIPPED, TP, (OffsetRange(5, 9), OffsetRange(11, 12)), 5),
    ]
    assert Fault(FaultKind.SKIPPED, TP, (OffsetRange(5, 9),), 1_004).offsets == "5-8 and 1,000 more"
    assert Fault(FaultKind.SKIPPED, TP, (OffsetRange(5, 9),), 5).offsets == "5-8 and 1 more"
    assert Fault(FaultKind.SKIPPED, TP, (OffsetRange(5, 9),), 4).offsets == "5-8"
    many = FaultList()
    many.add(FaultKind.SKIPPED, TP, [OffsetRange(2 * number, 2 * number + 1) for number in range(MAX_RANGES + 1)])
    (fault,) = many.faults()
    assert (len(fault.ranges), fault.count) == (MAX_RANGES, MAX_RANGES + 1)
