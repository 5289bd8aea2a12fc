"""How large the records of ranges are, about, which decides whether ranges share a task. Pure but for the lookup.

Kafka tells the size of a log, not of a range. So a range is taken to have its share of its log. That is not known of
logs which the user may not see; their ranges share tasks by numbers of offsets alone.
"""

from collections.abc import Collection, Sequence

from kafka.spark.lookup import OffsetLookup
from kafka.spark.ranges import SHARED_TASK_BYTES, SHARED_TASK_OFFSETS, OffsetRange
from kafka.structs import TopicPartition

Sizes = dict[TopicPartition, float]
"""Average bytes of an offset."""


def find_sizes(ranges: Sequence[OffsetRange], lookup: OffsetLookup) -> Sizes:
    """The average sizes of the ranges that could share a task, as far as they are known and matter."""
    return average_sizes(may_share(ranges), lookup)


def may_share(ranges: Sequence[OffsetRange]) -> set[TopicPartition]:
    """The partitions of the ranges that could share a task."""
    small = {each.topic_partition for each in ranges if len(each) < SHARED_TASK_OFFSETS}
    return small if len(small) > 1 else set()


def average_sizes(partitions: Collection[TopicPartition], lookup: OffsetLookup) -> Sizes:
    """The average sizes of these partitions' offsets, as far as they are known and matter."""
    if not partitions:
        return {}
    logs = lookup.log_bytes(partitions)
    if sum(logs.values()) <= SHARED_TASK_BYTES:  # all of them together are small
        return {}
    first = lookup.earliest(logs.keys())
    last = lookup.latest(first.keys(), {})
    return {each: logs[each] / (last[each] - first[each]) for each in last if last[each] > first[each]}
