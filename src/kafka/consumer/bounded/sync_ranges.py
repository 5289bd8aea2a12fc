# Written by scripts/twins.py from kafka/consumer/bounded/async_ranges.py: change that file, not this one.
"""Finds the offsets that a bounded read has to read."""

from collections.abc import Mapping

from kafka.config.option import nearest
from kafka.consumer.bounded.bounds import WHERE_TOPICS_ARE, Edge, OffsetRange, Parsed, Time
from kafka.consumer.kafka_consumer import KafkaConsumer
from kafka.errors import IllegalArgumentError, UnknownTopicOrPartitionError
from kafka.structs import TopicPartition


def find_ranges(
    consumer: KafkaConsumer, topics: list[str | TopicPartition], start: Parsed, end: Parsed
) -> dict[TopicPartition, OffsetRange]:
    """What is to be read of each partition."""
    partitions = []
    for each in topics:
        name = each if isinstance(each, str) else each.topic
        there = consumer.partitions_for_topic(name)
        if not there:
            hint = nearest(name, sorted(consumer.topics())) or f"; {WHERE_TOPICS_ARE}"
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
    first, last = consumer.beginning_offsets(partitions), consumer.end_offsets(partitions)
    starts = _offsets(consumer, "start", start, first, last, first)
    ends = _offsets(consumer, "end", end, first, last, last)
    return {tp: OffsetRange(starts[tp], max(starts[tp], ends[tp])) for tp in partitions}


def _offsets(
    consumer: KafkaConsumer,
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
        found = consumer.offsets_for_times(dict.fromkeys(first, bound.timestamp_ms))
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
