"""The start of a new query's first batch, which must be the same after a crash. Pure.

A new query looks up its first offsets, and Spark does not store them: after a crash in the first batch, it asks again,
and the result may be different. So the end of that batch, which Spark does store, must suffice:

- A partition that starts at the end of a log (``latest``) has an empty first batch: a later result can only be higher.
- A partition that starts at the beginning of a log (``earliest``) usually starts at 0.
- Offsets given by the user do not change.
- In all other cases, the end also contains the start, under keys that are not topics.
"""

from collections.abc import Mapping
from typing import Any

from kafka.spark.options.values import EARLIEST, LATEST, AtOffsets, Boundary, Everywhere
from kafka.spark.planning.checkpoint import Layout, Offsets, from_layout, initial_layout, is_initial, to_layout
from kafka.structs import TopicPartition

_GIVEN = 0
_BY_TIME = -3


def _kind(start: Boundary, partition: TopicPartition) -> int:
    """How the first offset of a partition is determined: `EARLIEST`, `LATEST`, `_GIVEN` or `_BY_TIME`."""
    if isinstance(start, Everywhere):
        return start.where
    if isinstance(start, AtOffsets):
        where = start.at(partition)
        return EARLIEST if where is None else min(where, _GIVEN)
    return _BY_TIME


def first_limits(start: Boundary, begin: Offsets, end: Mapping[TopicPartition, int]) -> Offsets:
    """The limits of a first batch: partitions that start at the end of their log are not read.

    Partitions without a first offset are left to the next batch.
    """
    return {
        each: begin[each] if _kind(start, each) == LATEST else offset for each, offset in end.items() if each in begin
    }


def first_end(start: Boundary, begin: Offsets, end: Offsets) -> Layout:
    """The end of the first batch for the checkpoint, including its start if necessary."""
    kinds = {each: _kind(start, each) for each in end}
    carried = any(kind == _BY_TIME or (kind == EARLIEST and begin[each] != 0) for each, kind in kinds.items())
    return {**to_layout(end), **(initial_layout(begin) if carried else {})}


def batch_start(boundary: Boundary, start: Mapping[str, Any], end: Mapping[str, Any]) -> Offsets:
    """The start of the batch between two offsets of a checkpoint, including the first batch.

    Arguments:
        boundary: the boundary at which the query started.
        start: Spark's start of the batch; for a first batch, it may have been looked up again.
        end: the end in the checkpoint.
    """
    begin = from_layout(start)
    if not is_initial(start):
        return begin
    carried = from_layout(end, initial=True)
    if carried:
        return carried
    stops = from_layout(end)
    return {
        each: 0 if _kind(boundary, each) == EARLIEST else min(begin.get(each, stop), stop)
        for each, stop in stops.items()
    }
