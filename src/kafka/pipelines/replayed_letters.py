"""Says which dead letters the replays of a pipeline have processed, from the plans in the pipeline's directory.

`replay` leaves these out of later replays; commands and reports show which dead letters are still open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kafka.pipelines.bounded_runs import RunDirectory
from kafka.pipelines.directories import directory_of
from kafka.pipelines.topic_ids import ids_of

if TYPE_CHECKING:
    from kafka.pipelines.declaration import Declaration
    from kafka.pipelines.header_columns import Mask, OwnHeaders
    from kafka.pipelines.record_headers import Position


class Part(NamedTuple):
    """What a replay has processed.

    Arguments:
        rule: the rule that it selected; None for all.
        ranges: start and end (exclusive) of the offsets in the topic of the dead letters, by partition.
    """

    rule: str | None
    ranges: Mapping[int, tuple[int, int]]


class ReplayedLetters:
    """The dead letters of a pipeline that replays have processed.

    Arguments:
        parts: what each replay has processed.
    """

    def __init__(self, parts: Sequence[Part] = ()) -> None:
        self._parts = parts

    def mask(self, own: OwnHeaders, partition: int, offsets: Any) -> Mask:
        """Return which records of a batch were processed.

        Arguments:
            own: the headers of the records.
            partition: the partition of the batch.
            offsets: the offset of each record.
        """
        found: Mask = np.zeros(own.rows, np.bool_)
        numbers = np.asarray(offsets)
        for part in self._parts:
            start, end = part.ranges.get(partition, (0, 0))
            within = (numbers >= start) & (numbers < end)
            if within.any():
                found |= within if part.rule is None else within & own.have_rule(part.rule)
        return found

    def has(self, position: Position, rules: Sequence[str]) -> bool:
        """Return whether a dead letter was processed.

        Arguments:
            position: its position in the topic of the dead letters.
            rules: the rules that it fails.
        """
        for part in self._parts:
            start, end = part.ranges.get(position.partition, (0, 0))
            if start <= position.offset < end and (part.rule is None or part.rule in rules):
                return True
        return False


def replayed_letters(declaration: Declaration) -> ReplayedLetters:
    """Read which dead letters of a pipeline were replayed.

    Replays of a topic that has been deleted and created again since do not count. Without the directory of the
    pipeline, as on another machine, no dead letter was replayed as far as this function knows.

    Arguments:
        declaration: the pipeline, which has dead letters.
    """
    assert declaration.dead_letters is not None
    topic = declaration.dead_letters.topic
    plans = [each for each in RunDirectory(directory_of(declaration).replays, "replay").plans() if each.done]
    ids = ids_of(declaration, [topic]) if plans else {}
    parts = []
    for plan in plans:
        ranges: dict[int, tuple[int, int]] = {}
        for part in plan.slices[: plan.done]:
            for tp, (start, end) in part.items():
                if tp.topic == topic:
                    ranges[tp.partition] = (ranges.get(tp.partition, (start, end))[0], end)
        if ranges and plan.has_same_topics(ids):
            parts.append(Part(plan.selection.get("rule"), ranges))
    return ReplayedLetters(parts)
