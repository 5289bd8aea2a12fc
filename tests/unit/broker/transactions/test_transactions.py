"""Transactions over the wire, in both versions: fencing, writes, reads, offsets, timeouts, and restarts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kafka.broker import EmbeddedBroker
from kafka.broker.error_codes import ErrorCode
from kafka.wire.api.add_offsets_to_txn import AddOffsetsToTxnRequest
from kafka.wire.api.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from kafka.wire.api.describe_transactions import DescribeTransactionsRequest
from kafka.wire.api.end_txn import EndTxnRequest
from kafka.wire.api.init_producer_id import InitProducerIdRequest
from kafka.wire.api.list_transactions import ListTransactionsRequest
from kafka.wire.api.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup, OffsetFetchRequestTopics
from kafka.wire.api.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from unit.broker.batches import make_batch
from unit.broker.requests import create, fetch_request, fetched, produce_request, produced
from unit.broker.wireclient import WireClient

E = ErrorCode
Producer = tuple[int, int]


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[WireClient]:
    async with EmbeddedBroker(tmp_path) as broker, WireClient(broker) as client:
        await create(client, "t", 2)
        yield client


async def init(client: WireClient, version: int = 4, timeout_ms: int = 60_000, **has: int) -> tuple[int, Producer]:
    request = InitProducerIdRequest(transactional_id="x", transaction_timeout_ms=timeout_ms, **has)
    answer = await client.call(request, version)
    return answer.error_code, (answer.producer_id, answer.producer_epoch)


async def add(client: WireClient, producer: Producer, version: int = 3) -> int:
    request = AddPartitionsToTxnRequest(
        v3_and_below_transactional_id="x",
        v3_and_below_producer_id=producer[0],
        v3_and_below_producer_epoch=producer[1],
        v3_and_below_topics=[AddPartitionsToTxnTopic(name="t", partitions=[0])],
    )
    answer = await client.call(request, version)
    return answer.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code


async def write(client: WireClient, producer: Producer, version: int, sequence: int = 0) -> int:
    request = produce_request("t", make_batch([b"v"], producer=(*producer, sequence), transactional=True))
    request.transactional_id = "x"
    return produced(await client.call(request, version)).error_code


async def end(client: WireClient, producer: Producer, committed: bool, version: int) -> tuple[int, Producer]:
    request = EndTxnRequest(
        transactional_id="x", producer_id=producer[0], producer_epoch=producer[1], committed=committed
    )
    answer = await client.call(request, version)
    return answer.error_code, (answer.producer_id, answer.producer_epoch)


async def stable(client: WireClient) -> tuple[int, int, list[tuple[int, int]]]:
    """Return the last stable offset, the high watermark, and the aborted transactions in a committed read."""
    found = fetched(await client.call(fetch_request("t", isolation_level=1), 11))
    aborted = [(one.producer_id, one.first_offset) for one in found.aborted_transactions or ()]
    return found.last_stable_offset, found.high_watermark, aborted


async def test_version_1_accepts_batches_only_of_added_partitions(client: WireClient) -> None:
    _, producer = await init(client)
    assert await write(client, producer, 9) == E.INVALID_TXN_STATE
    assert await write(client, producer, 11) == E.TRANSACTION_ABORTABLE
    assert await add(client, producer) == 0
    assert await write(client, producer, 11) == 0
    assert await stable(client) == (0, 1, [])
    assert (await end(client, producer, False, 4))[0] == 0
    assert await stable(client) == (2, 2, [(producer[0], 0)])
    assert (await end(client, producer, False, 4))[0] == 0
    assert (await end(client, producer, True, 4))[0] == E.INVALID_TXN_STATE


async def test_version_2_adds_partitions_on_write_and_increments_the_epoch(client: WireClient) -> None:
    _, producer = await init(client)
    assert await write(client, producer, 12) == 0
    following = (producer[0], producer[1] + 1)
    assert await end(client, producer, True, 5) == (0, following)
    assert await end(client, producer, True, 5) == (0, following)
    assert await end(client, producer, False, 5) == (E.INVALID_TXN_STATE, (-1, -1))
    assert await write(client, producer, 12, 1) == E.INVALID_PRODUCER_EPOCH
    assert await write(client, following, 12) == 0
    assert await stable(client) == (2, 3, [])


async def test_a_new_producer_fences_the_old_one_and_aborts(client: WireClient) -> None:
    _, old = await init(client)
    assert await write(client, old, 12) == 0
    assert (await init(client))[0] == E.CONCURRENT_TRANSACTIONS
    code, new = await init(client)
    assert (code, new[0], new[1] > old[1]) == (0, old[0], True)
    assert await stable(client) == (2, 2, [(old[0], 0)])
    assert await add(client, old, 1) == E.INVALID_PRODUCER_EPOCH
    assert await add(client, old, 3) == E.PRODUCER_FENCED
    assert (await end(client, old, True, 4))[0] == E.PRODUCER_FENCED
    assert (await init(client, producer_id=old[0] + 1, producer_epoch=0))[0] == E.PRODUCER_FENCED


async def test_a_recovering_producer_sends_its_id_and_epoch(client: WireClient) -> None:
    _, producer = await init(client)
    has = {"producer_id": producer[0], "producer_epoch": producer[1]}
    assert await init(client, **has) == (0, (producer[0], 1))
    assert await init(client, **has) == (0, (producer[0], 1))
    assert (await init(client, producer_id=producer[0], producer_epoch=-1))[0] == E.INVALID_REQUEST


async def test_transaction_timeouts_are_limited(client: WireClient) -> None:
    assert (await init(client, timeout_ms=900_001))[0] == E.INVALID_TRANSACTION_TIMEOUT
    assert (await init(client, timeout_ms=0))[0] == E.INVALID_TRANSACTION_TIMEOUT


async def test_an_open_transaction_survives_a_crash(tmp_path: Path) -> None:
    async with EmbeddedBroker(tmp_path) as broker:
        async with WireClient(broker) as client:
            await create(client, "t", 2)
            _, producer = await init(client)
            assert await write(client, producer, 12) == 0
        await broker.restart_async()
        async with WireClient(broker) as client:
            assert await stable(client) == (0, 1, [])
            listed = await client.call(ListTransactionsRequest(), 1)
            assert [one.transaction_state for one in listed.transaction_states] == ["Ongoing"]
            described = await client.call(DescribeTransactionsRequest(transactional_ids=["x", "y"]), 0)
            assert [one.error_code for one in described.transaction_states] == [0, E.TRANSACTIONAL_ID_NOT_FOUND]
            assert (await end(client, producer, True, 5))[0] == 0
            assert await stable(client) == (2, 2, [])


async def offset(client: WireClient, require_stable: bool) -> tuple[int, int]:
    asked = OffsetFetchRequestGroup(group_id="g", topics=[OffsetFetchRequestTopics(name="t", partition_indexes=[0])])
    answer = await client.call(OffsetFetchRequest(groups=[asked], require_stable=require_stable), 8)
    found = answer.groups[0].topics[0].partitions[0]
    return found.error_code, found.committed_offset


async def commit_offset(client: WireClient, producer: Producer, value: int, version: int) -> int:
    row = TxnOffsetCommitRequestPartition(partition_index=0, committed_offset=value, committed_metadata="")
    request = TxnOffsetCommitRequest(
        transactional_id="x",
        group_id="g",
        producer_id=producer[0],
        producer_epoch=producer[1],
        topics=[TxnOffsetCommitRequestTopic(name="t", partitions=[row])],
    )
    return (await client.call(request, version)).topics[0].partitions[0].error_code


@pytest.mark.parametrize("committed", [True, False])
async def test_offsets_stay_pending_across_a_crash(tmp_path: Path, committed: bool) -> None:
    async with EmbeddedBroker(tmp_path) as broker:
        async with WireClient(broker) as client:
            await create(client, "t", 2)
            _, producer = await init(client)
            assert await commit_offset(client, producer, 7, 3) == E.INVALID_TXN_STATE
            added = AddOffsetsToTxnRequest(
                transactional_id="x", producer_id=producer[0], producer_epoch=producer[1], group_id="g"
            )
            assert (await client.call(added, 3)).error_code == 0
            assert await commit_offset(client, producer, 7, 3) == 0
        await broker.restart_async()
        async with WireClient(broker) as client:
            assert await offset(client, True) == (E.UNSTABLE_OFFSET_COMMIT, -1)
            assert await offset(client, False) == (0, -1)
            assert (await end(client, producer, committed, 4))[0] == 0
            assert await offset(client, True) == (0, 7 if committed else -1)


def test_the_last_written_offset_counts_regardless_of_decision_order() -> None:
    from kafka.broker.groups.group_offsets import CommittedOffset, GroupOffsets

    offsets, first = GroupOffsets(), ("t", 0)
    offsets.commit_pending(1, {first: CommittedOffset(1, -1, "")})
    offsets.commit({first: CommittedOffset(2, -1, "")})
    offsets.end_pending(1, committed=True)
    assert offsets.committed[first].offset == 2
