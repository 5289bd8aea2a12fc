"""The ledgers of a simulation detect violated guarantees, and nothing else."""

from __future__ import annotations

import pytest

from kafka.structs import TopicPartition
from kafka.testing.ledger import CommitLedger, Ledger
from kafka.testing.share_trial import ShareLedger

TP = TopicPartition("t", 0)


def acknowledged(ledger: Ledger, producer: str, number: int, offset: int) -> str:
    record = ledger.sending(producer, number)
    record.partition, record.offset = TP, offset
    return record.name


def problems(ledger: Ledger, log: list[str], groups: tuple[str, ...] = ()) -> list[str]:
    return ledger.problems({TP: log}, groups, idempotent=True)


def member(*groups: str) -> Ledger:
    """Return a ledger without failures, in which the member "m" of each group is assigned the partition."""
    ledger = Ledger(is_calm=lambda: True)
    for group in groups or ("g",):
        ledger.assign(group, "m", [TP])
    return ledger


def test_a_correct_run_has_no_problems() -> None:
    ledger = member()
    log = [acknowledged(ledger, "p", number, number) for number in range(4)]
    ledger.hand_out("g", "m", TP, [0, 1], None)
    ledger.commits.accept("g", "m", {TP: 2})
    ledger.commits.told("g", "m", {TP: 2})
    ledger.hand_out("g", "m", TP, [2], 2)
    ledger.commits.accept("g", "m", {TP: 3})
    assert not [*ledger.commits.given_up("g", "m", {TP: 3})]
    ledger.take_away("g", "m", [TP])
    ledger.closed("g", "m")
    ledger.assign("g", "n", [TP])
    ledger.commits.accept("g", "n", {TP: 3})
    ledger.hand_out("g", "n", TP, [3], None)
    assert list(ledger.commits.behind()) == ["g was given t-0 up to 4, but has committed 3"]
    ledger.commits.accept("g", "n", {TP: 4})
    ledger.commits.stored("at the end", {("g", TP): 4})
    assert not list(ledger.commits.behind())
    assert problems(ledger, log, ("g",)) == []


def test_a_lost_acknowledged_record_is_a_problem() -> None:
    ledger = Ledger()
    acknowledged(ledger, "p", 0, 0)
    assert "was acknowledged" in problems(ledger, [])[0]


def test_a_record_without_an_outcome_is_a_problem() -> None:
    ledger = Ledger()
    ledger.sending("p", 0)
    assert "neither acknowledged nor failed" in problems(ledger, [])[0]


def test_a_record_may_fail_only_during_failures() -> None:
    calm, trouble = Ledger(is_calm=lambda: True), Ledger()
    for ledger in (calm, trouble):
        ledger.sending("p", 0).error = ValueError()
    assert problems(trouble, []) == []
    assert problems(calm, []) == ["p:0 failed although nothing was wrong: ValueError()"]


def test_a_duplicate_record_is_a_problem() -> None:
    ledger = Ledger()
    name = acknowledged(ledger, "p", 0, 0)
    assert "twice" in problems(ledger, [name, name])[0]


def test_records_out_of_order_are_a_problem() -> None:
    ledger = Ledger()
    log = [acknowledged(ledger, "p", 1, 0), acknowledged(ledger, "p", 0, 1)]
    assert "stands behind" in problems(ledger, log)[0]


def test_an_unknown_record_is_a_problem() -> None:
    assert "never sent" in problems(Ledger(), ["stranger"])[0]


def test_skipped_records_are_a_problem() -> None:
    ledger = member("g", "h")
    ledger.hand_out("g", "m", TP, [0, 1], None)
    ledger.hand_out("g", "m", TP, [3], 2)
    assert len(ledger.found) == 2
    ledger.hand_out("h", "m", TP, [0, 2], None)
    assert "gaps" in ledger.found[2]


def test_redelivered_records_are_a_problem() -> None:
    ledger = member()
    ledger.hand_out("g", "m", TP, [0, 1], None)
    ledger.hand_out("g", "m", TP, [1], 2)
    assert ledger.found == ["m was given t-0@1 after it had read up to 2"]


def test_a_member_that_does_not_start_at_the_groups_offset_is_a_problem() -> None:
    ledger = member()
    ledger.hand_out("g", "m", TP, [0, 1, 2], None)
    ledger.commits.accept("g", "m", {TP: 2})
    ledger.take_away("g", "m", [TP])
    ledger.assign("g", "n", [TP])
    ledger.hand_out("g", "n", TP, [1, 2], None)
    assert ledger.found == ["n starts at t-0@1, where g went from 2 to 2"]


def test_a_member_unaware_of_its_loss_may_start_at_an_old_offset() -> None:
    ledger = Ledger()
    for name in ("m", "n"):
        ledger.assign("g", name, [TP])
    ledger.hand_out("g", "m", TP, [0, 1, 2], None)
    ledger.commits.accept("g", "m", {TP: 3})
    ledger.hand_out("g", "n", TP, [0, 1, 2], None)
    assert not ledger.found


def test_records_of_an_unassigned_partition_are_a_problem() -> None:
    ledger = Ledger()
    ledger.hand_out("g", "m", TP, [0], None)
    assert "was not told to have" in ledger.found[0]


def test_assignments_and_revocations_must_be_consistent() -> None:
    ledger = member()
    ledger.assign("g", "n", [TP])
    ledger.take_away("g", "o", [TP])
    ledger.closed("g", "m")
    assert ledger.found == [
        "n is assigned t-0, which m still has",
        "o loses t-0, which it was never told to have",
        "m is closed, and was not told that it gives up t-0",
    ]


def test_a_member_may_notice_a_loss_late_during_failures() -> None:
    ledger = Ledger(is_calm=lambda: False)
    ledger.assign("g", "m", [TP])
    ledger.assign("g", "n", [TP])
    assert not ledger.found


def test_unread_records_are_a_problem() -> None:
    ledger = Ledger()
    log = [acknowledged(ledger, "p", 0, 0)]
    assert "was never given 1 records" in problems(ledger, log, ("g",))[0]


@pytest.fixture
def read_to_three() -> Ledger:
    """A ledger of a member that has received three records."""
    ledger = member()
    ledger.hand_out("g", "m", TP, [0, 1, 2], None)
    return ledger


def test_a_commit_beyond_delivered_records_is_a_problem(read_to_three: Ledger) -> None:
    read_to_three.commits.accept("g", "m", {TP: 4})
    assert read_to_three.found == ["m commits t-0@4, but g was only given records up to 3"]


def test_a_commit_of_another_members_records_is_a_problem(read_to_three: Ledger) -> None:
    read_to_three.commits.accept("g", "n", {TP: 3})
    assert read_to_three.found == ["n commits t-0@3, which others were given, while g stood at 0"]


def test_a_decreasing_commit_is_a_problem(read_to_three: Ledger) -> None:
    read_to_three.commits.accept("g", "m", {TP: 3})
    read_to_three.commits.accept("g", "m", {TP: 2})
    assert read_to_three.found == ["m commits t-0@2, which takes g back from 3"]


def test_a_commit_may_decrease_after_a_seek(read_to_three: Ledger) -> None:
    commits = read_to_three.commits
    commits.accept("g", "m", {TP: 3})
    commits.rewind("g", TP, 1)
    commits.accept("g", "m", {TP: 1})
    commits.told("g", "m", {TP: 3})
    commits.accept("g", "m", {TP: 2})
    assert not read_to_three.found
    commits.accept("g", "m", {TP: 0})
    commits.assigned("g", "n", [TP])
    commits.accept("g", "n", {TP: 3})
    commits.accept("g", "n", {TP: 2})
    assert read_to_three.found == [
        "m commits t-0@0, which takes g back from 2",
        "n commits t-0@3, which others were given, while g stood at 0",
        "n commits t-0@2, which takes g back from 3",
    ]


def test_an_unconfirmed_commit_is_a_problem(read_to_three: Ledger) -> None:
    read_to_three.commits.told("g", "m", {TP: 3})
    read_to_three.found.extend(read_to_three.commits.given_up("g", "m", {TP: 3}))
    assert read_to_three.found == [
        "m was told that t-0@3 is committed, but g only came to 0",
        "m gives up t-0@3, but g is left at 0",
    ]


@pytest.mark.parametrize("stored", [None, 2, 4])
def test_a_commit_that_is_not_stored_is_a_problem(read_to_three: Ledger, stored: int | None) -> None:
    commits: CommitLedger = read_to_three.commits
    commits.accept("g", "m", {TP: 3})
    commits.stored("broker-1", {} if stored is None else {("g", TP): stored})
    assert read_to_three.found == [f"broker-1: g has committed t-0@3, but {stored} is stored"]


def test_an_uncommitted_stored_offset_is_a_problem(read_to_three: Ledger) -> None:
    read_to_three.commits.stored("broker-1", {("g", TP): 3})
    assert read_to_three.found == ["broker-1: t-0@3 is stored, which g has never committed"]


class TimedShareLedger(ShareLedger):
    """The ledger of a share group without failures, with settable time; locks last ten seconds."""

    def __init__(self) -> None:
        self.time = 0.0
        super().__init__([], lambda: True, lambda: self.time, 10.0, 5)


def test_share_groups_may_redeliver_unprocessed_records() -> None:
    ledger = TimedShareLedger()
    ledger.delivered("g", "a", TP, 0, 1)
    ledger.let_go("g", TP, 0)
    ledger.delivered("g", "b", TP, 0, 2)
    ledger.time = 11.0
    ledger.delivered("g", "a", TP, 0, 3)
    ledger.left("a")
    ledger.delivered("g", "b", TP, 0, 4)
    ledger.told("g", TP, 0, 4)
    ledger.told("g", TP, 0, 3)
    ledger.time = 30.0
    ledger.delivered("g", "a", TP, 0, 4)
    ledger.check({TP: ["p:0"]}, {"g": {TP: 1}})
    assert ledger.found == []


def test_violations_of_share_groups_are_detected() -> None:
    ledger = TimedShareLedger()
    ledger.delivered("g", "a", TP, 0, 1)
    ledger.delivered("g", "b", TP, 0, 2)
    ledger.told("g", TP, 0, 2)
    ledger.time = 60.0
    ledger.delivered("g", "a", TP, 0, 6)
    ledger.check({TP: ["p:0", "p:1"]}, {"g": {TP: 1}, "h": {}})
    assert ledger.found == [
        "b was given t-0@0, which a still has",
        "a was given t-0@0 as delivery 6 of at most 5",
        "a was given t-0@0 again, delivery 6, after g was done with it",
        "g was never given 1 records, the first is t-0@1",
        "g continues at 1 of t-0@2, its end",
        "h was never given 2 records, the first is t-0@0",
        "h continues at None of t-0@2, its end",
    ]
