"""Transactions, leaders and quotas against scripted brokers: routing, retries, and hanging transactions."""

import time

import pytest

from kafka.admin import (
    AbortTransactionSpec,
    OffsetSpec,
    TransactionListing,
    TransactionState,
)
from kafka.errors import (
    InvalidProducerEpochError,
    InvalidRequestError,
    KafkaProtocolError,
    NoError,
    TransactionalIdNotFoundError,
    UnsupportedVersionError,
)
from kafka.structs import OffsetAndTimestamp, TopicPartition
from kafka.wire.api import describe_transactions, list_transactions
from kafka.wire.api.alter_client_quotas import AlterClientQuotasResponse, AlterClientQuotasResponseEntryData
from kafka.wire.api.list_offsets import ListOffsetsPartitionResponse, ListOffsetsResponse, ListOffsetsTopicResponse
from kafka.wire.api.write_txn_markers import (
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersResponse,
)

FIRST, SECOND = TopicPartition("t", 0), TopicPartition("t", 1)
HOUR_MS = 3_600_000


@pytest.fixture
def call(admin):
    """Return a function that calls a method of the client by its name."""
    return lambda name, *args, **named: getattr(admin, name)(*args, **named)


def listing(broker_id, state="Ongoing"):
    told = list_transactions.TransactionState(
        transactional_id=f"id-{broker_id}", producer_id=broker_id, transaction_state=state
    )
    return list_transactions.ListTransactionsResponse(transaction_states=[told])


def described(state="Ongoing", start_ms=-1, error_code=0):
    def answer(_, request):
        (name,) = request.transactional_ids
        told = describe_transactions.TransactionState(
            error_code=error_code,
            transactional_id=name,
            transaction_state=state,
            transaction_timeout_ms=60_000,
            transaction_start_time_ms=start_ms,
            producer_id=7,
            producer_epoch=1,
            topics=[describe_transactions.TopicData(topic="t", partitions=[1, 0])],
        )
        return describe_transactions.DescribeTransactionsResponse(transaction_states=[told])

    return answer


async def test_all_brokers_are_asked_for_their_transactions(call, cluster):
    for broker, state in zip(cluster.brokers, ("Ongoing", "SomethingNew"), strict=True):
        broker.on("ListTransactions", lambda *_, id=broker.node_id, state=state: listing(id, state))
    assert await call("list_transactions", state_filters=["ongoing"], producer_id_filters=[5]) == {
        1: [TransactionListing("id-1", 1, TransactionState.ONGOING)],
        2: [TransactionListing("id-2", 2, TransactionState.UNKNOWN)],
    }
    (request,) = cluster.brokers[0].requests("ListTransactions")
    assert (request.state_filters, request.producer_id_filters) == (["Ongoing"], [5])
    assert list(await call("list_transactions", broker_ids=[2])) == [2]


async def test_filters_that_a_broker_does_not_support_are_rejected(call, cluster):
    for broker in cluster.brokers:
        broker.versions[66] = (0, 0)
        broker.on("ListTransactions", lambda *_: listing(1))
    with pytest.raises(UnsupportedVersionError):
        await call("list_transactions", duration_filter_ms=5)
    with pytest.raises(UnsupportedVersionError):
        await call("list_transactions", transactional_id_pattern="a.*")


async def test_the_coordinator_describes_a_transaction(call, cluster):
    cluster.coordinator = 2
    cluster.brokers[1].on("DescribeTransactions", described())
    found = (await call("describe_transactions", ["a"]))["a"]
    assert (found.coordinator_id, found.state, found.producer_id) == (2, TransactionState.ONGOING, 7)
    assert found.topic_partitions == {FIRST, SECOND}
    cluster.brokers[1].on("DescribeTransactions", described(error_code=105))
    with pytest.raises(TransactionalIdNotFoundError, match="'b'"):
        await call("describe_transactions", ["b"])


@pytest.mark.parametrize(
    ("state", "age_ms", "hangs"),
    [
        ("Ongoing", HOUR_MS, True),
        ("Ongoing", 0, False),
        ("CompleteCommit", HOUR_MS, False),
        ("PrepareAbort", HOUR_MS, True),
    ],
)
async def test_transactions_open_for_too_long_are_hanging(call, cluster, state, age_ms, hangs):
    for broker in cluster.brokers:
        broker.on("ListTransactions", lambda *_: listing(1))
        broker.on("DescribeTransactions", described(state, int(time.time() * 1000) - age_ms))
    found = await call("find_hanging_transactions")
    assert [each["transactional_id"] for each in found] == (["id-1"] if hangs else [])
    assert all(each["topic_partitions"] == [FIRST, SECOND] for each in found)


async def test_an_abort_goes_to_the_leader_and_raises_its_error(call, cluster):
    codes = [0, 6, 0, 47]

    def answer(_, request):
        (marker,) = request.markers
        assert marker.transaction_result is False and marker.coordinator_epoch == -1  # noqa: PT018  # in a broker
        partition = WritableTxnMarkerPartitionResult(partition_index=1, error_code=codes.pop(0))
        topic = WritableTxnMarkerTopicResult(name="t", partitions=[partition])
        return WriteTxnMarkersResponse(markers=[WritableTxnMarkerResult(producer_id=7, topics=[topic])])

    cluster.brokers[1].on("WriteTxnMarkers", answer)
    spec = AbortTransactionSpec(SECOND, 7, 1)
    assert await call("abort_transaction", spec) is None
    assert await call("abort_transaction", spec) is None  # retried after "not the leader"
    assert codes == [47]
    with pytest.raises(InvalidProducerEpochError, match="t-1"):
        await call("abort_transaction", spec)


async def test_only_moved_partitions_are_requested_again(call, cluster):
    asked = []

    def answer(broker_id):
        def offsets(_, request):
            (topic,) = request.topics
            indexes = [each.partition_index for each in topic.partitions]
            asked.append((broker_id, indexes))
            moved = broker_id == 2
            if moved:
                cluster.leaders["t"][1] = (1, 1)
            partitions = [
                ListOffsetsPartitionResponse(
                    partition_index=index, error_code=6 if moved else 0, offset=5 + index, timestamp=-1, leader_epoch=3
                )
                for index in indexes
            ]
            return ListOffsetsResponse(topics=[ListOffsetsTopicResponse(name="t", partitions=partitions)])

        return offsets

    for broker in cluster.brokers:
        broker.on("ListOffsets", answer(broker.node_id))
    found = await call("list_partition_offsets", {FIRST: OffsetSpec.LATEST, SECOND: OffsetSpec.LATEST})
    assert found == {FIRST: OffsetAndTimestamp(5, -1, 3), SECOND: OffsetAndTimestamp(6, -1, 3)}
    assert (sorted(asked[:2]), asked[2:]) == ([(1, [0]), (2, [1])], [(1, [1])])


async def test_quotas_are_returned_in_the_requested_order(call, cluster):
    alice, everyone = {"user": "alice"}, {"user": None, "client-id": "c"}

    def answer(_, request):
        entries = [
            AlterClientQuotasResponseEntryData(entity=each.entity[::-1], error_code=42 if each.ops[0].remove else 0)
            for each in reversed(request.entries)
        ]
        return AlterClientQuotasResponse(entries=entries)

    for broker in cluster.brokers:
        broker.on("AlterClientQuotas", answer)
    changes = [(alice, {"producer_byte_rate": 5}), (everyone, {"producer_byte_rate": None})]
    assert await call("alter_client_quotas", changes) == [(alice, NoError), (everyone, InvalidRequestError)]
    for broker in cluster.brokers:
        broker.on("AlterClientQuotas", lambda *_: AlterClientQuotasResponse())
    with pytest.raises(KafkaProtocolError, match="2 entities"):
        await call("alter_client_quotas", changes)
