"""Transactions on a virtual clock: timeouts of open transactions, and expiry of unused ids."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka.broker.error_codes import ErrorCode
from kafka.broker.transactions.transaction_metadata import TransactionState
from kafka.wire.api.create_topics import CreatableTopic, CreateTopicsRequest
from kafka.wire.api.delete_topics import DeleteTopicsRequest, DeleteTopicState
from unit.broker.transactional import NAME, TOPIC, TransactionalBroker

DAY_S = 86_400.0


@pytest.mark.parametrize("version", [1, 2])
def test_a_transaction_is_aborted_on_timeout(tmp_path: Path, version: int) -> None:
    txn = TransactionalBroker(tmp_path, version, timeout_ms=10_000)
    assert [txn.init(), txn.write(0, [b"late"]), txn.commit_offset(7)] == [0, 0, 0]
    began_as = txn.producer
    txn.clock.advance(6)
    assert txn.write(1, [b"more"]) == 0  # does not extend the timeout
    txn.clock.advance(3.9)
    assert txn.known.state is TransactionState.ONGOING
    assert not txn.is_stable()
    txn.clock.advance(0.2)
    assert txn.known.state is TransactionState.COMPLETE_ABORT
    assert txn.is_stable()
    assert [txn.committed_values(0), txn.committed_values(1), txn.committed_offset()] == [[], [], -1]
    assert txn.known.producer_epoch == began_as[1] + 1
    assert txn.write(0, [b"too late"]) == (
        ErrorCode.PRODUCER_FENCED if version == 1 else ErrorCode.INVALID_PRODUCER_EPOCH
    )
    assert txn.end(True) == (ErrorCode.PRODUCER_FENCED if version == 1 else ErrorCode.INVALID_TXN_STATE)


@pytest.mark.parametrize("version", [1, 2])
def test_the_timeout_continues_across_a_restart(tmp_path: Path, version: int) -> None:
    txn = TransactionalBroker(tmp_path, version, timeout_ms=10_000)
    assert [txn.init(), txn.write(0, [b"v"])] == [0, 0]
    txn.clock.advance(8)
    txn.restart()
    txn.clock.advance(1.9)
    assert txn.known.state is TransactionState.ONGOING
    txn.clock.advance(0.2)
    assert txn.known.state is TransactionState.COMPLETE_ABORT


def test_a_transaction_that_timed_out_while_stopped_is_aborted_at_start(tmp_path: Path) -> None:
    txn = TransactionalBroker(tmp_path, timeout_ms=10_000)
    assert [txn.init(), txn.write(0, [b"v"])] == [0, 0]
    txn.broker.crash(lose_unsynced=False)
    txn.clock.advance(60)
    txn.broker = txn._started()
    txn.clock.advance(0)
    assert txn.known.state is TransactionState.COMPLETE_ABORT
    assert txn.is_stable()


def test_an_ended_transaction_has_no_timeout(tmp_path: Path) -> None:
    txn = TransactionalBroker(tmp_path, timeout_ms=10_000)
    assert [txn.init(), txn.write(0, [b"1"]), txn.end(True)] == [0, 0, 0]
    txn.clock.advance(9)
    assert txn.write(0, [b"2"]) == 0  # starts another timeout of ten seconds
    txn.clock.advance(9)
    assert txn.known.state is TransactionState.ONGOING
    assert txn.end(True) == 0
    txn.clock.advance(60)
    assert txn.committed_values(0) == [b"1", b"2"]
    assert txn.known.state is TransactionState.COMPLETE_COMMIT


def clean(txn: TransactionalBroker) -> None:
    """Run the broker's periodic cleanup."""
    for _ in txn.broker.clean():
        pass


@pytest.mark.parametrize("used", [False, True])
def test_an_unused_transactional_id_expires_after_a_week(tmp_path: Path, used: bool) -> None:
    txn = TransactionalBroker(tmp_path)
    assert txn.init() == 0
    before = txn.producer
    if used:
        assert [txn.write(0, [b"v"]), txn.end(True)] == [0, 0]
    txn.clock.advance(7 * DAY_S - 1)
    clean(txn)
    assert NAME in txn.broker.transactions.known
    txn.clock.advance(1)
    clean(txn)
    assert NAME not in txn.broker.transactions.known
    txn.restart()
    assert NAME not in txn.broker.transactions.known
    assert txn.write(0, [b"v"]) == ErrorCode.INVALID_PRODUCER_ID_MAPPING
    assert txn.init() == 0
    assert txn.producer[1] == 0
    assert txn.producer[0] != before[0]


def test_a_used_transactional_id_does_not_expire(tmp_path: Path) -> None:
    txn = TransactionalBroker(tmp_path, transactional_id_expiration_ms=20_000, timeout_ms=900_000)
    assert txn.init() == 0
    for _ in range(4):
        txn.clock.advance(15)
        assert [txn.write(0, [b"v"]), txn.end(True)] == [0, 0]
        clean(txn)
    assert txn.write(0, [b"v"]) == 0
    txn.clock.advance(60)  # open, and therefore in use
    clean(txn)
    assert txn.end(True) == 0
    assert txn.committed_values(0) == [b"v"] * 5


@pytest.mark.parametrize("committed", [False, True])
@pytest.mark.parametrize("version", [1, 2])
def test_a_transaction_ends_after_its_topic_was_recreated_smaller(
    tmp_path: Path, version: int, committed: bool
) -> None:
    txn = TransactionalBroker(tmp_path, version)
    assert [txn.init(), txn.write(0, [b"gone"]), txn.write(1, [b"gone"])] == [0, 0, 0]
    txn.call(DeleteTopicsRequest(topics=[DeleteTopicState(name=TOPIC)]), 6)
    row = CreatableTopic(name=TOPIC, num_partitions=1, replication_factor=1)
    txn.call(CreateTopicsRequest(topics=[row]), 7)
    assert txn.end(committed) == 0
    assert txn.known.state is (TransactionState.COMPLETE_COMMIT if committed else TransactionState.COMPLETE_ABORT)
    assert [txn.init(), txn.write(0, [b"new"]), txn.end(True)] == [0, 0, 0]
    assert txn.committed_values(0) == [b"new"]
