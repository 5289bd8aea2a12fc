"""The producers of a process whose transactions the driver ends: when they are reused, and when they are closed."""

from __future__ import annotations

from typing import Any

import pytest

from kafka.errors import InvalidTransactionTimeoutError, KafkaConfigurationError, KafkaError
from kafka.producer.transactions import TransactionIdentity
from kafka.spark.exactly_once import task
from kafka.spark.exactly_once.decision import slot_of
from kafka.spark.exactly_once.driver_steps import Plan
from kafka.spark.exactly_once.task import TransactionalProducers

pytestmark = pytest.mark.once
CONFIGS = (("bootstrap_servers", "localhost:1"),)


class Producer:
    """A fake `KafkaProducer`; `made` contains all of them."""

    made: list[Producer]
    failure: Exception | None = None

    def __init__(self, **configs: Any) -> None:
        self.configs = configs
        self.calls: list[Any] = []
        self.made.append(self)

    def init_transactions(self) -> None:
        self.calls.append("init")
        if self.failure is not None:
            raise self.failure

    def begin_transaction(self) -> None:
        self.calls.append("begin")

    def close(self, timeout: float) -> None:
        self.calls.append(("close", timeout))
        if self.failure is not None:
            raise KafkaError("it cannot be closed either")


@pytest.fixture(autouse=True)
def fakes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kafka.KafkaProducer", Producer)
    monkeypatch.setattr(Producer, "made", [], raising=False)
    monkeypatch.setattr(Producer, "failure", None)


def plan(token: str, timeout_ms: int = 60_000, committed: tuple[TransactionIdentity, ...] = ()) -> Plan:
    return Plan(token, "", timeout_ms, None, frozenset(committed), None, None, False)


def lend(
    producers: TransactionalProducers, token: str, prefix: str = "p", *, run: str | None = "run", **given: Any
) -> Producer:
    with producers.borrow(CONFIGS, prefix, plan(token, **given), run) as slot:
        producer: Producer = slot.producer  # type: ignore[assignment]  # a fake
        slot.transaction = identity(producer)
        return producer


def identity(producer: Producer) -> TransactionIdentity:
    """Return the identity of its last transaction; each has its own epoch."""
    return TransactionIdentity(producer.configs["transactional_id"], 1, producer.calls.count("begin"), 2)


def test_a_producers_transactional_id_belongs_to_the_process() -> None:
    producers = TransactionalProducers()
    first, second = lend(producers, "a"), lend(producers, "a")
    assert first.calls == second.calls == ["init", "begin"]
    names = [each.configs["transactional_id"] for each in (first, second)]
    assert first.configs == {
        "bootstrap_servers": "localhost:1",
        "transactional_id": names[0],
        "transaction_timeout_ms": 60_000,
    }
    slots = [slot_of("p", name) for name in names]
    assert [slot and slot.rpartition(".")[2] for slot in slots] == ["0", "1"]
    assert len({slot and slot.rpartition(".")[0] for slot in slots}) == 1
    assert lend(TransactionalProducers(), "a").configs["transactional_id"] not in names


def test_a_producer_is_lent_again_to_a_later_attempt() -> None:
    producers = TransactionalProducers()
    first = lend(producers, "a")
    assert lend(producers, "a") is not first  # its transaction belongs to this attempt
    assert lend(producers, "b", "another") is not first
    assert lend(producers, "b", timeout_ms=1) is not first
    assert lend(producers, "b") is first
    assert first.calls == ["init", "begin"] * 2


@pytest.mark.parametrize("run", ["another run", None])
def test_a_transactional_id_is_not_used_by_another_run(run: str | None) -> None:
    """An older driver that has listed its open transaction may be paused, and abort it by its id later."""
    producers = TransactionalProducers()
    names = {lend(producers, "a").configs["transactional_id"] for _ in range(task._MOST_IDLE + 3)}
    later = [lend(producers, "b", run=run) for _ in range(task._MOST_IDLE + 3)]
    assert names.isdisjoint(each.configs["transactional_id"] for each in later)
    assert all(each.calls[-1] == ("close", 0) for each in Producer.made if each not in later)  # none of them is kept


def test_a_batch_write_reuses_ids_of_a_committed_batch_write() -> None:
    producers = TransactionalProducers()
    committed, left = lend(producers, "a", run=None), lend(producers, "a", run=None)
    assert lend(producers, "b", run=None, committed=(identity(committed),)) is committed
    names = [each.configs["transactional_id"] for each in (committed, left)]
    assert lend(producers, "b", run=None, committed=(identity(left),)).configs["transactional_id"] not in names


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, GeneratorExit])
def test_a_failed_producer_is_aborted_and_not_lent_again(error: type[BaseException]) -> None:
    producers = TransactionalProducers()
    with pytest.raises(error), producers.borrow(CONFIGS, "p", plan("a"), "run"):
        raise error
    assert Producer.made[0].calls == ["init", "begin", ("close", task._ABORT_S)]
    assert lend(producers, "b") is not Producer.made[0]


def test_a_disallowed_timeout_is_reported_with_its_option(monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    monkeypatch.setattr(Producer, "failure", InvalidTransactionTimeoutError())
    with pytest.raises(KafkaConfigurationError, match=r"60000 ms.*'kafka\.transaction\.timeout\.ms'"):
        lend(TransactionalProducers(), "a")
    assert "could not be closed cleanly" in caplog.text


def test_surplus_producers_are_closed_without_ending_transactions() -> None:
    producers = TransactionalProducers()
    made = [lend(producers, "a") for _ in range(task._MOST_IDLE + 1)]
    assert [each.calls[2:] for each in made] == [[("close", 0)]] + [[]] * task._MOST_IDLE
    producers.close()
    producers.close()
    assert all(each.calls[2:] == [("close", 0)] for each in made)
    assert lend(producers, "b") not in made


def test_attempts_with_many_tasks_reuse_ids() -> None:
    producers = TransactionalProducers()
    count = task._MOST_IDLE * 3
    names = {}
    for token in ("a", "b", "c"):
        names[token] = [lend(producers, token).configs["transactional_id"] for _ in range(count)]
        assert len(set(names[token])) == count  # each task of an attempt has its own transaction
    assert set(names["a"]) == set(names["b"]) == set(names["c"])
    assert not {lend(producers, "d", "another").configs["transactional_id"] for _ in range(count)} & set(names["a"])
    assert {lend(producers, "e").configs["transactional_id"] for _ in range(count)} == set(names["a"])


def test_an_id_with_an_open_transaction_is_not_reused_by_its_attempt() -> None:
    producers = TransactionalProducers()
    names: list[str] = []
    for token, prefix in (("a", "p"), ("d", "another"), ("a", "p")):
        names += [lend(producers, token, prefix).configs["transactional_id"] for _ in range(task._MOST_IDLE * 3)]
    assert len(set(names)) == len(names)


def test_a_forked_process_has_its_own_producers_and_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    producers = TransactionalProducers()
    first = lend(producers, "a")
    monkeypatch.setattr("os.getpid", lambda: -1)
    other = lend(producers, "b")
    assert other is not first
    assert other.configs["transactional_id"] != first.configs["transactional_id"]
