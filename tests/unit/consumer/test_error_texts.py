"""What errors about offsets say: the place, what there is instead, and what to do."""

from __future__ import annotations

import pickle

import pytest

from kafka.consumer.records.build_records import ConsumerRecords
from kafka.errors import NoOffsetForPartitionError, OffsetOutOfRangeError
from kafka.structs import TopicPartition
from unit.consumer.consumer_setup import ConsumerSetup

T0 = TopicPartition("t", 0)


async def test_an_offset_out_of_range_names_the_offsets_that_there_are(setup: ConsumerSetup) -> None:
    consumer = await setup.face.open(group_id=None, auto_offset_reset="none")
    await consumer.assign([setup.first])
    await consumer.seek(setup.first, 1_000_000)
    with pytest.raises(OffsetOutOfRangeError) as raised:
        await consumer.poll(30_000)
    assert raised.value.args == ({setup.first: 1_000_000},)
    assert raised.value.ranges == {setup.first: (0, 10)}
    assert str(raised.value) == (
        f"[Error 1] OffsetOutOfRangeError: partition 0 of topic {setup.topic!r} has no offset 1000000 (it has 0 to 9); "
        "there is no reset policy (auto_offset_reset='none'): seek(), seek_to_beginning() or seek_to_end(), or set "
        "auto_offset_reset='earliest' or 'latest'"
    )


async def test_a_missing_offset_names_the_group(setup: ConsumerSetup) -> None:
    consumer = await setup.face.open(setup.topic, auto_offset_reset="none")
    with pytest.raises(NoOffsetForPartitionError) as raised:
        await consumer.read(1)
    assert set(raised.value.args[0]) == {setup.first, setup.second}
    assert f"group 'g-{setup.topic}' has committed no offset, and auto_offset_reset is 'none'" in str(raised.value)
    with pytest.raises(NoOffsetForPartitionError, match=f"group 'g-{setup.topic}' has committed no offset"):
        await consumer.position(setup.first)


def test_texts_without_a_range_or_a_group_and_for_many_partitions() -> None:
    many = [TopicPartition("t", number) for number in range(7)]
    assert "partition 4 of topic 't' and 2 more: there is no group" in str(NoOffsetForPartitionError(many))
    assert "has no offset 5; there is no reset policy" in str(OffsetOutOfRangeError({T0: 5}))
    empty = OffsetOutOfRangeError({T0: 5})
    empty.ranges = {T0: (3, 3)}
    assert "has no offset 5 (it is empty, and the next record gets 3)" in str(empty)
    assert str(OffsetOutOfRangeError("t-0 at 5")) == "[Error 1] OffsetOutOfRangeError: t-0 at 5"
    assert str(NoOffsetForPartitionError("t-0")) == "t-0"
    for error in (empty, NoOffsetForPartitionError(many, group_id="g")):
        copied = pickle.loads(pickle.dumps(error))
        assert (copied, str(copied)) == (error, str(error))


async def test_indexing_records_with_a_record_raises_with_an_explanation(setup: ConsumerSetup) -> None:
    consumer = await setup.face.open(setup.topic)
    records = await consumer.poll(0)
    while not records:
        records = await consumer.poll(200)
    (record, *_) = records
    with pytest.raises(KeyError, match="iterating over them yields records, not partitions"):
        records[record]
    with pytest.raises(KeyError, match="TopicPartition"):
        records[TopicPartition("other", 0)]
    assert ConsumerRecords().get(T0) is None
