"""Counts the offsets that a stream has not read yet, and divides a limit among partitions. Pure."""

from collections.abc import Mapping

from kafka.spark.offsets import Offsets
from kafka.structs import TopicPartition


def count_offsets(begin: Mapping[TopicPartition, int], end: Mapping[TopicPartition, int]) -> int:
    """How many offsets lie between."""
    return sum(max(0, stop - begin.get(each, 0)) for each, stop in end.items())


def limit_offsets(limit: int, begin: Mapping[TopicPartition, int], end: Mapping[TopicPartition, int]) -> Offsets:
    """Ends with about ``limit`` offsets before them, each partition in proportion to what waits there.

    A share of less than one is one, so that no partition starves; others are rounded down.
    """
    sizes = {each: stop - begin.get(each, 0) for each, stop in end.items()}
    total = count_offsets(begin, end)
    limited = dict(end)
    if total <= limit:
        return limited
    for each, size in sizes.items():
        if size > 0:
            share = limit * size // total if limit * size >= total else 1
            limited[each] = end[each] - size + min(size, share)
    return limited
