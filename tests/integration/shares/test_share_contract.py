"""What a share group's members are told, in raw messages, by the embedded broker and by Apache Kafka alike."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

import pytest

from integration.consumer_support import produce
from integration.shares.share_support import RawMember, data_of
from kafka import KafkaProducer

if TYPE_CHECKING:
    from conftest import Broker, MakeTopic

pytestmark = pytest.mark.needs(broker=(4, 2), why="share groups (KIP-932)")
ACCEPT, RELEASE, REJECT, RENEW = 1, 2, 3, 4
Joiner = Callable[[], Awaitable[RawMember]]


@pytest.fixture
async def members(broker: Broker, make_topic: MakeTopic) -> AsyncIterator[Joiner]:
    """Makes members of one group, which reads a topic from its beginning; locks last a second."""
    topic, group = make_topic(), f"share-{uuid.uuid4()}"
    async with AsyncExitStack() as stack:
        made: list[RawMember] = []

        async def join() -> RawMember:
            member = await stack.enter_async_context(RawMember(broker.bootstrap_servers, group, topic))
            is_first = not made
            made.append(member)
            if is_first:
                await member.configure(share_auto_offset_reset="earliest", share_record_lock_duration_ms=1000)
            answer = await member.join()
            assert answer.error_code == 0, answer
            if is_first:
                await member.assigned(answer)
            return member

        yield join


def fill(broker: Broker, member: RawMember, count: int, start: int = 0) -> None:
    produce(broker.bootstrap_servers, member.topic, 0, [b"%d" % number for number in range(start, start + count)])


async def test_membership(members: Joiner) -> None:
    one = await members()
    answer = await one.heartbeat(0, [one.topic])
    assert (answer.error_code, answer.member_id) == (0, one.id)
    answer = await one.assigned(answer)
    epoch, assigned = answer.member_epoch, answer.assignment
    assert assigned is not None
    assert [(t.topic_id, t.partitions) for t in assigned.topic_partitions] == [(one.topic_id, [0])]
    again = await one.heartbeat(epoch)
    assert (again.error_code, again.assignment) == (0, None)
    two = await members()
    changed = await one.heartbeat(epoch)
    while changed.member_epoch == epoch:
        await asyncio.sleep(0.1)
        changed = await one.heartbeat(epoch)
    assert changed.error_code == 0
    assert changed.member_epoch > epoch
    assert (await one.heartbeat(changed.member_epoch + 5)).error_code == 110
    assert (await two.heartbeat(-1)).member_epoch == -1
    assert (await two.heartbeat(2)).error_code == 25
    assert (await two.heartbeat(0)).error_code == 42, "the first one names topics"
    assert (await one.heartbeat(-2)).error_code == 42


async def test_records_are_acquired_accepted_and_never_given_again(members: Joiner, broker: Broker) -> None:
    one = await members()
    fill(broker, one, 10)
    assert await one.acquire() == [(0, 9, 1)]
    assert await one.acknowledge((0, 4, [ACCEPT]), (5, 9, [ACCEPT, REJECT, RELEASE, ACCEPT, RELEASE])) == 0
    assert await one.acquire() == [(7, 7, 2), (9, 9, 2)]
    assert await one.acknowledge((7, 7, [ACCEPT]), (9, 9, [ACCEPT])) == 0
    answer = await one.fetch(wait_ms=10)
    assert not [data for topic in answer.responses for data in topic.partitions if data.acquired_records]


async def test_acknowledgements_that_come_along_with_a_fetch(members: Joiner, broker: Broker) -> None:
    one = await members()
    fill(broker, one, 3)
    assert await one.acquire() == [(0, 2, 1)]
    answer = await one.fetch([(0, 2, [ACCEPT])], wait_ms=10)
    assert data_of(answer).acknowledge_error_code == 0
    answer = await one.fetch([(0, 2, [ACCEPT])], wait_ms=10)
    assert data_of(answer).acknowledge_error_code == 0, "what is done with for good is passed over"
    assert await one.acknowledge((0, 2, [RELEASE])) == 0
    assert await one.acquire(tries=2, wait_ms=10) == []


async def test_what_a_member_does_not_have_it_cannot_acknowledge(members: Joiner, broker: Broker) -> None:
    one, two = await members(), await members()
    fill(broker, one, 4)
    assert await one.acquire() == [(0, 3, 1)]
    await two.fetch(wait_ms=10)
    assert await two.acknowledge((0, 3, [ACCEPT])) == 121
    assert await one.acknowledge((0, 5, [ACCEPT])) == 42, "beyond what was ever acquired"
    assert await one.acknowledge((2, 2, [ACCEPT])) == 0
    assert await one.acknowledge((1, 2, [ACCEPT])) == 121, "the second of them twice"
    assert await one.acknowledge((1, 1, [ACCEPT])) == 0, "and nothing of it had happened"
    assert await one.acknowledge((0, 3, [9])) == 42
    assert await one.acknowledge((3, 3, [ACCEPT]), (0, 0, [ACCEPT])) == 42, "not in order"
    assert await one.acknowledge((0, 0, [ACCEPT]), (3, 3, [ACCEPT])) == 0


async def test_locks_run_out_unless_they_are_renewed(members: Joiner, broker: Broker) -> None:
    one, two = await members(), await members()
    fill(broker, one, 2)
    assert await one.acquire() == [(0, 1, 1)]
    for _ in range(8):  # twice as long as the lock holds, and far oftener than it has to be on a busy machine
        await asyncio.sleep(0.25)
        assert await one.acknowledge((0, 0, [RENEW]), renews=True) == 0
    assert await two.acquire() == [(1, 1, 2)]
    assert await one.acknowledge((1, 1, [ACCEPT])) == 121, "the lock has run out"
    assert await one.acknowledge((0, 0, [ACCEPT])) == 0


async def test_locks_are_renewed_only_by_a_request_that_says_so_and_asks_for_no_records(
    members: Joiner, broker: Broker
) -> None:
    one = await members()
    fill(broker, one, 2)
    assert await one.acquire() == [(0, 1, 1)]
    assert await one.acknowledge((0, 0, [RENEW])) == 42
    assert data_of(await one.fetch([(0, 0, [RENEW])], wait_ms=10)).acknowledge_error_code == 42
    nothing = {"wait_ms": 0, "min_bytes": 0, "max_bytes": 0, "max_records": 0}
    for name in nothing:
        asked = {**nothing, name: 1}
        assert (await one.fetch([(0, 0, [RENEW])], is_renew_ack=True, **asked)).error_code == 42, name
    answer = await one.fetch([(0, 0, [RENEW])], is_renew_ack=True, **nothing)
    assert data_of(answer).acknowledge_error_code == 0
    assert await one.acknowledge((0, 1, [ACCEPT])) == 0


async def test_a_record_is_given_up_after_five_deliveries(members: Joiner, broker: Broker) -> None:
    one = await members()
    fill(broker, one, 2)
    for count in range(1, 6):
        found = await one.acquire()
        assert found == [(0, 1, count)] if count == 1 else [(0, 0, count)]
        assert (
            await one.acknowledge(*([(0, 0, [RELEASE]), (1, 1, [ACCEPT])] if count == 1 else [(0, 0, [RELEASE])])) == 0
        )
    fill(broker, one, 1)
    assert await one.acquire() == [(2, 2, 1)]


async def test_sessions(members: Joiner, broker: Broker) -> None:
    one = await members()
    fill(broker, one, 2)
    assert (await one.fetch(epoch=3)).error_code == 122
    assert await one.acknowledge((0, 0, [ACCEPT]), epoch=1) == 122
    assert await one.acquire() == [(0, 1, 1)]
    assert (await one.fetch(epoch=7)).error_code == 123
    assert await one.acknowledge((0, 0, [ACCEPT]), epoch=9) == 123
    assert await one.acknowledge((0, 0, [ACCEPT]), epoch=0) == 123
    assert (await one.fetch([(0, 0, [ACCEPT])], epoch=0)).error_code == 42
    assert await one.acknowledge((0, 0, [ACCEPT]), epoch=-1) == 0
    assert (await one.fetch()).error_code == 122, "it is closed"
    one.epoch = 0
    assert await one.acquire() == [(1, 1, 2)], "what was released with the session counts as delivered"


async def test_a_partition_that_is_acknowledged_and_forgotten_in_one_request_is_forgotten(
    members: Joiner, broker: Broker
) -> None:
    one, two = await members(), await members()
    fill(broker, one, 1)
    assert await one.acquire() == [(0, 0, 1)]
    await one.fetch([(0, 0, [ACCEPT])], wait_ms=10, forgets=True)
    fill(broker, one, 1, start=1)
    assert not (await one.fetch(wait_ms=100, names=False)).responses
    assert await two.acquire() == [(1, 1, 1)]


async def test_a_member_that_loses_its_connection_gives_back_what_it_has(members: Joiner, broker: Broker) -> None:
    one, two = await members(), await members()
    fill(broker, one, 2)
    assert await one.acquire() == [(0, 1, 1)]
    await one._client.close()
    assert await two.acquire() == [(0, 1, 2)]


async def test_record_limit_is_strict(members: Joiner, broker: Broker) -> None:
    one = await members()
    fill(broker, one, 10)
    assert await one.acquire(max_records=3, share_acquire_mode=1) == [(0, 2, 1)]
    assert await one.acquire(max_records=3, share_acquire_mode=1) == [(3, 5, 1)]
    assert await one.acquire(max_records=3) == [(6, 9, 1)], "else whole batches are given"


async def test_markers_of_transactions_are_acquired_as_gaps(members: Joiner, broker: Broker) -> None:
    one = await members()
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers, transactional_id=f"t-{uuid.uuid4()}") as producer:
        producer.init_transactions()
        producer.begin_transaction()
        producer.send(one.topic, b"v", partition=0)
        producer.commit_transaction()
    fill(broker, one, 1)
    found = await one.acquire()
    if found == [(0, 1, 1)] or found == [(0, 0, 1)]:
        found += await one.acquire()
    assert (found[0][0], found[-1][1]) == (0, 2)
