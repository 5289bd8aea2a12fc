"""Counts the rows of a micro-batch that fail each rule, through Spark's ``observe``.

Spark evaluates the aggregates of ``observe`` for each row without generating code for them, so that a counter for each
rule costs more than the rules. Therefore rows are not counted by rule but by the set of rules that they fail: with a
histogram of the numbers from `Evaluation.failures`, which skips rows that pass all rules. A histogram is exact as long
as it has a bin for each number; `_BITS` limits the numbers. Sources with more rules have several histograms.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kafka.pipelines.events import SourceCounts
from kafka.pipelines.source_declaration import Otherwise, Rule

if TYPE_CHECKING:
    from pyspark.sql import Column, Row

_BITS = 13
"""Number of rules for a histogram: it has two to this power bins."""
_ROWS = "rows"
_OUTCOMES = "outcomes"
_REJECTING = (Otherwise.DROP, Otherwise.DEAD_LETTER, Otherwise.FAIL)
"""The outcomes of rows that the query does not process, from the mildest to the strictest."""


@dataclasses.dataclass(frozen=True, slots=True)
class Counts:
    """Counters of a source, for ``observe``.

    Arguments:
        columns: the aggregates to observe.
        rules: the rules of the source, in the order of their bits.
    """

    columns: tuple[Column, ...]
    rules: tuple[Rule, ...]

    def read(self, observed: Row | Mapping[str, Any] | None) -> SourceCounts:
        """Return the numbers of an observation; see `read_counts`."""
        return read_counts(self.rules, observed)


def read_counts(rules: Sequence[Rule], observed: Row | Mapping[str, Any] | None) -> SourceCounts:
    """Return the numbers of an observation.

    Arguments:
        rules: the rules of the source, built-in ones included, in the order of their bits.
        observed: the result of `Observation.get`, or the observed metrics of a micro-batch; None if Spark reports
            none, because the micro-batch had no rows.

    Returns `SourceCounts` without ranges and lag.
    """
    if observed is None:
        return SourceCounts(rows=0, processed=0, dropped=0, dead=0)
    failed = dict.fromkeys([rule.name for rule in rules], 0)
    outcomes = dict.fromkeys(_REJECTING, 0)
    for first, chunk in _chunks(rules):
        for bits, number in _bins(observed[_name(first)]):
            failing = [rule for index, rule in enumerate(chunk) if bits >> index & 1]
            for rule in failing:
                failed[rule.name] += number
            if len(rules) <= _BITS and (outcome := _strictest(failing)) is not None:
                outcomes[outcome] += number
    if len(rules) > _BITS:
        for index, number in _bins(observed[_OUTCOMES]):
            outcomes[_REJECTING[index]] += number
    rows = int(observed[_ROWS] or 0)
    return SourceCounts(
        rows=rows,
        processed=rows - sum(outcomes.values()),
        dropped=outcomes[Otherwise.DROP],
        dead=outcomes[Otherwise.DEAD_LETTER],
        rules={name: number for name, number in failed.items() if number},
    )


def counts(rules: Sequence[Rule], failures: Column) -> Counts:
    """Return the counters of a source.

    Arguments:
        rules: the rules of the source, built-in ones included, in the order of their bits.
        failures: the column of `Evaluation.failures`; pass a column that has been computed, so that Spark does not
            evaluate the rules again for each counter.
    """
    from pyspark.sql import functions as f

    columns = [f.count(f.lit(1)).alias(_ROWS)]
    for first, chunk in _chunks(rules):
        bits = failures if len(rules) <= _BITS else _part(failures, first, len(chunk))
        columns.append(_histogram(f.nullif(bits, f.lit(0).cast("bigint"))).alias(_name(first)))
    if len(rules) > _BITS:
        columns.append(_histogram(f.when(failures != 0, _outcome(rules, failures))).alias(_OUTCOMES))
    return Counts(tuple(columns), tuple(rules))


def _chunks(rules: Sequence[Rule]) -> Iterator[tuple[int, Sequence[Rule]]]:
    """Divide rules among histograms: pairs of the first index and the rules."""
    for first in range(0, len(rules), _BITS):
        yield first, rules[first : first + _BITS]


def _name(first: int) -> str:
    return f"rules_{first}"


def _strictest(rules: Sequence[Rule]) -> Otherwise | None:
    """Return the strictest outcome of rules that a row fails; None if the query processes the row."""
    found = [rule.otherwise for rule in rules if rule.otherwise in _REJECTING]
    return max(found, key=_REJECTING.index, default=None)


def _part(failures: Column, first: int, count: int) -> Column:
    from pyspark.sql import functions as f

    return f.shiftright(failures, first).bitwiseAND(f.lit((1 << count) - 1).cast("bigint"))


def _outcome(rules: Sequence[Rule], failures: Column) -> Column:
    """Return the index within `_REJECTING` of the strictest outcome; NULL for rows that are processed."""
    from pyspark.sql import functions as f

    found = f.lit(None).cast("int")
    for number, outcome in enumerate(_REJECTING):
        bits = sum(1 << index for index, rule in enumerate(rules) if rule.otherwise is outcome)
        found = f.when(failures.bitwiseAND(f.lit(bits).cast("bigint")) != 0, f.lit(number)).otherwise(found)
    return found


def _histogram(numbers: Column) -> Column:
    """Count each number with an exact histogram, as JSON: a list of ``{"x": number, "y": count}``; NULL if all are."""
    from pyspark.sql import functions as f

    return f.to_json(f.histogram_numeric(numbers.cast("double"), f.lit(1 << _BITS)))


def _bins(text: str | None) -> Iterator[tuple[int, int]]:
    """Return pairs of a number and its count; a number can occur several times.

    When Spark merges the bins of one number from several tasks, it computes their weighted mean, which is not exact.
    """
    for each in json.loads(text or "[]"):
        yield round(each["x"]), int(each["y"])
