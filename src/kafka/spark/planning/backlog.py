"""What was waiting when a micro-batch was planned, in a stream's checkpoint. Pure.

PySpark before 4.2 runs one micro-batch with `Trigger.AvailableNow` and ends, so that what a limit leaves needs other
queries (`run_available`). They are to end where the logs ended for the first of them, so that stands beside the offsets
(`marks`): ``{"topic":{"0":42,"1":7}, "topic waits up to 0:650":{}, "planned at 1790000000000":{}}``. Here partition 0
had offsets up to 650, and partition 1 none after 7.
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
    """The end of a micro-batch with what waits after it.

    Arguments:
        layout: the end.
        end: the offsets in it.
        newest: how far the query is to go, as it was found at ``planned_ms``.
    """
    waiting = {each: offset for each, offset in newest.items() if offset > end.get(each, 0)}
    return {**layout, **marked(_WAITS, waiting), f"{_PLANNED}{planned_ms}": {}}


def backlog(layout: Mapping[str, Any]) -> Offsets:
    """Where the logs ended that a micro-batch did not read to their ends."""
    return found(_WAITS, layout)


def planned_ms(layout: Mapping[str, Any]) -> int | None:
    """When `backlog` was found, in milliseconds since 1970; None where it was not looked for."""
    return next((int(key.removeprefix(_PLANNED)) for key in layout if key.startswith(_PLANNED)), None)


def goal(begin: Offsets, waiting: Offsets, known: Offsets, newest: Offsets) -> Offsets:
    """How far the query is to go before it looks for more; {} where it is there, as far as logs still reach.

    Arguments:
        begin: where the next micro-batch begins, without partitions that are new.
        waiting: the backlog that stands in the checkpoint.
        known: as ``begin``, with partitions that are new.
        newest: where the logs of these end now.
    """
    wanted = {each: min(offset, newest[each]) for each, offset in waiting.items() if each in newest}
    if all(offset <= known[each] for each, offset in wanted.items()):
        return {}
    return {each: max(known[each], wanted.get(each, 0)) for each in begin.keys() | wanted.keys() if each in newest}


class Backlog:
    """Bounds the first micro-batch of a planner by what the checkpoint says waits, and says what waits after each."""

    def __init__(self) -> None:
        self._is_first = True
        self._newest: Offsets = {}
        self._planned_ms: int | None = None

    def bound(
        self, start: Mapping[str, Any], begin: Offsets, known: Offsets, end: Offsets, newest: Offsets, now_ms: int
    ) -> Offsets:
        """How far a micro-batch may go, whatever limits there are.

        Arguments:
            start: where it begins, as the checkpoint has it.
            begin: the offsets in it.
            known: the same, with partitions that are new to the query.
            end: where the logs of these end.
            newest: where all logs end.
            now_ms: the time.
        """
        wanted = goal(begin, backlog(start), known, end) if self._is_first else {}
        self._is_first = False
        self._newest = wanted or newest
        self._planned_ms = planned_ms(start) if wanted else now_ms
        return wanted or end

    def beside(self, layout: Layout, end: Offsets) -> Layout:
        """The end of the micro-batch with what waits after it, where that is looked for."""
        return layout if self._planned_ms is None else with_backlog(layout, end, self._newest, self._planned_ms)
