"""The backlog when a micro-batch was planned, stored in a stream's checkpoint. Pure.

PySpark before 4.2 runs one micro-batch with `Trigger.AvailableNow` and ends, so more queries are needed for what a
limit leaves (`run_available`). They must end where the logs ended for the first of them, so the checkpoint stores that
next to the offsets: ``{"topic":{"0":42,"1":7}, "topic waits up to 0:650":{}, "planned at 1790000000000":{}}``. Here,
partition 0 had offsets up to 650, and partition 1 had none after 7.
"""

from collections.abc import Mapping
from typing import Any

from kafka.spark.planning.checkpoint import Layout, Offsets, found, marked
from kafka.structs import TopicPartition

_WAITS = "waits up to"
_PLANNED = "planned at "


def with_backlog(
    layout: Mapping[str, Any], end: Offsets, newest: Mapping[TopicPartition, int], planned_ms: int
) -> Layout:
    """The end of a micro-batch, with the backlog after it.

    Arguments:
        layout: the end.
        end: the offsets in it.
        newest: the offsets up to which the query must read, determined at ``planned_ms``.
    """
    waiting = {each: offset for each, offset in newest.items() if offset > end.get(each, 0)}
    return {**layout, **marked(_WAITS, waiting), f"{_PLANNED}{planned_ms}": {}}


def backlog(layout: Mapping[str, Any]) -> Offsets:
    """The ends of the logs that a micro-batch did not read completely."""
    return found(_WAITS, layout)


def planned_ms(layout: Mapping[str, Any]) -> int | None:
    """When `backlog` was determined, in milliseconds since 1970; None if it was not."""
    return next((int(key.removeprefix(_PLANNED)) for key in layout if key.startswith(_PLANNED)), None)


def goal(begin: Offsets, waiting: Offsets, known: Offsets, newest: Offsets) -> Offsets:
    """The offsets up to which the query must read before it looks for more; {} if it has, as far as logs still reach.

    Arguments:
        begin: the start of the next micro-batch, without new partitions.
        waiting: the backlog in the checkpoint.
        known: like ``begin``, with new partitions.
        newest: the current ends of their logs.
    """
    wanted = {each: min(offset, newest[each]) for each, offset in waiting.items() if each in newest}
    if all(offset <= known[each] for each, offset in wanted.items()):
        return {}
    return {each: max(known[each], wanted.get(each, 0)) for each in begin.keys() | wanted.keys() if each in newest}


class Backlog:
    """Limits a planner's first micro-batch to the backlog in the checkpoint, and adds the backlog to each end."""

    def __init__(self) -> None:
        self._is_first = True
        self._newest: Offsets = {}
        self._planned_ms: int | None = None

    def bound(
        self, start: Mapping[str, Any], begin: Offsets, known: Offsets, end: Offsets, newest: Offsets, now_ms: int
    ) -> Offsets:
        """The maximum end of a micro-batch, before limits apply.

        Arguments:
            start: its start, as in the checkpoint.
            begin: the offsets in ``start``.
            known: the same, with partitions that are new to the query.
            end: the ends of their logs.
            newest: the ends of all logs.
            now_ms: the current time.
        """
        wanted = goal(begin, backlog(start), known, end) if self._is_first else {}
        self._is_first = False
        self._newest = wanted or newest
        self._planned_ms = planned_ms(start) if wanted else now_ms
        return wanted or end

    def beside(self, layout: Layout, end: Offsets) -> Layout:
        """The end of the micro-batch, with the backlog after it if that was determined."""
        return layout if self._planned_ms is None else with_backlog(layout, end, self._newest, self._planned_ms)
