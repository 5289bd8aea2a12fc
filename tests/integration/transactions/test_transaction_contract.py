"""What a broker answers to the requests of transactions, in and out of place: the embedded one as Apache Kafka does."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from integration.transactions.transactional_wire import CONCURRENT, TransactionalWire
from integration.wire_support import Wire, coordinator
from kafka.wire.api.describe_transactions import DescribeTransactionsRequest
from kafka.wire.api.list_transactions import ListTransactionsRequest

if TYPE_CHECKING:
    from conftest import Broker, MakeTopic

INVALID_EPOCH, FENCED = 47, 90
INVALID_STATE, NO_MAPPING, ABORTABLE = 48, 49, 120


@pytest.fixture
def wire(broker: Broker) -> Iterator[Wire]:
    with contextlib.closing(Wire(broker.bootstrap_servers)) as connected:
        coordinator(connected)
        coordinator(connected, key_type=1)
        yield connected


@pytest.fixture
def txn(wire: Wire, make_topic: MakeTopic) -> TransactionalWire:
    return TransactionalWire(wire, make_topic())


def knows_fenced(version: int, since: int) -> int:
    """What a producer that was replaced is told: only newer versions have a code of its own (KIP-588)."""
    return FENCED if version >= since else INVALID_EPOCH


# -- InitProducerId ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [0, 2, 3, 5])
def test_a_name_and_a_timeout_have_to_be_possible(txn: TransactionalWire, version: int) -> None:
    assert txn.init(version, transactional_id="") == 42
    assert [txn.init(version, transaction_timeout_ms=each) for each in (0, -1, 900_001)] == [50, 50, 50]
    assert [(txn.init(version), txn.epoch) for _ in range(3)] == [(0, 0), (0, 1), (0, 2)]


@pytest.mark.parametrize("version", [3, 4, 5])
def test_a_producer_that_recovers_has_to_be_the_latest(txn: TransactionalWire, version: int) -> None:
    fenced = knows_fenced(version, 4)
    txn.init(version)
    known = txn.producer_id

    def recover(producer_id: int, epoch: int) -> tuple[int, int, bool]:
        code = txn.init(version, producer_id=producer_id, producer_epoch=epoch)
        return code, txn.epoch, txn.producer_id == known

    assert txn.init(version, producer_id=known) == 42  # without an epoch
    assert txn.init(version, producer_epoch=0) == 42
    assert recover(known, 0) == (0, 1, True)
    assert recover(known, 0) == (0, 1, True)  # the first answer may have been lost
    assert recover(known, 1) == (0, 2, True)
    assert recover(known, 0) == (fenced, 2, True)
    assert recover(known, 9) == (fenced, 2, True)
    assert recover(known + 1_000_000, 2) == (fenced, 2, True)
    txn.name = f"forgotten-{uuid.uuid4()}"
    assert recover(known, 5) == (0, 0, False)


@pytest.mark.parametrize("version", [2, 4, 5])
def test_an_open_transaction_is_aborted_first(txn: TransactionalWire, version: int) -> None:
    txn.init(version)
    txn.add()
    assert txn.init_once(version) == CONCURRENT
    assert (txn.init(version), txn.epoch) == (0, 2)
    found = txn.described()
    assert (found.transaction_state, found.producer_epoch, found.topics) == ("Empty", 2, [])


# -- AddPartitionsToTxn, AddOffsetsToTxn ------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [0, 1, 2, 3])
def test_partitions_are_added_all_or_none(txn: TransactionalWire, version: int) -> None:
    fenced = knows_fenced(version, 2)
    assert txn.add(version, producer_id=5, producer_epoch=0) == [NO_MAPPING]
    txn.init()
    txn.init()
    assert txn.add(version, transactional_id="") == [42]
    assert txn.add(version, producer_id=txn.producer_id + 1_000_000) == [NO_MAPPING]
    assert [txn.add(version, producer_epoch=txn.epoch + more) for more in (-1, 1)] == [[fenced], [fenced]]
    assert txn.add(version, ((txn.topic, 0), ("no-such-topic", 0), (txn.topic, 7))) == [55, 3, 3]
    assert txn.add(version, ((txn.topic, 0), ("__consumer_offsets", 0))) == [55, 29]
    assert txn.described().transaction_state == "Empty"
    assert [txn.add(version), txn.add(version)] == [[0], [0]]
    found = txn.described()
    assert (found.transaction_state, [each.topic for each in found.topics]) == ("Ongoing", [txn.topic])


@pytest.mark.parametrize("version", [4, 5])
def test_brokers_add_and_verify_partitions(txn: TransactionalWire, version: int) -> None:
    assert txn.add_batched(False, version, producer_id=3, producer_epoch=0) == [0, NO_MAPPING]
    assert txn.add_batched(True, version, producer_id=3, producer_epoch=0) == [0, NO_MAPPING]
    txn.init()
    assert txn.add_batched(False, version, transactional_id="") == [0, 42]
    assert txn.add_batched(True, version) == [0, ABORTABLE]
    for verify_only in (False, True):
        assert txn.add_batched(verify_only, version, producer_epoch=3) == [0, FENCED]
        assert txn.add_batched(verify_only, version, producer_id=txn.producer_id + 1_000_000) == [0, NO_MAPPING]
    assert txn.add_batched(False, version) == [0, 0]
    assert txn.add_batched(True, version) == [0, 0]
    assert (txn.end(True, 5), txn.epoch) == (0, 1)
    assert txn.add_batched(True, version) == [0, ABORTABLE]


@pytest.mark.parametrize("version", [0, 1, 2, 3, 4])
def test_offsets_are_added_as_partitions_are(txn: TransactionalWire, version: int) -> None:
    fenced = knows_fenced(version, 2)
    assert txn.add_offsets(version, producer_id=5, producer_epoch=0) == NO_MAPPING
    txn.init()
    assert txn.add_offsets(version, transactional_id="") == 42
    assert txn.add_offsets(version, producer_id=txn.producer_id + 1_000_000) == NO_MAPPING
    assert txn.add_offsets(version, producer_epoch=txn.epoch + 1) == fenced
    assert txn.add_offsets(version, group_id="") == 0
    assert txn.add_offsets(version) == 0
    assert {each.topic for each in txn.described().topics} == {"__consumer_offsets"}


# -- TxnOffsetCommit --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("version", "not_added"), [(0, 48), (2, 48), (3, 48), (4, ABORTABLE), (5, 0)])
def test_offsets_are_stored_within_a_transaction(txn: TransactionalWire, version: int, not_added: int) -> None:
    assert txn.commit_offsets(version, producer_id=5, producer_epoch=0) == NO_MAPPING
    txn.init()
    assert txn.commit_offsets(version, group_id="") == 24
    assert txn.commit_offsets(version, transactional_id="") == 42
    assert txn.commit_offsets(version, producer_id=txn.producer_id + 1_000_000) == NO_MAPPING
    assert txn.commit_offsets(version, producer_epoch=txn.epoch + 1) == INVALID_EPOCH
    assert txn.described().transaction_state == "Empty"
    assert txn.commit_offsets(version) == not_added
    assert txn.described().transaction_state == ("Ongoing" if version == 5 else "Empty")
    txn.add_offsets()
    assert txn.commit_offsets(version, topic="no-such-topic") == 3
    assert txn.commit_offsets(version, number=9) == 3
    assert txn.commit_offsets(version, metadata="x" * 4097) == 12
    if version >= 3:
        assert txn.commit_offsets(version, generation_id_or_member_epoch=5, member_id="m") == 25
        assert txn.commit_offsets(version, member_id="m") == 0
        assert txn.commit_offsets(version, group_instance_id="i") == 0
    assert txn.commit_offsets(version) == 0
    assert txn.end(True, 4 if version < 5 else 5) == 0


# -- EndTxn -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [0, 1, 2, 3, 4, 5])
def test_a_transaction_with_nothing_in_it_cannot_be_committed(txn: TransactionalWire, version: int) -> None:
    assert txn.end(True, version, producer_id=5, producer_epoch=0) == NO_MAPPING
    txn.init()
    assert txn.end(True, version, transactional_id="") == 42
    assert (txn.end(True, version), txn.epoch) == (INVALID_STATE, 0)
    aborted = [(txn.end(False, version), txn.epoch) for _ in range(2)]
    assert aborted == ([(0, 1), (0, 2)] if version == 5 else [(INVALID_STATE, 0)] * 2)


@pytest.mark.parametrize("committed", [True, False])
@pytest.mark.parametrize("version", [0, 1, 2, 4, 5])
def test_a_transaction_ends_once_however_often_it_is_asked(
    txn: TransactionalWire, version: int, committed: bool
) -> None:
    fenced = knows_fenced(version, 2)
    txn.init()
    txn.init()
    txn.add()
    began = txn.epoch
    assert txn.end(committed, version, producer_id=txn.producer_id + 1_000_000) == NO_MAPPING
    assert [txn.end(committed, version, producer_epoch=began + more) for more in (-1, 1)] == [fenced, fenced]
    ended = began + (version == 5)
    assert (txn.end(committed, version), txn.epoch) == (0, ended)
    found = txn.described()
    assert found.transaction_state == ("CompleteCommit" if committed else "CompleteAbort")
    assert found.producer_epoch == ended
    assert (txn.end(committed, version, producer_epoch=began), txn.epoch) == (0, ended)
    assert (txn.end(not committed, version, producer_epoch=began), txn.epoch) == (INVALID_STATE, ended)
    if version < 5:
        assert (txn.end(committed, version), txn.epoch) == (0, ended)
        by_version_2 = txn.end(committed, 5, producer_epoch=began)
        assert by_version_2 == (INVALID_STATE if committed else 0)
    else:
        assert txn.end(committed, 4, producer_epoch=began) == FENCED
        assert txn.end(committed, version) == (INVALID_STATE if committed else 0)


# -- Produce ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("version", "code"), [(3, 48), (8, 48), (11, ABORTABLE), (12, 0), (13, 0)])
def test_a_batch_of_a_partition_that_was_not_added(txn: TransactionalWire, version: int, code: int) -> None:
    txn.init()
    assert txn.produce(version) == code
    assert txn.described().transaction_state == ("Ongoing" if code == 0 else "Empty")


@pytest.mark.parametrize("version", [3, 9, 11, 12, 13])
def test_batches_out_of_place_are_refused(txn: TransactionalWire, version: int) -> None:
    txn.init()
    txn.init()
    txn.add()
    assert txn.produce(version, transactional_id=None) == 53
    assert txn.produce(version, transactional_id=f"other-{uuid.uuid4()}") == NO_MAPPING
    assert txn.produce(version, producer_id=txn.producer_id + 1_000_000) == NO_MAPPING
    assert [txn.produce(version, producer_epoch=txn.epoch + more) for more in (-1, 1)] == [INVALID_EPOCH] * 2
    assert txn.produce(version, sequence=5) == 45
    assert txn.produce(version) == 0
    assert txn.produce(version, sequence=0) == 0  # the same again
    assert txn.produce(version, sequence=5) == 45
    assert [txn.produce(version, producer_epoch=txn.epoch + more, sequence=0) for more in (-1, 1)] == [
        INVALID_EPOCH
    ] * 2
    assert txn.produce(version, producer_id=-1, producer_epoch=-1, sequence=-1) == 0
    assert txn.stable()[:2] == (0, 2)


@pytest.mark.parametrize(("version", "late"), [(3, 48), (9, 48), (11, ABORTABLE), (12, INVALID_EPOCH)])
def test_a_batch_that_comes_after_the_end_is_refused(txn: TransactionalWire, version: int, late: int) -> None:
    txn.init()
    txn.add()
    assert txn.produce(version) == 0
    assert txn.stable() == (0, 1, [])
    began = txn.epoch
    assert (txn.end(False, 5 if version >= 12 else 4), txn.epoch) == (0, began + (version >= 12))
    txn.described()
    assert txn.stable() == (2, 2, [(txn.producer_id, 0)])
    assert txn.stable(isolation_level=0) == (2, 2, [])
    assert txn.produce(version, producer_epoch=began, sequence=1) == late


# -- ListTransactions, DescribeTransactions ---------------------------------------------------------------------------


def listed(txn: TransactionalWire, version: int, **filters: Any) -> tuple[int, list[str], list[str]]:
    """The error, the states that it does not know, and the state of this transactional id if it is listed."""
    answer = txn.wire.call(ListTransactionsRequest(**filters), version)
    found = [each.transaction_state for each in answer.transaction_states if each.transactional_id == txn.name]
    return answer.error_code, sorted(answer.unknown_state_filters), found


@pytest.mark.parametrize("version", [0, 1, 2])
def test_transactions_are_listed_by_state_and_producer(txn: TransactionalWire, version: int) -> None:
    others = [
        "Ongoing",
        "PrepareEpochFence",
        "Dead",
        "PrepareCommit",
        "PrepareAbort",
        "CompleteCommit",
        "CompleteAbort",
    ]
    txn.init()
    assert listed(txn, version) == (0, [], ["Empty"])
    assert listed(txn, version, state_filters=["Empty", "Nope", "empty"]) == (0, ["Nope", "empty"], ["Empty"])
    assert listed(txn, version, state_filters=others) == (0, [], [])
    assert listed(txn, version, producer_id_filters=[txn.producer_id]) == (0, [], ["Empty"])
    assert listed(txn, version, producer_id_filters=[txn.producer_id + 1_000_000]) == (0, [], [])


def test_transactions_are_listed_by_how_long_they_are_open(txn: TransactionalWire) -> None:
    txn.init()
    for milliseconds in (0, 10_000_000):  # nothing that is open began later than never
        assert listed(txn, 1, duration_filter=milliseconds) == (0, [], ["Empty"])
    txn.add()
    assert listed(txn, 1, duration_filter=10_000_000) == (0, [], [])
    assert listed(txn, 1, duration_filter=-2) == (0, [], ["Ongoing"])
    assert listed(txn, 2, duration_filter=10_000_000) == (0, [], [])


def test_transactions_are_listed_by_a_pattern_of_their_whole_names(txn: TransactionalWire) -> None:
    txn.init()
    found = (0, [], ["Empty"])
    for pattern in (txn.name, txn.name[:10] + ".*", "id-[0-9a-f-]*", "", None):
        assert listed(txn, 2, transactional_id_pattern=pattern) == found, pattern
    for pattern in (txn.name[:10], "ID-.*"):
        assert listed(txn, 2, transactional_id_pattern=pattern) == (0, [], []), pattern
    for pattern in ("*", "("):
        assert listed(txn, 2, transactional_id_pattern=pattern) == (128, [], []), pattern


def test_transactions_that_are_not_there_are_described_by_an_error(txn: TransactionalWire) -> None:
    for name, code in (("", 42), (f"unknown-{uuid.uuid4()}", 105)):
        (found,) = txn.wire.call(DescribeTransactionsRequest(transactional_ids=[name]), 0).transaction_states
        assert (found.error_code, found.transactional_id, found.transaction_state) == (code, name, "")
        assert (found.producer_id, found.producer_epoch, found.transaction_start_time_ms) == (0, 0, 0)


def test_a_transaction_is_described_before_and_after_its_end(txn: TransactionalWire) -> None:
    txn.init(transaction_timeout_ms=12_345)
    found = txn.described()
    assert (found.error_code, found.transaction_state, found.transaction_timeout_ms) == (0, "Empty", 12_345)
    assert (found.transaction_start_time_ms, found.producer_epoch, found.topics) == (-1, 0, [])
    txn.add()
    began = txn.described().transaction_start_time_ms
    assert began > 0
    txn.end(True)
    found = txn.described()
    assert (found.transaction_state, found.transaction_start_time_ms, found.topics) == ("CompleteCommit", began, [])


# -- WriteTxnMarkers --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("committed", [True, False])
@pytest.mark.parametrize("version", [1, 2])
def test_markers_end_a_transaction_in_one_partition(txn: TransactionalWire, version: int, committed: bool) -> None:
    txn.init()
    txn.init()
    txn.add()
    assert txn.produce() == 0
    assert txn.mark(committed, version, topic="no-such-topic") == 3
    assert txn.mark(committed, version, producer_epoch=txn.epoch - 1) == INVALID_EPOCH
    assert txn.mark(committed, version, producer_id=txn.producer_id + 1_000_000) == 0
    assert txn.mark(committed, version, topic="__consumer_offsets") == 0
    assert txn.mark(committed, version) == 0
    assert txn.stable() == (3, 3, [] if committed else [(txn.producer_id, 0)])
    assert [txn.mark(committed, version), txn.stable()[:2]] == [0, (4, 4)]
    assert txn.mark(committed, 2, transaction_version=2) == 0
    assert txn.mark(committed, version, producer_epoch=txn.epoch + 1) == 0
    assert txn.mark(committed, version, producer_epoch=txn.epoch + 1, coordinator_epoch=-1) == 52
    assert txn.described().transaction_state == "Ongoing"  # the coordinator does not know
    assert txn.end(committed) == 0
