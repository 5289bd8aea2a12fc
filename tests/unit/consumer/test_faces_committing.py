"""Commits by `KafkaConsumer` and `AsyncKafkaConsumer` alike: what, when, and who is told."""

from __future__ import annotations

from typing import Any

import pytest

from kafka import OffsetAndMetadata, TopicPartition
from kafka.broker import EmbeddedBroker
from kafka.coordinator.offset_arguments import check_group
from kafka.errors import CommitFailedError, IllegalArgumentError, IllegalStateError
from kafka.structs import MemberState
from unit.consumer.consumer_setup import ConsumerSetup, committed


async def test_closing_waits_for_a_commit_that_nothing_came_before_and_calls_back(setup: ConsumerSetup) -> None:
    consumer = await setup.face.open(enable_auto_commit=False)
    await consumer.assign([setup.first])
    told: list[Any] = []
    offsets = {setup.first: OffsetAndMetadata(5, "note", -1)}
    future = await consumer.commit_async(offsets, callback=lambda *args: told.append(args))
    await consumer.close()
    assert told == [(offsets, None)]
    assert await consumer.settled(future) is None
    assert await committed(setup, setup.first) == [5]


async def test_a_commit_that_closing_cannot_wait_for_fails_and_calls_back(
    setup: ConsumerSetup, broker: EmbeddedBroker, request: pytest.FixtureRequest
) -> None:
    request.addfinalizer(broker.faults.drop_answers(api="OffsetCommit").remove)
    consumer = await setup.face.open(enable_auto_commit=False)
    await consumer.assign([setup.first])
    told: list[Any] = []
    future = await consumer.commit_async(
        {setup.first: OffsetAndMetadata(5, "", -1)}, callback=lambda *args: told.append(args)
    )
    await consumer.close(timeout_ms=0)
    assert len(told) == 1
    assert isinstance(told[0][1], CommitFailedError)
    assert isinstance(await consumer.settled(future), CommitFailedError)


async def test_commit_async_calls_back_from_within_a_later_poll(setup: ConsumerSetup) -> None:
    consumer = await setup.face.open(enable_auto_commit=False)
    await consumer.assign([setup.first])
    await consumer.read(10)
    told: list[Any] = []
    future = await consumer.commit_async(callback=lambda *args: told.append(args))
    assert await consumer.settled(future) is None
    assert told == []
    await consumer.poll(0)
    [(offsets, outcome)] = told
    assert (offsets[setup.first].offset, outcome) == (10, None)
    await consumer.close()


async def test_a_callback_that_raises_is_raised_by_poll_and_the_next_ones_are_called(setup: ConsumerSetup) -> None:
    consumer = await setup.face.open(enable_auto_commit=False)
    await consumer.assign([setup.first])
    told: list[Any] = []

    def fail(*args: Any) -> None:
        raise KeyError("on purpose")

    futures = [await consumer.commit_async({}, callback=call) for call in (fail, lambda *args: told.append(args))]
    for future in futures:
        assert await consumer.settled(future) is None
    with pytest.raises(KeyError, match="on purpose"):
        await consumer.poll(0)
    await consumer.poll(0)
    assert told == [({}, None)]
    await consumer.close()


async def test_the_default_callback_is_called_for_automatic_commits(setup: ConsumerSetup) -> None:
    told: list[Any] = []
    consumer = await setup.face.open(
        setup.topic, auto_commit_interval_ms=20, default_offset_commit_callback=lambda *args: told.append(args)
    )
    await consumer.read(20)
    await consumer.poll_until(lambda: bool(told))
    assert told[0][1] is None
    before = len(told)
    await consumer.close()
    assert len(told) > before
    assert {tp: each.offset for tp, each in told[-1][0].items()} == {setup.first: 10, setup.second: 10}


async def test_a_block_left_by_an_error_commits_nothing_by_itself(setup: ConsumerSetup) -> None:
    consumer = await setup.face.open(auto_commit_interval_ms=3_600_000)
    await consumer.assign([setup.first])

    async def fail() -> None:
        async with consumer.block():
            await consumer.read(10)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    assert await committed(setup, setup.first) == [None]


@pytest.mark.parametrize(
    ("by", "autocommit", "expected"),
    [("iteration", True, 6), ("poll", True, 10), ("iteration", False, None), ("poll", False, None)],
)
async def test_close_after_a_failure_commits_as_the_guide_warns(
    setup: ConsumerSetup, by: str, autocommit: bool, expected: int | None
) -> None:
    consumer = await setup.face.open(auto_commit_interval_ms=3_600_000)
    await consumer.assign([setup.first])
    handed_out: list[Any] = []

    async def work() -> None:
        try:
            if by == "poll":
                handed_out.extend(await consumer.read(10))
            while len(handed_out) < 6:
                handed_out.append(await consumer.next())
            raise ZeroDivisionError  # at offset 5
        finally:
            await consumer.close(autocommit=autocommit)

    with pytest.raises(ZeroDivisionError):
        await work()
    assert 5 in [record.offset for record in handed_out]
    assert await committed(setup, setup.first) == [expected]


async def test_leaving_a_with_block_normally_commits_returned_records(setup: ConsumerSetup) -> None:
    consumer = await setup.face.open(auto_commit_interval_ms=3_600_000)
    await consumer.assign([setup.first])
    async with consumer.block():
        await consumer.read(10)
    assert await committed(setup, setup.first) == [10]


async def test_several_committed_offsets_are_had_in_one_request(setup: ConsumerSetup, broker: EmbeddedBroker) -> None:
    consumer = await setup.face.open(enable_auto_commit=False)
    await consumer.commit({setup.first: OffsetAndMetadata(3, "m", 0)})
    seen = broker.faults.delay(0, api="OffsetFetch", times=None)
    for several in ([setup.first, setup.second], {setup.first, setup.second}, (setup.first, setup.second)):
        assert await consumer.committed(several) == {setup.first: 3, setup.second: None}
    assert seen.hits == 3
    found = await consumer.committed(iter([setup.first]), metadata=True, timeout_ms=30_000)
    assert found == {setup.first: OffsetAndMetadata(3, "m", 0)}
    assert type(found[setup.first]) is OffsetAndMetadata
    assert (await consumer.committed([setup.first]))[setup.first].metadata == "m"
    assert (await consumer.committed([]), seen.hits) == ({}, 5), "nothing is asked about nothing"
    assert await consumer.committed(setup.first) == 3
    seen.remove()


async def test_nothing_is_committed_by_a_subscriber_that_is_no_member_yet(setup: ConsumerSetup) -> None:
    consumer = await setup.face.open(setup.topic)
    await consumer.commit()
    with pytest.raises(CommitFailedError):
        await consumer.commit({setup.first: OffsetAndMetadata(3, "", -1)})
    await consumer.poll(0)
    await consumer.commit()
    await consumer.close()
    assert await committed(setup, setup.first) == [None]


async def test_a_callback_runs_when_a_listener_commits(setup: ConsumerSetup) -> None:
    consumer = setup.face
    told: list[str] = []

    def commit(kind: str, partitions: set[TopicPartition]) -> Any:
        told.append(kind)
        return consumer.consumer.commit()

    await consumer.open(enable_auto_commit=False)
    await consumer.subscribe([setup.topic], listener=consumer.listener(commit))
    await consumer.read(20)
    future = await consumer.commit_async(callback=lambda *args: told.append("committed"))
    assert await consumer.settled(future) is None
    await consumer.unsubscribe()
    assert told == ["revoked", "assigned", "revoked", "committed"]
    await consumer.close()


async def test_group_metadata_exist_before_and_after_joining(setup: ConsumerSetup) -> None:
    consumer = await setup.face.open(setup.topic, group_instance_id="i", enable_auto_commit=False)
    group = f"g-{setup.topic}"
    assert await consumer.group_metadata() == (group, -1, "", None, MemberState.UNJOINED)
    await consumer.read(20)
    found = await consumer.group_metadata()
    assert (found.group_id, found.group_instance_id, found.state) == (group, "i", MemberState.STABLE)
    assert found.generation_id >= 1
    assert found.member_id
    await consumer.close()
    with pytest.raises(IllegalStateError, match="closed"):
        await consumer.group_metadata()


async def test_partitions_assigned_by_hand_have_no_membership(setup: ConsumerSetup) -> None:
    consumer = await setup.face.open(group_instance_id="i")
    await consumer.assign([setup.first])
    assert await consumer.group_metadata() == (f"g-{setup.topic}", -1, "", None, MemberState.UNJOINED)
    await consumer.close()


async def test_without_a_group_there_is_no_membership_to_tell(setup: ConsumerSetup) -> None:
    consumer = await setup.face.open(group_id=None)
    found = await consumer.group_metadata()
    assert found == (None, -1, "", None, MemberState.UNJOINED)
    with pytest.raises(IllegalArgumentError, match="its name is empty"):
        check_group(found)
    await consumer.close()
