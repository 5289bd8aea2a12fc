"""Transactions of a producer, on brokers in memory: what is sent to whom, in both versions of transactions."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from fakes.cluster import SILENCE
from kafka.cluster import Backoff
from kafka.errors import (
    CommitFailedError,
    ConcurrentTransactionsError,
    CoordinatorLoadInProgressError,
    CoordinatorNotAvailableError,
    GroupAuthorizationFailedError,
    IllegalArgumentError,
    IllegalStateError,
    InvalidProducerEpochError,
    InvalidProducerIdMappingError,
    InvalidTransactionTimeoutError,
    InvalidTxnStateError,
    KafkaConnectionError,
    KafkaTimeoutError,
    MessageSizeTooLargeError,
    NotCoordinatorError,
    OutOfOrderSequenceNumberError,
    ProducerFencedError,
    RequestTimedOutError,
    TopicAuthorizationFailedError,
    TransactionAbortableError,
    TransactionAbortedError,
    TransactionFatalError,
    UnknownMemberIdError,
    UnsupportedVersionError,
)
from kafka.producer.transactions.state_machine import TransactionIdentity, TransactionState
from kafka.producer.transactions.two_phase_commit import end_all
from kafka.structs import ConsumerGroupMetadata, OffsetAndMetadata, TopicPartition
from unit.producer.fake_producer import FakeProducer, producing
from unit.producer.producing_cluster import Fault
from unit.producer.transaction_cluster import FEATURE, TransactionalCluster, offsets_answer, partitions_answer
from unit.virtual_loop import simulate

Scenario = Callable[[FakeProducer], Coroutine[Any, Any, None]]
both_versions = pytest.mark.parametrize("version", [1, 2])
OFFSETS = {TopicPartition("in", 0): OffsetAndMetadata(7, "note", 3)}


def run(cluster: TransactionalCluster, scenario: Scenario, **configs: Any) -> None:
    """A scenario with a producer that has its id."""

    async def whole() -> None:
        async with producing(cluster, **{"transactional_id": "x", **configs}) as producer:
            await producer.init_transactions()
            await scenario(producer)

    simulate(whole)


# The requests of a transaction


def test_in_version_1_partitions_are_added_before_they_are_written_to_and_the_epoch_stays() -> None:
    cluster = TransactionalCluster(version=1)

    async def scenario(producer: FakeProducer) -> None:
        for value in (b"a", b"b"):
            async with producer.transaction():
                for partition in (0, 1):
                    await producer.send(value, partition=partition)

    run(cluster, scenario)
    assert cluster.apis() == ["InitProducerId", *(["AddPartitionsToTxn", "Produce", "EndTxn"] * 2)]
    assert cluster.versions_of("Produce") == {11}
    assert cluster.versions_of("AddPartitionsToTxn") == {3}
    assert cluster.versions_of("EndTxn") == {4}
    assert [request.transactional_id for _, request in cluster.produced] == ["x", "x"]
    assert cluster.ended == [("x", 0, True), ("x", 0, True)]
    told = [(each.producer_id, each.producer_epoch, each.base_sequence) for each in cluster.headers]
    assert told == [(1000, 0, 0), (1000, 0, 0), (1000, 0, 1), (1000, 0, 1)]
    assert all(each.is_transactional for each in cluster.headers)


def test_in_version_2_produce_adds_partitions_and_each_transaction_has_a_new_epoch() -> None:
    cluster = TransactionalCluster(version=2)

    async def scenario(producer: FakeProducer) -> None:
        for value in (b"a", b"b"):
            async with producer.transaction():
                for partition in (0, 1):
                    await producer.send(value, partition=partition)

    run(cluster, scenario)
    assert cluster.apis() == ["InitProducerId", *(["Produce", "EndTxn"] * 2)]
    assert cluster.versions_of("Produce") == {13}
    assert cluster.versions_of("EndTxn") == {5}
    assert cluster.ended == [("x", 0, True), ("x", 1, True)]
    told = [(each.producer_id, each.producer_epoch, each.base_sequence) for each in cluster.headers]
    assert told == [(1000, 0, 0), (1000, 0, 0), (1000, 1, 0), (1000, 1, 0)]
    assert all(each.is_transactional for each in cluster.headers)


def test_an_epoch_is_requested_before_the_first_transaction_of_version_2() -> None:
    cluster = TransactionalCluster(brokers=2, version=1)
    cluster.lead(0, 1, 1)
    cluster.lead(1, 2, 1)

    async def scenario(producer: FakeProducer) -> None:
        async with producer.transaction():
            await producer.send(b"a", partition=0)
            cluster.features[FEATURE] = 2
            await cluster.connection(2)  # which tells of it
            assert producer.transaction_identity.transaction_version == 1
        async with producer.transaction():
            await producer.send(b"b", partition=1)

    run(cluster, scenario)
    assert cluster.apis() == [
        *("InitProducerId", "AddPartitionsToTxn", "Produce", "EndTxn"),
        *("InitProducerId", "Produce", "EndTxn"),
    ]
    assert [call.version for call in cluster.calls if call.api == "EndTxn"] == [4, 5]
    assert cluster.ended == [("x", 0, True), ("x", 1, True)]


@both_versions
def test_an_empty_transaction_sends_no_requests(version: int) -> None:
    cluster = TransactionalCluster(version=version)

    async def scenario(producer: FakeProducer) -> None:
        async with producer.transaction():
            pass
        await producer.begin_transaction()
        await producer.send_offsets_to_transaction({}, "g")
        assert await producer.prepare_transaction() is None
        await producer.abort_transaction()

    run(cluster, scenario)
    assert cluster.apis() == ["InitProducerId"]


@both_versions
def test_offsets_go_to_the_coordinator_of_their_group(version: int) -> None:
    cluster = TransactionalCluster(version=version)

    async def scenario(producer: FakeProducer) -> None:
        async with producer.transaction():
            await producer.send_offsets_to_transaction(OFFSETS, ConsumerGroupMetadata("g", 5, "m", "i"))
        async with producer.transaction():
            await producer.send_offsets_to_transaction(OFFSETS, consumer_group_id="other")

    run(cluster, scenario)
    added = ["AddOffsetsToTxn"] if version == 1 else []
    assert cluster.apis() == ["InitProducerId", *([*added, "TxnOffsetCommit", "EndTxn"] * 2)]
    assert cluster.versions_of("TxnOffsetCommit") == {4 if version == 1 else 5}
    first, second = cluster.requests("TxnOffsetCommit")
    assert (first.group_id, first.generation_id_or_member_epoch, first.member_id, first.group_instance_id) == (
        *("g", 5, "m"),
        "i",
    )
    assert (second.group_id, second.generation_id_or_member_epoch, second.member_id) == ("other", -1, "")
    (topic,) = first.topics
    (partition,) = topic.partitions
    assert (topic.name, partition.partition_index, partition.committed_offset) == ("in", 0, 7)
    assert (partition.committed_metadata, partition.committed_leader_epoch) == ("note", 3)
    assert [outcome for *_, outcome in cluster.ended] == [True, True]


def test_an_old_coordinator_cannot_check_a_membership() -> None:
    cluster = TransactionalCluster(version=1)
    cluster.versions["TxnOffsetCommit"] = (0, 2)

    async def scenario(producer: FakeProducer) -> None:
        await producer.begin_transaction()
        await producer.send_offsets_to_transaction(OFFSETS, "g")
        with pytest.raises(TransactionAbortableError) as caught:
            await producer.send_offsets_to_transaction(OFFSETS, ConsumerGroupMetadata("g", 5, "m"))
        assert isinstance(caught.value.__cause__, UnsupportedVersionError)
        await producer.abort_transaction()

    run(cluster, scenario)


@pytest.mark.parametrize("group", ["", ConsumerGroupMetadata(None), 3, None])
def test_a_group_without_a_name_is_refused(group: Any) -> None:
    async def scenario(producer: FakeProducer) -> None:
        await producer.begin_transaction()
        with pytest.raises(IllegalArgumentError, match="group"):
            await producer.send_offsets_to_transaction(OFFSETS, group)
        with pytest.raises(IllegalArgumentError, match="offsets to commit"):
            await producer.send_offsets_to_transaction({TopicPartition("in", 0): 7}, "g")  # type: ignore[dict-item]
        with pytest.raises(IllegalArgumentError, match="use either group_metadata or consumer_group_id, not both"):
            await producer.send_offsets_to_transaction(OFFSETS, "g", consumer_group_id="g")
        await producer.abort_transaction()

    run(TransactionalCluster(), scenario)


# Sending outside of a transaction


@both_versions
def test_records_are_accepted_only_in_an_open_transaction(version: int) -> None:
    cluster = TransactionalCluster(version=version)

    async def scenario(producer: FakeProducer) -> None:
        with pytest.raises(IllegalStateError, match=r"send\(\) is not possible.*READY.*begin_transaction\(\)"):
            await producer.send(b"x", partition=0)
        await producer.begin_transaction()
        await producer.send(b"a", partition=0)
        assert await producer.prepare_transaction() is not None
        with pytest.raises(IllegalStateError, match=r"PREPARED.*commit_transaction\(\)"):
            await producer.send(b"x", partition=0)
        await producer.commit_transaction()
        with pytest.raises(IllegalStateError, match="READY"):
            await producer.send(b"x", partition=1)
        assert await producer.partitions_for("t") == {0, 1}
        async with producer.transaction():
            await producer.send(b"b", partition=0)

    run(cluster, scenario)
    assert cluster.log(0).values == [b"a", b"b"]


async def test_arrow_rows_are_accepted_only_in_an_open_transaction() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    rows = pyarrow.table({"value": pyarrow.array([b"a", b"b"]), "partition": pyarrow.array([0, 0])})
    cluster = TransactionalCluster()
    async with producing(cluster, transactional_id="x") as producer:
        await producer.init_transactions()
        with pytest.raises(IllegalStateError, match="READY"):
            await producer.send_arrow("t", rows)
        async with producer.transaction():
            await producer.send_arrow("t", rows)
    assert cluster.log(0).values == [b"a", b"b"]
    (header,) = cluster.headers
    assert (header.is_transactional, header.producer_id, header.base_sequence) == (True, 1000, 0)


def test_a_batch_that_is_too_large_is_split_within_its_transaction() -> None:
    cluster = TransactionalCluster()
    cluster.max_batch_bytes = 300

    async def scenario(producer: FakeProducer) -> None:
        async with producer.transaction():
            for _ in range(8):
                await producer.send(b"v" * 50, partition=0)

    run(cluster, scenario, linger_ms=5)
    assert len(cluster.log(0).values) == 8
    assert len(cluster.headers) > 1
    assert all(each.is_transactional for each in cluster.headers)
    assert cluster.ended == [("x", 0, True)]


def test_a_producer_without_the_option_has_no_transactions() -> None:
    async def whole() -> None:
        async with producing(TransactionalCluster()) as producer:
            with pytest.raises(IllegalStateError, match="need the option 'transactional_id'"):
                await producer.init_transactions()
            with pytest.raises(IllegalStateError, match="transactional_id"):
                producer.transaction_identity  # noqa: B018

    simulate(whole)


# Aborting


@both_versions
def test_an_abort_drops_waiting_records(version: int) -> None:
    cluster = TransactionalCluster(version=version)

    async def scenario(producer: FakeProducer) -> None:
        await producer.begin_transaction()
        sent = await producer.send(b"sent", partition=0)
        await sent
        cluster.faults.append(Fault(delay=1, error=RequestTimedOutError))
        on_its_way = await producer.send(b"on its way", partition=0)
        await asyncio.sleep(0.5)
        waiting = await producer.send(b"waiting", partition=1)
        before = len(cluster.produced)
        await producer.abort_transaction()
        assert len(cluster.produced) <= before + 1, "what was out"
        with pytest.raises(TransactionAbortedError):
            await on_its_way
        with pytest.raises(TransactionAbortedError):
            await waiting
        assert (await sent).offset == 0
        async with producer.transaction():
            await producer.send(b"next", partition=0)

    run(cluster, scenario, linger_ms=100, max_in_flight_requests_per_connection=1)
    assert [outcome for *_, outcome in cluster.ended] == [False, True]
    assert cluster.headers[-1].producer_epoch == 1
    assert cluster.headers[-1].base_sequence == 0


def test_failures_of_an_aborted_transaction_are_neither_logged_nor_raised(caplog: pytest.LogCaptureFixture) -> None:
    cluster = TransactionalCluster()

    async def scenario(producer: FakeProducer) -> None:
        await producer.begin_transaction()
        cluster.faults.append(Fault(error=TopicAuthorizationFailedError))
        await producer.send(b"refused", partition=0)
        with pytest.raises(TransactionAbortableError):
            await producer.commit_transaction()
        await producer.abort_transaction()
        async with producer.transaction():
            await producer.send(b"fine", partition=0)
        await producer.flush()

    with caplog.at_level(logging.WARNING):
        run(cluster, scenario)
    assert not [each for each in caplog.messages if "not delivered" in each]


@both_versions
def test_a_lost_record_makes_the_transaction_abortable(version: int) -> None:
    cluster = TransactionalCluster(version=version)

    async def scenario(producer: FakeProducer) -> None:
        await producer.begin_transaction()
        cluster.faults.append(Fault(error=TopicAuthorizationFailedError))
        lost = await producer.send(b"lost", partition=0)
        with pytest.raises(TopicAuthorizationFailedError):
            await lost
        with pytest.raises(TransactionAbortableError) as caught:
            await producer.send(b"x", partition=1)
        assert isinstance(caught.value.__cause__, TopicAuthorizationFailedError)
        for call in (producer.commit_transaction, producer.prepare_transaction):
            with pytest.raises(TransactionAbortableError):
                await call()
        with pytest.raises(IllegalStateError, match="abort_transaction"):
            await producer.begin_transaction()
        await producer.abort_transaction()
        async with producer.transaction():
            await producer.send(b"next", partition=0)

    run(cluster, scenario)
    assert [outcome for *_, outcome in cluster.ended] == [False, True]
    asked = cluster.requests("InitProducerId")
    if version == 1:  # numbers were used that the broker has not seen (KIP-360)
        assert [(each.producer_id, each.producer_epoch) for each in asked] == [(-1, -1), (1000, 0)]
    else:
        assert len(asked) == 1
    assert (cluster.headers[-1].producer_epoch, cluster.headers[-1].base_sequence) == (1, 0)


@both_versions
def test_a_sequence_gap_fails_the_transaction_and_requires_a_new_epoch(version: int) -> None:
    cluster = TransactionalCluster(version=version)

    async def scenario(producer: FakeProducer) -> None:
        await producer.begin_transaction()
        await (await producer.send(b"a", partition=0))
        cluster.faults.append(Fault(error=OutOfOrderSequenceNumberError))
        await producer.send(b"b", partition=0)
        with pytest.raises(TransactionAbortableError, match="OutOfOrder"):
            await producer.commit_transaction()
        await producer.abort_transaction()
        async with producer.transaction():
            await producer.send(b"c", partition=0)

    run(cluster, scenario)
    assert cluster.log(0).values == [b"a", b"c"]
    assert cluster.headers[-1].producer_epoch == 1


def test_old_coordinators_provide_no_new_epoch() -> None:
    cluster = TransactionalCluster(version=1)
    cluster.versions["InitProducerId"] = (0, 2)

    async def scenario(producer: FakeProducer) -> None:
        await producer.begin_transaction()
        cluster.faults.append(Fault(error=TopicAuthorizationFailedError))
        await producer.send(b"lost", partition=0)
        with pytest.raises(TransactionAbortableError):
            await producer.commit_transaction()
        with pytest.raises(TransactionFatalError, match="versions 0 to 2"):
            await producer.abort_transaction()
        assert producer.transaction_state is TransactionState.FATAL

    run(cluster, scenario)


def test_an_oversized_record_makes_the_transaction_abortable() -> None:
    cluster = TransactionalCluster()

    async def scenario(producer: FakeProducer) -> None:
        await producer.begin_transaction()
        await producer.send(b"fine", partition=0)
        await producer.send(b"x" * 2_000, partition=0)
        with pytest.raises(TransactionAbortableError) as caught:
            await producer.commit_transaction()
        assert isinstance(caught.value.__cause__, MessageSizeTooLargeError)
        await producer.abort_transaction()

    run(cluster, scenario, max_request_size=1_000)
    assert cluster.ended == [("x", 0, False)]


def test_an_expired_record_makes_the_transaction_abortable() -> None:
    cluster = TransactionalCluster()

    async def scenario(producer: FakeProducer) -> None:
        await producer.begin_transaction()
        cluster.faults.extend(Fault(error=RequestTimedOutError, only=0) for _ in range(100))
        await producer.send(b"late", partition=0)
        with pytest.raises(TransactionAbortableError) as caught:
            await producer.commit_transaction()
        assert isinstance(caught.value.__cause__, KafkaTimeoutError)
        cluster.faults.clear()
        await producer.abort_transaction()

    run(cluster, scenario, delivery_timeout_ms=500)
    assert cluster.ended == [("x", 0, False)]


# What coordinators say


def coded(answer: Callable[[Any, int], Any], code: int) -> Callable[[Any], Any]:
    return lambda call: answer(call.request, code)


@both_versions
def test_retriable_errors_of_the_coordinator_are_retried(version: int) -> None:
    cluster = TransactionalCluster(version=version)
    passing = (
        NotCoordinatorError.errno,
        CoordinatorNotAvailableError.errno,
        CoordinatorLoadInProgressError.errno,
        KafkaConnectionError("lost"),
        ConcurrentTransactionsError.errno,
    )

    async def scenario(producer: FakeProducer) -> None:
        cluster.script("EndTxn", *passing)
        cluster.script("AddOffsetsToTxn", *passing)
        codes = [each for each in passing if isinstance(each, int)]
        cluster.script("TxnOffsetCommit", *(coded(offsets_answer, code) for code in codes))
        cluster.script("AddPartitionsToTxn", *(coded(partitions_answer, code) for code in codes))
        async with producer.transaction():
            await producer.send(b"a", partition=0)
            await producer.send_offsets_to_transaction(OFFSETS, "g")

    cluster.script("InitProducerId", *passing)
    run(cluster, scenario)
    assert [outcome for *_, outcome in cluster.ended] == [True]
    assert len(cluster.requests("InitProducerId")) == len(cluster.requests("EndTxn")) == len(passing) + 1
    assert cluster.forgotten >= 4


def test_concurrent_transactions_are_retried_after_a_short_pause() -> None:
    cluster = TransactionalCluster()
    cluster.script("InitProducerId", *[ConcurrentTransactionsError.errno] * 8)

    async def scenario(producer: FakeProducer) -> None:
        times = cluster.times("InitProducerId")
        pauses = [after - before for before, after in itertools.pairwise(times)]
        assert max(pauses) < 0.07
        await producer.begin_transaction()
        cluster.faults.extend(Fault(error=ConcurrentTransactionsError) for _ in range(3))
        await producer.send(b"a", partition=0)
        await producer.commit_transaction()
        times = cluster.times("Produce")
        assert len(times) == 4
        assert times[-1] - times[0] < 0.1

    run(cluster, scenario)


@both_versions
@pytest.mark.parametrize("error", [ProducerFencedError, InvalidProducerEpochError])
def test_a_fenced_producer_is_unusable(version: int, error: Any) -> None:
    cluster = TransactionalCluster(version=version)

    async def scenario(producer: FakeProducer) -> None:
        await producer.begin_transaction()
        await producer.send(b"a", partition=0)
        cluster.script("EndTxn", error.errno)
        for call in (producer.commit_transaction, producer.abort_transaction, producer.begin_transaction):
            with pytest.raises(ProducerFencedError, match="another producer with this transactional_id"):
                await call()
        with pytest.raises(ProducerFencedError):
            await producer.send(b"b", partition=0)
        assert producer.transaction_state is TransactionState.FATAL

    run(cluster, scenario)
    assert cluster.ended == []


@both_versions
def test_the_newer_of_two_producers_continues(version: int) -> None:
    cluster = TransactionalCluster(version=version)

    async def scenario(producer: FakeProducer) -> None:
        await producer.begin_transaction()
        await (await producer.send(b"old", partition=0))
        async with producing(cluster, transactional_id="x") as newer:
            await newer.init_transactions()
            with pytest.raises(ProducerFencedError):
                await producer.commit_transaction()
            async with newer.transaction():
                await newer.send(b"new", partition=0)

    run(cluster, scenario)
    assert cluster.ended == [("x", 1, True)]


def test_a_failed_batch_reveals_a_fenced_producer() -> None:
    cluster = TransactionalCluster()

    async def scenario(producer: FakeProducer) -> None:
        await producer.begin_transaction()
        async with producing(cluster, transactional_id="x") as newer:
            await newer.init_transactions()
            await producer.send(b"old", partition=0)
            with pytest.raises(TransactionAbortableError, match="InvalidProducerEpoch"):
                await producer.commit_transaction()
            with pytest.raises(ProducerFencedError):
                await producer.abort_transaction()

    run(cluster, scenario)
    assert cluster.log(0).values == []


@pytest.mark.parametrize("version", [1, 2])
def test_a_timed_out_transaction(version: int) -> None:
    cluster = TransactionalCluster(version=version)

    async def scenario(producer: FakeProducer) -> None:
        await producer.begin_transaction()
        await (await producer.send(b"a", partition=0))
        cluster.time_out("x")
        if version == 1:
            with pytest.raises(ProducerFencedError, match="timed out"):
                await producer.commit_transaction()
            return
        with pytest.raises(TransactionAbortableError) as caught:
            await producer.commit_transaction()
        assert isinstance(caught.value.__cause__, InvalidTxnStateError)
        await producer.abort_transaction()
        async with producer.transaction():
            await producer.send(b"b", partition=0)

    run(cluster, scenario)
    assert [outcome for *_, outcome in cluster.ended] == ([] if version == 1 else [True])


@both_versions
def test_a_forgotten_producer_id_is_replaced(version: int) -> None:
    cluster = TransactionalCluster(version=version)

    async def scenario(producer: FakeProducer) -> None:
        await producer.begin_transaction()
        await (await producer.send(b"a", partition=0))
        cluster.script("EndTxn", *[InvalidProducerIdMappingError.errno] * 2)
        with pytest.raises(TransactionAbortableError):
            await producer.commit_transaction()
        await producer.abort_transaction()
        async with producer.transaction():
            await producer.send(b"b", partition=0)

    run(cluster, scenario)
    assert [(each.producer_id, each.producer_epoch) for each in cluster.requests("InitProducerId")] == [
        (-1, -1),
        (1000, 0),
    ]


@pytest.mark.parametrize("error", [TopicAuthorizationFailedError, InvalidProducerIdMappingError])
def test_a_partition_that_cannot_be_added_makes_the_transaction_abortable(error: Any) -> None:
    cluster = TransactionalCluster(version=1)

    async def scenario(producer: FakeProducer) -> None:
        await producer.begin_transaction()
        cluster.script("AddPartitionsToTxn", coded(partitions_answer, error.errno))
        future = await producer.send(b"a", partition=0)
        with pytest.raises(TransactionAbortableError, match="partition 0 of topic 't'") as caught:
            await producer.commit_transaction()
        assert isinstance(caught.value.__cause__, error)
        with pytest.raises(TransactionAbortedError):
            await future
        await producer.abort_transaction()
        async with producer.transaction():
            await producer.send(b"b", partition=0)

    run(cluster, scenario)
    assert cluster.ended == [("x", 0, True)], "there was nothing to abort"


@both_versions
@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (GroupAuthorizationFailedError, GroupAuthorizationFailedError),
        (UnknownMemberIdError, CommitFailedError),
    ],
)
def test_offsets_that_cannot_be_committed_make_the_transaction_abortable(version: int, error: Any, cause: Any) -> None:
    cluster = TransactionalCluster(version=version)

    async def scenario(producer: FakeProducer) -> None:
        await producer.begin_transaction()
        cluster.script("TxnOffsetCommit", coded(offsets_answer, error.errno))
        with pytest.raises(TransactionAbortableError) as caught:
            await producer.send_offsets_to_transaction(OFFSETS, "g")
        assert isinstance(caught.value.__cause__, cause)
        with pytest.raises(TransactionAbortableError):
            await producer.commit_transaction()
        await producer.abort_transaction()

    run(cluster, scenario)
    assert [outcome for *_, outcome in cluster.ended] == [False]


@both_versions
@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ("asked again", CoordinatorLoadInProgressError.errno),
        ("refused for another reason", GroupAuthorizationFailedError.errno),
    ],
)
def test_waiting_offsets_fail_with_the_error_of_a_refused_record(version: int, answer: str, code: int) -> None:
    cluster = TransactionalCluster(version=version)

    async def refuse_later(call: Any) -> Any:
        await asyncio.sleep(0.5)
        return offsets_answer(call.request, code)

    async def scenario(producer: FakeProducer) -> None:
        await producer.begin_transaction()
        cluster.faults.append(Fault(delay=0.1, error=TopicAuthorizationFailedError))
        cluster.serve("TxnOffsetCommit", refuse_later)
        lost = await producer.send(b"lost", partition=0)
        with pytest.raises(TransactionAbortableError, match="must be aborted") as caught:
            await producer.send_offsets_to_transaction(OFFSETS, "g")
        assert isinstance(caught.value.__cause__, TopicAuthorizationFailedError)
        with pytest.raises(TopicAuthorizationFailedError):
            await lost
        await producer.abort_transaction()
        async with producer.transaction():
            await producer.send(b"next", partition=0)

    run(cluster, scenario)
    assert [outcome for *_, outcome in cluster.ended] == [False, True], answer
    assert cluster.log(0).values == [b"next"]


@both_versions
def test_waiting_offsets_end_when_another_caller_aborts(version: int) -> None:
    cluster = TransactionalCluster(version=version)

    async def scenario(producer: FakeProducer) -> None:
        await producer.begin_transaction()
        cluster.script("TxnOffsetCommit", *[coded(offsets_answer, CoordinatorLoadInProgressError.errno)] * 1_000)
        waiting = asyncio.ensure_future(producer.send_offsets_to_transaction(OFFSETS, "g"))
        await asyncio.sleep(1)
        await producer.abort_transaction()
        with pytest.raises(TransactionAbortedError, match="is being aborted"):
            await waiting

    run(cluster, scenario)
    assert [outcome for *_, outcome in cluster.ended] == [False]


def test_a_refused_id_may_be_requested_again() -> None:
    cluster = TransactionalCluster()

    async def whole() -> None:
        async with producing(cluster, transactional_id="x", transaction_timeout_ms=12_345) as producer:
            cluster.script("InitProducerId", InvalidTransactionTimeoutError.errno)
            with pytest.raises(InvalidTransactionTimeoutError):
                await producer.init_transactions()
            assert producer.transaction_state is TransactionState.UNINITIALIZED
            await producer.init_transactions()
            assert producer.transaction_state is TransactionState.READY

    simulate(whole)
    assert {each.transaction_timeout_ms for each in cluster.requests("InitProducerId")} == {12_345}


# Calls that are interrupted


@pytest.mark.parametrize("call", ["commit_transaction", "abort_transaction"])
def test_a_timed_out_call_can_be_repeated_to_continue_waiting(call: str) -> None:
    cluster = TransactionalCluster()

    async def scenario(producer: FakeProducer) -> None:
        await producer.begin_transaction()
        await (await producer.send(b"a", partition=0))
        cluster.script("EndTxn", SILENCE)
        with pytest.raises(KafkaTimeoutError, match=rf"{call}\(\) was not done within max_block_ms \(1000\)"):
            await getattr(producer, call)()
        with pytest.raises(IllegalStateError, match=rf"{call}\(\) again"):
            await producer.begin_transaction()
        other = {"commit_transaction": "abort_transaction", "abort_transaction": "commit_transaction"}[call]
        with pytest.raises(IllegalStateError, match=rf"{call}\(\) again"):
            await getattr(producer, other)()
        while True:
            try:
                await getattr(producer, call)()
                break
            except KafkaTimeoutError:
                continue
        await getattr(producer, call)()  # it has succeeded: nothing is done
        await producer.begin_transaction()
        with pytest.raises(IllegalStateError, match="READY" if call == "init_transactions" else "OPEN"):
            await producer.begin_transaction()
        await producer.abort_transaction()

    run(cluster, scenario, max_block_ms=1_000)
    assert len(cluster.requests("EndTxn")) == 2
    assert [outcome for *_, outcome in cluster.ended] == [call == "commit_transaction"]


def test_a_cancelled_commit_continues() -> None:
    cluster = TransactionalCluster()

    async def scenario(producer: FakeProducer) -> None:
        await producer.begin_transaction()
        cluster.faults.append(Fault(delay=5))
        future = await producer.send(b"a", partition=0)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1):
                await producer.commit_transaction()
        assert producer.transaction_state is TransactionState.COMMITTING
        await producer.commit_transaction()
        assert (await future).offset == 0

    run(cluster, scenario)
    assert cluster.ended == [("x", 0, True)]


@both_versions
def test_an_abort_does_not_wait_for_unanswered_offsets(version: int) -> None:
    cluster = TransactionalCluster(version=version)

    async def scenario(producer: FakeProducer) -> None:
        await producer.begin_transaction()
        cluster.script("TxnOffsetCommit", *[coded(offsets_answer, CoordinatorLoadInProgressError.errno)] * 1_000)
        with pytest.raises(KafkaTimeoutError, match="send_offsets_to_transaction"):
            await producer.send_offsets_to_transaction(OFFSETS, "g")
        asked = len(cluster.requests("TxnOffsetCommit"))
        await producer.abort_transaction()
        assert len(cluster.requests("TxnOffsetCommit")) <= asked + 1

    run(cluster, scenario, max_block_ms=2_000)
    assert [outcome for *_, outcome in cluster.ended] == [False]


# Blocks


def test_a_block_that_raises_is_aborted() -> None:
    cluster = TransactionalCluster()

    async def scenario(producer: FakeProducer) -> None:
        async def block() -> None:
            async with producer.transaction():
                await (await producer.send(b"a", partition=0))
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            await block()
        assert producer.transaction_state is TransactionState.READY

    run(cluster, scenario)
    assert cluster.ended == [("x", 0, False)]


def test_a_block_that_cannot_be_committed_is_aborted_and_raises() -> None:
    cluster = TransactionalCluster()

    async def scenario(producer: FakeProducer) -> None:
        async def block() -> None:
            async with producer.transaction():
                cluster.faults.append(Fault(error=TopicAuthorizationFailedError))
                await producer.send(b"a", partition=0)

        with pytest.raises(TransactionAbortableError):
            await block()
        async with producer.transaction():
            await producer.send(b"b", partition=0)

    run(cluster, scenario)
    assert [outcome for *_, outcome in cluster.ended] == [False, True]


def test_a_block_raises_its_own_error_even_if_the_abort_fails(caplog: pytest.LogCaptureFixture) -> None:
    cluster = TransactionalCluster()

    async def scenario(producer: FakeProducer) -> None:
        async def block() -> None:
            async with producer.transaction():
                await (await producer.send(b"a", partition=0))
                cluster.script("EndTxn", ProducerFencedError.errno)
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            await block()
        with pytest.raises(ProducerFencedError):
            await producer.begin_transaction()

    run(cluster, scenario)
    assert any("aborting a transaction whose block has failed" in each for each in caplog.messages)


def test_a_block_may_end_its_own_transaction() -> None:
    cluster = TransactionalCluster()

    async def scenario(producer: FakeProducer) -> None:
        async with producer.transaction():
            await (await producer.send(b"a", partition=0))
            await producer.abort_transaction()

    run(cluster, scenario)
    assert cluster.ended == [("x", 0, False)]


# Closing, and ending from elsewhere


@both_versions
def test_closing_aborts_an_open_transaction(version: int) -> None:
    cluster = TransactionalCluster(version=version)

    async def scenario(producer: FakeProducer) -> None:
        await producer.begin_transaction()
        await producer.send(b"a", partition=0)
        await producer.flush()
        unsent = await producer.send(b"b", partition=1)
        await producer.close()
        with pytest.raises(TransactionAbortedError):
            await unsent

    run(cluster, scenario, linger_ms=1_000_000)
    assert [outcome for *_, outcome in cluster.ended] == [False]


def test_closing_waits_for_a_commit() -> None:
    cluster = TransactionalCluster()

    async def scenario(producer: FakeProducer) -> None:
        await producer.begin_transaction()
        cluster.faults.append(Fault(delay=3))
        await producer.send(b"a", partition=0)
        committing = asyncio.ensure_future(producer.commit_transaction())
        await asyncio.sleep(1)
        await producer.close()
        await committing

    run(cluster, scenario)
    assert cluster.ended == [("x", 0, True)]


def test_closing_does_not_wait_forever_for_a_silent_coordinator() -> None:
    cluster = TransactionalCluster()

    async def scenario(producer: FakeProducer) -> None:
        await producer.begin_transaction()
        await (await producer.send(b"a", partition=0))
        cluster.script("EndTxn", *[SILENCE] * 100)
        await producer.close()
        assert producer.core.is_closed

    run(cluster, scenario, max_block_ms=5_000)
    assert cluster.ended == []


@both_versions
@pytest.mark.parametrize("commit", [True, False])
def test_a_prepared_transaction_outlives_its_producer_and_is_ended_by_its_identity(version: int, commit: bool) -> None:
    cluster = TransactionalCluster(version=version)
    found: list[TransactionIdentity] = []

    async def scenario(producer: FakeProducer) -> None:
        await producer.begin_transaction()
        await producer.send(b"a", partition=0)
        prepared = await producer.prepare_transaction()
        assert prepared is not None
        assert prepared == producer.transaction_identity == await producer.prepare_transaction()
        assert cluster.log(0).values == [b"a"]
        found.append(prepared)

    async def elsewhere() -> None:
        other = TransactionalCluster(version=version)
        other.transactions = cluster.transactions
        await other.start()
        backoff = Backoff(100, 1_000)
        for _ in range(2):  # again is the same
            assert await end_all(other, found, commit, 60_000, backoff) == {found[0]: None}
        ((_, error),) = (await end_all(other, found, not commit, 60_000, backoff)).items()
        assert isinstance(error, InvalidTxnStateError)
        async with producing(other, transactional_id="x") as newer:
            await newer.init_transactions()
            ((_, error),) = (await end_all(other, found, commit, 60_000, backoff)).items()
            assert isinstance(error, ProducerFencedError)
        assert other.ended == [("x", 0, commit)]
        assert other.versions_of("EndTxn") == {4 if version == 1 else 5}

    run(cluster, scenario)
    assert found == [TransactionIdentity("x", 1000, 0, version)]
    assert cluster.ended == [], "the producer is closed by now"
    simulate(elsewhere)


def test_a_timeout_of_one_transaction_does_not_hide_the_results_of_others() -> None:
    cluster = TransactionalCluster()

    async def scenario(producer: FakeProducer) -> None:
        await producer.begin_transaction()
        await producer.send(b"a", partition=0)
        prepared = await producer.prepare_transaction()
        assert prepared is not None
        gone = TransactionIdentity("x", 77, 0, 2)
        found = await end_all(cluster, [prepared, gone], True, 5_000, Backoff(100, 1_000))
        assert found[prepared] is None
        assert isinstance(found[gone], InvalidProducerIdMappingError)
        cluster.script("EndTxn", *[SILENCE] * 100)
        ((_, error),) = (await end_all(cluster, [prepared], True, 5_000, Backoff(100, 1_000))).items()
        assert isinstance(error, KafkaTimeoutError)
        assert "unknown" in str(error)

    run(cluster, scenario)


@both_versions
@pytest.mark.parametrize("ended", [True, False])
def test_init_makes_a_producer_ready_after_its_prepared_transaction_ended(version: int, ended: bool) -> None:
    cluster = TransactionalCluster(version=version)

    async def scenario(producer: FakeProducer) -> None:
        await producer.begin_transaction()
        await producer.send(b"a", partition=0)
        prepared = await producer.prepare_transaction()
        assert prepared is not None
        if ended:
            assert await end_all(cluster, [prepared], True, 60_000, Backoff(100, 1_000)) == {prepared: None}
        await producer.init_transactions()
        await producer.begin_transaction()
        await producer.send(b"b", partition=0)
        following = await producer.prepare_transaction()
        assert following is not None
        assert following.producer_epoch > prepared.producer_epoch
        await producer.commit_transaction()

    run(cluster, scenario)
    assert [commit for _, _, commit in cluster.ended][-1] is True
    assert len([commit for _, _, commit in cluster.ended if commit]) == 1 + ended


INTERRUPTED = {
    "commit_transaction": (TransactionState.READY, [("x", 0, True)]),
    "abort_transaction": (TransactionState.READY, [("x", 0, False)]),
    "prepare_transaction": (TransactionState.PREPARED, []),
    "send_offsets_to_transaction": (TransactionState.OPEN, []),
}


@pytest.mark.slow
@both_versions
@pytest.mark.parametrize("call", INTERRUPTED)
def test_a_call_cancelled_anywhere_can_be_repeated_and_runs_once(call: str, version: int) -> None:
    turns = range(0, 60, 3)
    turn = cancelled = 0

    async def scenario(producer: FakeProducer) -> None:
        nonlocal cancelled
        arguments = (OFFSETS, "g") if call == "send_offsets_to_transaction" else ()
        await producer.begin_transaction()
        future = await producer.send(b"v")
        if call == "abort_transaction":  # else there may be nothing to abort
            await future
        interrupted = asyncio.ensure_future(getattr(producer, call)(*arguments))
        for _ in range(turn):
            await asyncio.sleep(0.0005)
        interrupted.cancel()
        outcome = (await asyncio.gather(interrupted, return_exceptions=True))[0]
        cancelled += isinstance(outcome, asyncio.CancelledError)
        if isinstance(outcome, asyncio.CancelledError):
            await getattr(producer, call)(*arguments)
        state, ended = INTERRUPTED[call]
        assert producer.transaction_state is state
        assert producer.cluster.ended == ended  # type: ignore[attr-defined]
        if state is not TransactionState.READY:
            await producer.commit_transaction()
        async with producer.transaction():  # and it goes on
            await producer.send(b"next")

    for each in turns:
        turn = each
        run(TransactionalCluster(version=version), scenario)
    assert 0 < cancelled < len(turns)


# Metrics


def test_the_time_of_successful_calls_is_counted() -> None:
    cluster = TransactionalCluster()
    times: dict[str, float] = {}

    async def scenario(producer: FakeProducer) -> None:
        async with producer.transaction():
            await producer.send(b"a")
            await producer.send_offsets_to_transaction(OFFSETS, "g")
        await producer.begin_transaction()
        await producer.abort_transaction()
        before = producer.metrics()["producer-metrics"]
        with pytest.raises(IllegalStateError):
            await producer.commit_transaction()
        times.update(producer.metrics()["producer-metrics"])
        assert times["txn-commit-time-ns-total"] == before["txn-commit-time-ns-total"]

    run(cluster, scenario)
    for call in ("init", "send-offsets", "commit"):
        assert 0 < times[f"txn-{call}-time-ns-total"] < 1e9, call
    assert times["txn-begin-time-ns-total"] == times["txn-abort-time-ns-total"] == 0  # nothing was asked of a broker
