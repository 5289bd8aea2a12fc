"""Finds the record for which a query fails, so that the error of a run can name it.

Spark says which expression failed and with which value, but not for which record. The records of the failed
micro-batch or slice are therefore processed again, without being written, in ever smaller parts. This takes time only
after a failure. Rules with the outcome ``fail`` need no search, because their errors contain the position.
"""

from __future__ import annotations

import dataclasses
import logging
import re
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import kafka.errors
from kafka.pipelines.bounded_runs import Ranges, SliceRecords
from kafka.pipelines.combined_rows import Form
from kafka.pipelines.planning import plan
from kafka.pipelines.rules import FAILED_ROW
from kafka.pipelines.run_results import PipelineFailedError, failure_of, spark_cause

if TYPE_CHECKING:
    from kafka.pipelines.declaration import Declaration
    from kafka.structs import TopicPartition

log = logging.getLogger(__name__)

MOST_OFFSETS = 2_000_000
"""Number of offsets up to which the records of a failed micro-batch are searched."""
SECONDS = 60.0
"""Time after which the search ends with what it has found."""

_KIND = re.compile(r"\[([A-Z_][A-Z0-9_.]*)\]|(?:\w+\.)*(\w+)(?=:)")
"""Spark's condition, such as ``[DIVIDE_BY_ZERO]``, or the class of a Python exception."""


@dataclasses.dataclass(frozen=True, slots=True)
class FailedPart:
    """What was being processed when a run failed.

    Arguments:
        declaration: the pipeline.
        function: the query if it is a Python function.
        records: reads the records.
        ranges: the offsets of the micro-batch or slice.
    """

    declaration: Declaration
    function: Callable[..., Any] | None
    records: SliceRecords
    ranges: Ranges

    def named(self, error: Exception) -> PipelineFailedError:
        """Return the error of a run, with the record that causes it, if one is found.

        Arguments:
            error: the error with which Spark ended.
        """
        failure = failure_of(self.declaration, error)
        kind = kind_of(spark_cause(error))
        count = sum(end - start for start, end in self.ranges.values())
        if kind is None or FAILED_ROW in str(failure) or not 0 < count <= MOST_OFFSETS:
            return failure
        log.info("pipeline %s failed; looking for the record in %d offsets", self.declaration.pipeline, count)
        found = narrowed(self.ranges, lambda part: self._fails(part, kind), time.monotonic() + SECONDS)
        if not found:
            return failure
        return PipelineFailedError(
            f"{str(failure).rstrip('.')}. The query fails for {_shown(found)}. Add a rule that this record fails, or "
            "correct the query, and start the pipeline again"
        )

    def _fails(self, part: Ranges, kind: str) -> bool:
        """Return whether processing a part of the records ends with an error of this kind."""
        declaration, origin = self.declaration, self.records.origin()
        try:
            read = {name: self.records.read(name, source, part) for name, source in declaration.all_sources.items()}
            planned = plan(declaration, read, self.function, lambda frame, name, counts: frame, origin)
            frame = planned.combine(planned.frame) if planned.form is Form.BATCH else planned.frame
            frame.write.format("noop").mode("overwrite").save()
        except Exception as error:
            return kind_of(spark_cause(error)) == kind
        return False


def kind_of(cause: str) -> str | None:
    """Return the condition or class of an error in a query; None for other errors, such as those of Kafka.

    Arguments:
        cause: the error's text, which begins with the condition or the class.
    """
    found = _KIND.match(cause)
    if found is None:
        return None
    condition, name = found.groups()
    if condition is not None:
        return str(condition)
    return None if hasattr(kafka.errors, name) else str(name)


def narrowed(ranges: Ranges, fails: Callable[[Ranges], bool], deadline: float) -> Ranges:
    """Return the smallest part of ranges that fails: one offset, if a single record is the cause.

    Arguments:
        ranges: the ranges.
        fails: whether processing a part fails.
        deadline: the time of `time.monotonic` at which to end with what is known.

    Returns no ranges if the whole does not fail.
    """
    if not fails(ranges):
        return {}
    while (count := sum(end - start for start, end in ranges.values())) > 1 and time.monotonic() < deadline:
        first, second = _halves(ranges, count // 2)
        if fails(first):
            ranges = first
        elif fails(second):
            ranges = second
        else:  # only together, such as two sides of a join
            break
    return ranges


def _halves(ranges: Ranges, count: int) -> tuple[Ranges, Ranges]:
    first: dict[TopicPartition, tuple[int, int]] = {}
    second: dict[TopicPartition, tuple[int, int]] = {}
    for partition, (start, end) in ranges.items():
        middle = min(end, start + count)
        count -= middle - start
        if start < middle:
            first[partition] = start, middle
        if middle < end:
            second[partition] = middle, end
    return first, second


def _shown(ranges: Ranges) -> str:
    parts = []
    for (topic, partition), (start, end) in ranges.items():
        last = f" to {end - 1}" if end - start > 1 else ""
        parts.append(f"{topic}/{partition}/{start}{last}")
    only = len(parts) == 1 and " to " not in parts[0]
    return f"the record {parts[0]}" if only else f"a record of {', '.join(parts)}"
