"""Where a new query's first batch begins, and that it begins there again after a crash. Pure.

A query's first offsets are looked up when it is new, and Spark does not keep them: it asks again after a crash in the
first batch, when the answer may be another. So the end of that batch, which Spark does keep, has to be enough:

- What begins at the end of a log (``latest``) has an empty first batch: what is asked again can only be later.
- What begins at the start of a log (``earliest``) begins at 0 in general.
- Offsets that the user has given are the same at any time.
- Where none of these holds, the end carries the beginning along, under keys that are no topics.
"""

from collections.abc import Mapping
from typing import Any

from kafka.spark.options.values import EARLIEST, LATEST, AtOffsets, Boundary, Everywhere
from kafka.spark.planning.checkpoint import Layout, Offsets, from_layout, initial_layout, is_initial, to_layout
from kafka.structs import TopicPartition

_GIVEN = 0
_BY_TIME = -3


def _kind(start: Boundary, partition: TopicPartition) -> int:
    """How a partition's first offset is found: `EARLIEST`, `LATEST`, `_GIVEN` or `_BY_TIME`."""
    if isinstance(start, Everywhere):
        return start.where
    if isinstance(start, AtOffsets):
        where = start.at(partition)
        return EARLIEST if where is None else min(where, _GIVEN)
    return _BY_TIME


def first_limits(start: Boundary, begin: Offsets, end: Mapping[TopicPartition, int]) -> Offsets:
    """How far a first batch may go: not over the beginning of what begins at the end of its log.

    Partitions that are not among the first offsets are left to the next batch.
    """
    return {
        each: begin[each] if _kind(start, each) == LATEST else offset for each, offset in end.items() if each in begin
    }


def first_end(start: Boundary, begin: Offsets, end: Offsets) -> Layout:
    """The end of the first batch as the checkpoint keeps it, with the beginning in it where that is needed."""
    kinds = {each: _kind(start, each) for each in end}
    carried = any(kind == _BY_TIME or (kind == EARLIEST and begin[each] != 0) for each, kind in kinds.items())
    return {**to_layout(end), **(initial_layout(begin) if carried else {})}


def batch_start(boundary: Boundary, start: Mapping[str, Any], end: Mapping[str, Any]) -> Offsets:
    """Where the batch between two offsets of a checkpoint begins, be it the first one.

    Arguments:
        boundary: where the query was to begin.
        start: what Spark takes for the beginning, which for a first batch may have been looked up just now.
        end: what the checkpoint has.
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
