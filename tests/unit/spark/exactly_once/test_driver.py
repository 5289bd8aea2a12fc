"""The requests of the driver, step by step: which drivers it fences, and which transactions it ends."""

from __future__ import annotations

import dataclasses
import logging
from typing import Any

import pytest

from kafka.admin.transactions import TransactionDescription, TransactionState
from kafka.errors import InvalidProducerEpochError, KafkaTimeoutError, ProducerFencedError
from kafka.producer.transactions import TransactionIdentity
from kafka.spark.exactly_once import driver_steps
from kafka.spark.exactly_once.decision import BATCH_WRITE, Decision, Written, task_id
from kafka.spark.exactly_once.prefix_access import LastDriver
from kafka.spark.exactly_once.replay_check import (
    DriverFencedError,
    NotDecidedError,
    PrefixInUseError,
    TransactionLostError,
    Write,
)
from kafka.spark.options.parsing import ExactlyOnceOptions, WriteOptions
from kafka.structs import TopicPartition

pytestmark = pytest.mark.once
DRIVER = TransactionIdentity("p-driver", 1, 5, 2)
OLDER = DRIVER._replace(producer_epoch=4)
WHERE = TopicPartition("out", 0)
LONGEST_MS = 20 * 60_000
NOW_MS = 1_700_000_000_000


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop the wall clock."""
    monkeypatch.setattr(driver_steps, "wall_clock_ns", lambda: lambda: NOW_MS * 1_000_000)


def written(number: int, topic: str = "out") -> Written:
    return Written(TransactionIdentity(task_id("p", f"0123456789.{number}"), 100 + number, 3, 2), {topic: (0, 1)})


def decision(*slots: Written, **given: Any) -> Decision:
    made = Decision("query", "run", 7, "/checkpoint", 10, slots)
    return dataclasses.replace(made, **given)


def options(batch_id: str | None = None, topic: str | None = "out") -> WriteOptions:
    return WriteOptions(topic, (), exactly_once=ExactlyOnceOptions("p", batch_id, None))


class ScriptedAccess:
    """A `PrefixAccess` that answers from a script, and records its calls."""

    prefix = "p"

    def __init__(self, *decisions: Decision | None, where: TopicPartition | None = WHERE) -> None:
        self.decisions = list(decisions)
        """What each `read` finds; the last one stays."""
        self.where = where
        self.calls: list[tuple[Any, ...]] = []
        self.open: list[str] = []
        self.has_decided_before = False
        self.marked: list[bool] = []
        self.finished = False
        self.can_note = True
        self.age_ms = 0
        self.failures: dict[str, Any] = {}
        self.longest: int | None = LONGEST_MS
        self.driver = DRIVER
        """The newest one."""
        self.task_epoch = 3
        """Of the producers that have the tasks' transactional ids now."""

    def asked(self, *kinds: str) -> list[tuple[Any, ...]]:
        return [call for call in self.calls if call[0] in kinds]

    async def longest_ms(self) -> int | None:
        return self.longest

    async def read(self, *, stable: bool) -> tuple[Decision | None, TopicPartition | None]:
        self.calls.append(("read", stable))
        found = self.decisions.pop(0) if len(self.decisions) > 1 else self.decisions[0]
        return found, None if found is None else self.where

    async def last_driver(self) -> LastDriver:
        self.calls.append(("last_driver",))
        return LastDriver(OLDER, self.has_decided_before)

    async def fence(self, timeout_ms: int, expected: TransactionIdentity | None) -> TransactionIdentity:
        self.calls.append(("fence", timeout_ms, expected))
        if "fence" in self.failures:
            raise self.failures["fence"]
        return DRIVER

    async def open_ids(self) -> list[str]:
        self.calls.append(("open_ids",))
        return self.open

    async def end(self, transactions: Any, *, commit: bool) -> dict[TransactionIdentity, Any]:
        given = list(transactions)
        if isinstance(transactions, frozenset):
            given.sort()
        self.calls.append(("commit" if commit else "abort", *(each.transactional_id for each in given)))
        return {each: self.failures.get(each.transactional_id) for each in given}

    async def abort_ids(self, ids: list[str]) -> None:
        self.calls.append(("abort_ids", *ids))

    async def is_marked(self, batch_id: str) -> bool:
        self.calls.append(("is_marked", batch_id))
        return self.marked.pop(0) if self.marked else False

    async def is_finished(self, batch_id: str) -> bool:
        return self.finished

    async def note_finished(self, batch_id: str, where: TopicPartition, batch: int) -> bool:
        self.calls.append(("note_finished", batch_id, where, batch))
        return self.can_note

    async def describe(self, ids: list[str]) -> dict[str, TransactionDescription]:
        since_ms = NOW_MS - self.age_ms
        found = {}
        for each in ids:
            of_driver = each == DRIVER.transactional_id
            found[each] = TransactionDescription(
                coordinator_id=1,
                state=TransactionState.EMPTY if of_driver else TransactionState.ONGOING,
                producer_id=self.driver.producer_id if of_driver else 100 + int(each.rpartition(".")[2]),
                producer_epoch=self.driver.producer_epoch if of_driver else self.task_epoch,
                transaction_timeout_ms=60_000,
                transaction_start_time_ms=since_ms,
                topic_partitions=set(),
            )
        return found

    async def await_topic(self, where: TopicPartition) -> None:
        self.calls.append(("await_topic", where))

    async def decide(self, by: Any, decided: Decision, where: TopicPartition, batch_id: str | None) -> None:
        self.calls.append(("decide", decided, where, batch_id))
        if "decide" in self.failures:
            raise self.failures["decide"]


def result(
    *slots: Written, rows: int = 10, by: TransactionIdentity | None = DRIVER, **given: Any
) -> list[driver_steps.TaskResult]:
    write = dataclasses.replace(Write("p", "query", "run", 8, "/checkpoint"), **given)
    return [
        driver_steps.TaskResult(write, by, OLDER, 60_000, rows if number == 0 else 0, each)
        for number, each in enumerate(slots)
    ]


async def plan(brokers: Any, checkpoint: str = "/checkpoint", batch_id: str | None = None) -> driver_steps.Plan:
    return await driver_steps.plan(brokers, options(batch_id), checkpoint)


async def commit(brokers: Any, results: list[driver_steps.TaskResult], **given: Any) -> None:
    await driver_steps.commit(brokers, options(**given), results)


async def test_a_first_decision_that_is_not_visible_yet_is_awaited() -> None:
    brokers = ScriptedAccess(None, decision())
    brokers.has_decided_before = True
    made = await plan(brokers)
    assert (made.decided, made.driver) == (decision(), DRIVER)
    assert brokers.asked("read", "fence") == [
        ("read", False),
        ("read", True),
        ("fence", 900_000, None),
        ("read", True),
    ]


async def test_nobody_is_fenced_without_a_decision() -> None:
    brokers = ScriptedAccess(None)
    made = await plan(brokers)
    assert (made.decided, made.driver, made.newest, made.is_marked) == (None, None, OLDER, False)
    assert brokers.calls == [("read", False), ("last_driver",), ("open_ids",)]


@pytest.mark.parametrize("checkpoint", ["", "/another"])
async def test_nobody_is_fenced_if_it_may_be_another_query(checkpoint: str) -> None:
    brokers = ScriptedAccess(decision())
    brokers.open = [written(1).transaction.transactional_id]
    assert (await plan(brokers, checkpoint)).driver is None
    assert brokers.asked("read", "fence", "abort_ids") == [("read", False)]


async def test_nobody_is_fenced_without_checkpoints() -> None:
    """One of two such queries may have the wrong prefix, which only the tasks know."""
    brokers = ScriptedAccess(decision(checkpoint=""))
    assert (await plan(brokers, "")).driver is None
    assert brokers.asked("fence") == []


async def test_a_plan_without_a_checkpoint_knows_a_recent_decision() -> None:
    brokers = ScriptedAccess(decision(), decision(written(1), batch=8))
    brokers.has_decided_before = True
    assert (await plan(brokers, "")).decided == decision(written(1), batch=8)


async def test_a_plan_ends_open_transactions() -> None:
    kept, other, lost = written(1), written(2), written(3)
    brokers = ScriptedAccess(decision(kept, lost))
    brokers.open = [each.transaction.transactional_id for each in (kept, other, lost)]
    brokers.failures[lost.transaction.transactional_id] = ProducerFencedError()  # its producer has started another one
    await plan(brokers)
    names = [each.transaction.transactional_id for each in (kept, lost, other)]
    assert brokers.asked("commit", "abort_ids") == [("commit", *names[:2]), ("abort_ids", *sorted(names[1:]))]


async def test_a_decided_transaction_of_unknown_state_is_not_aborted() -> None:
    brokers = ScriptedAccess(decision(written(1)))
    brokers.open = [written(number).transaction.transactional_id for number in (1, 2)]
    brokers.failures[brokers.open[0]] = KafkaTimeoutError("late")
    with pytest.raises(KafkaTimeoutError, match="late"):
        await plan(brokers)
    assert brokers.asked("abort_ids") == []


@pytest.mark.parametrize(("longest", "timeout_ms"), [(None, 900_000), (LONGEST_MS, 900_000), (5_000, 5_000)])
async def test_a_transaction_may_take_as_long_as_brokers_allow(longest: int | None, timeout_ms: int) -> None:
    brokers = ScriptedAccess(None)
    brokers.longest = longest
    assert (await plan(brokers)).timeout_ms == timeout_ms


async def test_attempts_and_unnamed_batch_writes_are_distinguished() -> None:
    plans = [await plan(ScriptedAccess(None), "") for _ in range(3)]
    assert len({each.token for each in plans}) == len({each.run for each in plans}) == 3
    named = await plan(ScriptedAccess(None), "", "x")
    assert named.run == "transactionalBatchId x"


async def test_a_batch_is_decided_before_it_is_committed() -> None:
    brokers = ScriptedAccess(decision())
    await commit(brokers, result(written(1), written(2)))
    names = [written(number).transaction.transactional_id for number in (1, 2)]
    wanted = decision(written(1), written(2), batch=8)
    assert brokers.asked("fence", "decide", "commit", "abort") == [
        ("decide", wanted, WHERE, None),
        ("commit", *names),
    ]


async def test_an_unsure_driver_fences_others_before_it_decides() -> None:
    brokers = ScriptedAccess(decision())
    brokers.open = [written(number).transaction.transactional_id for number in (1, 2)]
    await commit(brokers, result(written(1), by=None, checkpoint=""))
    steps = [call[0] for call in brokers.asked("open_ids", "fence", "abort_ids", "decide", "commit")]
    assert steps == ["open_ids", "fence", "commit", "abort_ids", "decide", "commit"]  # the first commit is empty
    assert brokers.asked("fence") == [("fence", 60_000, OLDER)]
    assert brokers.asked("abort_ids") == [("abort_ids", brokers.open[1])]  # not the transaction of this write


@pytest.mark.parametrize("failure", [ProducerFencedError(), InvalidProducerEpochError()])
async def test_an_unsure_driver_ends_nothing_if_another_driver_has_appeared(
    failure: Exception,
) -> None:
    """The other driver may have listed the transactions of this write, and may still abort them."""
    brokers = ScriptedAccess(None)
    brokers.open = [written(number).transaction.transactional_id for number in (1, 2)]
    brokers.failures["fence"] = failure
    with pytest.raises(DriverFencedError, match="another driver has taken over transactionalIdPrefix 'p'"):
        await commit(brokers, result(written(1), by=None))
    assert brokers.asked("abort_ids", "decide", "commit") == []


async def test_a_plan_lists_open_transactions_before_it_fences_others() -> None:
    """Later transactions may belong to a driver that can still decide them."""
    brokers = ScriptedAccess(decision())
    await plan(brokers)
    assert [call[0] for call in brokers.asked("open_ids", "fence")] == ["open_ids", "fence"]


@pytest.mark.parametrize("failure", [None, ProducerFencedError()])
@pytest.mark.parametrize(("finished", "can_note"), [(True, True), (False, True), (False, False)])
async def test_a_plan_records_the_commit_of_the_last_named_batch_write(
    finished: bool, can_note: bool, failure: Exception | None, caplog: Any
) -> None:
    brokers = ScriptedAccess(decision(written(9), query=BATCH_WRITE, run="transactionalBatchId x"))
    brokers.finished, brokers.can_note = finished, can_note
    brokers.failures[written(9).transaction.transactional_id] = failure
    made = await plan(brokers, "", "y")
    is_committed = finished or (failure is None and can_note)
    assert made.committed == ({written(9).transaction} if is_committed else frozenset())
    is_noted = not finished and failure is None
    assert brokers.asked("note_finished") == ([("note_finished", "x", WHERE, 7)] if is_noted else [])
    assert ("are lost" in caplog.text) == (not finished and failure is not None)


async def test_a_plan_commits_the_last_unnamed_batch_write() -> None:
    lost = written(8).transaction
    brokers = ScriptedAccess(decision(written(8), written(9), query=BATCH_WRITE))
    brokers.failures[lost.transactional_id] = ProducerFencedError()
    assert (await plan(brokers, "")).committed == {written(9).transaction}
    assert brokers.asked("commit", "note_finished") == [
        ("commit", *sorted(each.transaction.transactional_id for each in (written(8), written(9))))
    ]


async def test_planning_fails_while_the_last_batch_write_may_still_be_committed() -> None:
    brokers = ScriptedAccess(decision(written(9), query=BATCH_WRITE))
    brokers.failures[written(9).transaction.transactional_id] = KafkaTimeoutError("late")
    with pytest.raises(KafkaTimeoutError, match="late"):
        await plan(brokers, "")


async def test_batch_writes_are_numbered() -> None:
    brokers = ScriptedAccess(decision(query=BATCH_WRITE, run="before", batch=41))
    await commit(brokers, result(written(1), query=BATCH_WRITE, run="now", batch=0, by=None), batch_id="x")
    ((_, decided, _, batch_id),) = brokers.asked("decide")
    assert (decided.batch, batch_id) == (42, "x")


async def test_a_batch_write_decided_meanwhile_is_not_decided_again() -> None:
    brokers = ScriptedAccess(decision(query=BATCH_WRITE, run="before"))
    brokers.marked = [True]
    await commit(brokers, result(written(1), query=BATCH_WRITE, run="now", batch=0, by=None), batch_id="x")
    assert brokers.asked("decide", "commit") == []
    assert brokers.asked("abort") == [("abort", written(1).transaction.transactional_id)]


async def test_a_batch_write_decided_by_the_fencing_driver_is_done() -> None:
    brokers = ScriptedAccess(decision(query=BATCH_WRITE, run="before"))
    brokers.marked = [True, True]
    brokers.failures["fence"] = ProducerFencedError()
    await commit(brokers, result(written(1), query=BATCH_WRITE, run="now", batch=0, by=None), batch_id="x")
    assert brokers.asked("decide", "commit") == []
    assert brokers.asked("abort") == [("abort", written(1).transaction.transactional_id)]


async def test_nothing_is_decided_if_another_producer_uses_the_same_id() -> None:
    brokers = ScriptedAccess(decision())
    brokers.task_epoch = 4
    with pytest.raises(NotDecidedError, match="with epoch 4 instead of 3"):
        await commit(brokers, result(written(1)))
    assert brokers.asked("decide", "commit") == []


async def test_transactions_of_a_write_decided_meanwhile_need_not_be_open() -> None:
    brokers = ScriptedAccess(decision(query=BATCH_WRITE, run="before"))
    brokers.marked, brokers.task_epoch = [True], 4
    await commit(brokers, result(written(1), query=BATCH_WRITE, run="now", batch=0, by=None), batch_id="x")
    assert brokers.asked("decide", "commit") == []


@pytest.mark.parametrize("finished", [False, True])
async def test_a_batch_write_is_committed_again_unless_it_is_known_to_be_complete(finished: bool) -> None:
    brokers = ScriptedAccess(decision(written(9), query=BATCH_WRITE, run="x"))
    brokers.marked, brokers.finished = [True], finished
    await commit(brokers, result(None, query=BATCH_WRITE, run="x", batch=0, by=None), batch_id="x")  # type: ignore[arg-type]
    steps = [("commit", written(9).transaction.transactional_id), ("note_finished", "x", WHERE, 7)]
    assert brokers.asked("commit", "note_finished") == ([] if finished else steps)


@pytest.mark.parametrize(
    ("topic", "kept", "slots", "where"),
    [
        ("named", None, (written(1),), TopicPartition("named", 0)),
        (None, TopicPartition("kept", 0), (written(1),), TopicPartition("kept", 0)),
        (None, None, (written(1, "b"), written(2, "a")), TopicPartition("a", 0)),
    ],
)
async def test_the_place_of_a_decision(
    topic: str | None, kept: TopicPartition | None, slots: tuple[Written, ...], where: TopicPartition
) -> None:
    brokers = ScriptedAccess(decision() if kept else None, where=kept)
    await commit(brokers, result(*slots), topic=topic)
    assert brokers.asked("decide")[0][2] == where


async def test_a_replay_is_committed_and_assigned_to_the_new_run() -> None:
    decided = decision(written(9), batch=8)
    brokers = ScriptedAccess(decided)
    await commit(brokers, result(None, run="another run"))  # type: ignore[arg-type]  # nothing was written
    assert brokers.asked("commit", "abort", "decide") == [
        ("commit", written(9).transaction.transactional_id),
        ("decide", dataclasses.replace(decided, run="another run"), WHERE, None),
    ]


@pytest.mark.parametrize(("age_ms", "warned"), [(30_000, False), (30_001, True)])
async def test_a_batch_that_takes_half_the_timeout_causes_a_warning(age_ms: int, warned: bool, caplog: Any) -> None:
    brokers = ScriptedAccess(decision())
    brokers.age_ms = age_ms
    await commit(brokers, result(written(1)))
    assert [each.levelno for each in caplog.records] == [logging.WARNING] * warned


@pytest.mark.parametrize("failure", [ProducerFencedError(), InvalidProducerEpochError()])
async def test_a_fenced_driver_commits_nothing(failure: Exception) -> None:
    brokers = ScriptedAccess(decision())
    brokers.failures["decide"] = failure
    with pytest.raises(DriverFencedError):
        await commit(brokers, result(written(1)))
    assert brokers.asked("commit") == []


@pytest.mark.parametrize("by", [DRIVER, None])
async def test_a_driver_that_slept_while_another_continued_gets_an_error(by: TransactionIdentity | None) -> None:
    brokers = ScriptedAccess(decision(batch=9, run="of another driver"))
    with pytest.raises(DriverFencedError, match="another driver has taken over transactionalIdPrefix 'p'"):
        await commit(brokers, result(written(1), by=by))
    assert brokers.asked("fence", "decide", "commit") == []


@pytest.mark.parametrize("newer", [DRIVER._replace(producer_epoch=6), DRIVER._replace(producer_id=2, producer_epoch=0)])
async def test_a_driver_that_slept_aborts_nothing_of_its_successor(newer: TransactionIdentity) -> None:
    brokers = ScriptedAccess(decision(batch=8, run="of another driver"))
    brokers.open = [written(1).transaction.transactional_id]
    brokers.driver = newer
    with pytest.raises(DriverFencedError, match="another driver has taken over transactionalIdPrefix 'p'"):
        await commit(brokers, result(None, by=DRIVER))  # type: ignore[arg-type]  # a replay
    assert brokers.asked("abort_ids", "decide") == []


async def test_a_driver_gets_an_error_if_the_other_batch_becomes_visible_late() -> None:
    brokers = ScriptedAccess(decision(), decision(batch=9, run="of another driver"))
    with pytest.raises(DriverFencedError, match="another driver has taken over transactionalIdPrefix 'p'"):
        await commit(brokers, result(written(1), by=None))
    assert brokers.asked("decide", "commit") == []


async def test_a_prefix_of_another_query_is_not_reported_as_taken_over() -> None:
    brokers = ScriptedAccess(decision(query="another", batch=9))
    with pytest.raises(PrefixInUseError, match="belongs to query another"):
        await commit(brokers, result(written(1)))
    assert brokers.asked("decide", "commit") == []


async def test_a_batch_write_is_not_recorded_as_committed_too_early() -> None:
    brokers = ScriptedAccess(None)
    brokers.failures[written(1).transaction.transactional_id] = KafkaTimeoutError("late")
    with pytest.raises(KafkaTimeoutError):
        await commit(brokers, result(written(1), query=BATCH_WRITE, run="x", batch=0), batch_id="x")
    assert brokers.asked("note_finished") == []
    brokers.failures.clear()
    await commit(brokers, result(written(1), query=BATCH_WRITE, run="x", batch=0), batch_id="x")
    assert [call[0] for call in brokers.asked("commit", "note_finished")] == ["commit", "commit", "note_finished"]


@pytest.mark.parametrize(
    ("failure", "raised"),
    [(KafkaTimeoutError("late"), KafkaTimeoutError), (ProducerFencedError(), TransactionLostError)],
)
async def test_transactions_that_may_still_be_committed_are_not_lost(
    failure: Exception, raised: type[Exception]
) -> None:
    brokers = ScriptedAccess(decision())
    brokers.failures[written(1).transaction.transactional_id] = failure
    with pytest.raises(raised):
        await commit(brokers, result(written(1), written(2)))


async def test_an_abort_ends_the_decision_first_and_then_the_transactions() -> None:
    brokers = ScriptedAccess(decision())
    await driver_steps.abort(brokers, [None, *result(written(1))])  # type: ignore[arg-type]  # a fake
    assert brokers.asked("abort", "read") == [
        ("abort", "p-driver"),
        ("read", True),
        ("abort", written(1).transaction.transactional_id),
    ]


async def test_decided_transactions_are_not_aborted(caplog: Any) -> None:
    brokers = ScriptedAccess(decision(written(1)))
    await driver_steps.abort(brokers, result(written(1), written(2)))  # type: ignore[arg-type]  # a fake
    assert brokers.asked("abort") == [("abort", "p-driver")]
    assert "will be committed when it is replayed" in caplog.text


async def test_an_abort_of_nothing_sends_nothing() -> None:
    brokers = ScriptedAccess(None)
    await driver_steps.abort(brokers, [None, *result(None)])  # type: ignore[arg-type]  # a fake, and nothing was written
    assert brokers.calls == []


async def test_failed_aborts_are_reported(caplog: Any) -> None:
    brokers = ScriptedAccess(None)
    brokers.failures[written(1).transaction.transactional_id] = KafkaTimeoutError("late")
    await driver_steps.abort(brokers, result(written(1)))  # type: ignore[arg-type]  # a fake
    assert "late" in caplog.text


async def test_a_micro_batch_without_rows_waits_for_the_topic_that_its_decision_needs() -> None:
    def empty() -> list[driver_steps.TaskResult]:
        (with_rows,) = result(written(0), rows=0)
        return [dataclasses.replace(with_rows, written=None)]

    first = ScriptedAccess(None)
    await commit(first, empty())
    assert [call[:1] for call in first.asked("await_topic", "decide")] == [("await_topic",), ("decide",)]
    later = ScriptedAccess(decision())
    await commit(later, empty())
    assert not later.asked("await_topic"), "the last decision is stored there"
    with_rows = ScriptedAccess(None)
    await commit(with_rows, result(written(0)))
    assert not with_rows.asked("await_topic"), "the task has written there"
