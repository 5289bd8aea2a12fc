"""Counts the rows of a source by what its rules did with them, while Spark processes them (`DataFrame.observe`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kafka.pipelines.declaration import Rule
from kafka.pipelines.events import SourceCounts
from kafka.pipelines.source_rows import Hidden

if TYPE_CHECKING:
    from pyspark.sql import Column


def count_columns(rules: Sequence[Rule]) -> list[Column]:
    """Return the aggregates to observe on the checked rows of a source.

    Arguments:
        rules: the rules, in the order of their bits in `Hidden.FAILURES`.
    """
    from pyspark.sql import functions as f

    failures = f.col(Hidden.FAILURES)
    return [
        f.count(f.lit(1)).alias("rows"),
        f.count_if(f.col(Hidden.DEAD)).alias("dead"),
        f.count_if(f.col(Hidden.DROPPED)).alias("dropped"),
        *[
            f.count_if(failures.bitwiseAND(f.lit(1 << index).cast("bigint")) != 0).alias(f"rule{index}")
            for index in range(len(rules))
        ],
    ]


def source_counts(
    rules: Sequence[Rule],
    observed: Mapping[str, Any],
    ranges: Mapping[str, tuple[int, int]] | None = None,
    lag: int | None = None,
) -> SourceCounts:
    """Return the counts of a micro-batch.

    Arguments:
        rules: the rules of the source.
        observed: the observed values of `count_columns`, by name; {} for a batch without rows.
        ranges, lag: as in `SourceCounts`.
    """
    rows, dead, dropped = (observed.get(name) or 0 for name in ("rows", "dead", "dropped"))
    failed = {rule.name: observed.get(f"rule{index}") or 0 for index, rule in enumerate(rules)}
    return SourceCounts(
        rows=rows,
        processed=rows - dead - dropped,
        dropped=dropped,
        dead=dead,
        rules={name: count for name, count in failed.items() if count},
        ranges=ranges or {},
        lag=lag,
    )
