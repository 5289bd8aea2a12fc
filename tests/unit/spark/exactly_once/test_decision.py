"""The driver's decision as text, and its meaning for a write."""

import dataclasses

import pytest

from kafka.producer.transactions import TransactionIdentity
from kafka.spark.exactly_once.decision import (
    BATCH_WRITE,
    PART_CHARACTERS,
    Decision,
    Written,
    decision_group,
    driver_id,
    from_parts,
    numbers_in,
    parts_in,
    ranges,
    slot_of,
    task_id,
    to_parts,
)
from kafka.spark.exactly_once.replay_check import (
    ExactlyOnceError,
    PrefixInUseError,
    ReplayDiffersError,
    SecondWriteError,
    Write,
    check_replay,
    is_done,
)
from kafka.spark.exactly_once.task import BATCH, QUERY, RUN, write_of_task

QUERY_ID = "11111111-2222-3333-4444-555555555555"
RUN_ID = "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"


def written(number: int, topic: str = "out") -> Written:
    identity = TransactionIdentity(task_id("p", f"0123456789.{number}"), 1000 + number, number, 2)
    return Written(identity, {topic: (0, 1, 2, 5)})


def decision(slots: int = 2, **given: object) -> Decision:
    made = Decision(QUERY_ID, RUN_ID, 7, "s3://checkpoints/Ünë", 100, tuple(map(written, range(slots))))
    return dataclasses.replace(made, **given)  # type: ignore[arg-type]  # fields by name


def write(**given: object) -> Write:
    made = Write("p", QUERY_ID, "another run", 8, "")
    return dataclasses.replace(made, **given)  # type: ignore[arg-type]  # fields by name


@pytest.mark.parametrize("slots", [0, 1, 8, 1_000])
def test_a_decision_round_trips(slots):
    made = decision(slots)
    parts = to_parts(made, "p")
    assert all(len(part.encode()) < 4_096 for part in parts)
    assert (len(parts) > 1) == (slots > 200)
    assert parts_in(parts[0]) == len(parts)
    assert from_parts(parts, "p") == made


def test_two_hundred_tasks_fit_into_few_offsets():
    assert len(to_parts(decision(200), "p")) <= 1 + 200 * 45 // PART_CHARACTERS


def test_other_text_than_a_decision_is_rejected():
    with pytest.raises(ValueError, match="'hello' is not a decision of this version"):
        parts_in("hello")


@pytest.mark.parametrize(("numbers", "text"), [((), ""), ((3,), "3"), ((0, 1, 2, 5, 7, 8), "0-2,5,7-8"), ((0,), "0")])
def test_partitions_are_stored_as_ranges(numbers, text):
    assert ranges(reversed(numbers)) == text
    assert numbers_in(text) == numbers


def test_a_lost_transaction_is_named_with_its_partitions():
    assert str(written(3)) == "p-0123456789.3 (out-[0-2,5])"


def test_names_of_a_prefix_do_not_match_another_prefix():
    assert slot_of("a", task_id("a", "0123456789.12")) == "0123456789.12"
    assert slot_of("a", task_id("a-b", "0123456789.12")) is None
    assert slot_of("a", driver_id("a")) is None
    assert slot_of("a.", task_id("ab", "0123456789.12")) is None
    assert decision_group("a", 0) == "a-decision"
    assert decision_group("a", 1) == "a-decision.1"


@pytest.mark.parametrize(
    ("decided", "now", "done"),
    [
        (None, write(), False),
        (decision(), write(batch=8), False),
        (decision(), write(batch=9), False),
        (decision(), write(batch=7), True),
        (decision(query=BATCH_WRITE), write(query=BATCH_WRITE, batch=0), False),
    ],
)
def test_a_write_is_new_or_was_decided_by_an_earlier_run(decided, now, done):
    assert is_done(now, decided) is done


@pytest.mark.parametrize(
    ("decided", "now", "error", "said"),
    [
        (decision(), write(query="other"), PrefixInUseError, f"belongs to query {QUERY_ID} with the checkpoint s3://"),
        (decision(checkpoint=""), write(query="other"), PrefixInUseError, f"{QUERY_ID}, not to query other: no"),
        (decision(), write(query=BATCH_WRITE), PrefixInUseError, "not to a batch write"),
        (decision(query=BATCH_WRITE), write(), PrefixInUseError, "belongs to batch writes, not to query 1111"),
        (decision(), write(batch=6), PrefixInUseError, r"micro-batch 6 .* is older than micro-batch 7"),
        (decision(), write(batch=7, run=RUN_ID), SecondWriteError, r"micro-batch 7 .* was written before, in the same"),
    ],
)
def test_a_write_that_must_stop_explains_why(decided, now, error, said):
    with pytest.raises(error, match=said):
        is_done(now, decided)


def test_a_replay_with_other_rows_is_rejected():
    check_replay(write(batch=7), decision(), 100)
    with pytest.raises(ReplayDiffersError, match=r"was committed with 100 rows .* replayed with 99"):
        check_replay(write(batch=7), decision(), 99)


def test_a_task_knows_its_micro_batch():
    found = write_of_task({QUERY: QUERY_ID, BATCH: "12", RUN: RUN_ID}, "p", streaming=True, checkpoint="c", run="")
    assert found == Write("p", QUERY_ID, RUN_ID, 12, "c")
    nothing = {QUERY: None, BATCH: None, RUN: "a job group of the user"}
    assert write_of_task(nothing, "p", streaming=False, checkpoint="", run="r") == Write("p", BATCH_WRITE, "r", 0, "")


@pytest.mark.parametrize(
    ("properties", "streaming"),
    [
        ({QUERY: None, BATCH: None, RUN: None}, True),
        ({QUERY: QUERY_ID, BATCH: None, RUN: RUN_ID}, True),
        ({QUERY: QUERY_ID, BATCH: "1", RUN: "a group of the user"}, False),
    ],
)
def test_a_stream_task_that_does_not_know_its_micro_batch_is_rejected(properties, streaming):
    with pytest.raises(ExactlyOnceError, match="which micro-batch it writes"):
        write_of_task(properties, "p", streaming=streaming, checkpoint="", run="r")
