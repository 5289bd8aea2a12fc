"""Finds the offsets that a bounded read has to read."""

from collections.abc import Mapping

from kafka.config.option import nearest
from kafka.consumer.async_consumer import AsyncKafkaConsumer
from kafka.consumer.bounded.bounds import WHERE_TOPICS_ARE, Edge, OffsetRange, Parsed, Time
from kafka.errors import IllegalArgumentError, UnknownTopicOrPartitionError
from kafka.structs import TopicPartition


async def find_ranges(
    consumer: AsyncKafkaConsumer, topics: list[str | TopicPartition], start: Parsed, end: Parsed
) -> dict[TopicPartition, OffsetRange]:
    """What is to be read of each partition."""
    partitions = []
    for each in topics:
        name = each if isinstance(each, str) else each.topic
        there = await consumer.partitions_for_topic(name)
        if not there:
            hint = nearest(name, sorted(await consumer.topics())) or f"; {WHERE_TOPICS_ARE}"
            raise UnknownTopicOrPartitionError(f"there is no topic {name!r} to read{hint}")
        if isinstance(each, str):
            partitions += [TopicPartition(name, number) for number in sorted(there)]
        elif each.partition in there:
            partitions.append(each)
        else:
            raise UnknownTopicOrPartitionError(
                f"topic {name!r} has the partitions {', '.join(map(str, sorted(there)))}, but not {each.partition}"
            )
    partitions = list(dict.fromkeys(partitions))
    first, last = await consumer.beginning_offsets(partitions), await consumer.end_offsets(partitions)
    starts = await _offsets(consumer, "start", start, first, last, first)
    ends = await _offsets(consumer, "end", end, first, last, last)
    return {tp: OffsetRange(starts[tp], max(starts[tp], ends[tp])) for tp in partitions}


async def _offsets(
    consumer: AsyncKafkaConsumer,
    name: str,
    bound: Parsed,
    first: Mapping[TopicPartition, int],
    last: Mapping[TopicPartition, int],
    default: Mapping[TopicPartition, int],
) -> dict[TopicPartition, int]:
    """The offset of a bound in each partition, within its log."""
    if bound is Edge.EARLIEST or bound is Edge.LATEST:
        return dict(first if bound is Edge.EARLIEST else last)
    if isinstance(bound, Time):
        found = await consumer.offsets_for_times(dict.fromkeys(first, bound.timestamp_ms))
        wanted = {tp: last[tp] if each is None else each.offset for tp, each in found.items()}
    elif isinstance(bound, dict):
        strangers = [tp for tp in bound if tp not in first]
        if strangers:
            raise IllegalArgumentError(f"{name} has {strangers[0]!r}, which is not among the partitions to read")
        wanted = {tp: bound.get(tp, default[tp]) for tp in first}
    else:
        assert isinstance(bound, int)
        wanted = dict.fromkeys(first, bound)
    return {tp: max(first[tp], min(offset, last[tp])) for tp, offset in wanted.items()}
