"""The counts of rows by rule and by outcome, from batches and from streams, against counts of the rows themselves."""

from __future__ import annotations

import pathlib
import random
from collections import Counter
from typing import Any

import pytest
from pyspark.sql import Observation
from pyspark.sql import functions as f

from kafka.pipelines.declaration import Otherwise, Rule
from kafka.pipelines.events import SourceCounts
from kafka.pipelines.rules import Evaluation, counts
from kafka.spark import run_available

from .spark_support import spark

__all__ = ["spark"]

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

ROWS = 20_000


def rules_of(count: int, seed: int) -> list[Rule]:
    """Rules with random outcomes; row n passes rule i if the bit i of a hash of n is set."""
    drawn = random.Random(seed)
    outcomes = [Otherwise.KEEP, Otherwise.DROP, Otherwise.DEAD_LETTER]
    return [
        Rule(name=f"rule {i}", holds=f"xxhash64(n) & {1 << i} <> 0 or n % 3 = 0", otherwise=drawn.choice(outcomes))
        for i in range(count)
    ]


def expected(rows: list[Any], rules: list[Rule]) -> SourceCounts:
    failed: Counter[str] = Counter()
    outcomes: Counter[str] = Counter()
    for row in rows:
        failed.update(row["names"])
        outcomes.update(each for each in ("processed", "drop", "dead_letter") if row[each])
    in_order = {rule.name: failed[rule.name] for rule in rules if failed[rule.name]}
    return SourceCounts(len(rows), outcomes["processed"], outcomes["drop"], outcomes["dead_letter"], in_order)


def evaluated(frame: Any, rules: list[Rule]) -> Any:
    evaluation = Evaluation(rules, f.col("n"))
    failures = f.col("failures")
    return evaluation.add_to(frame, "failures").select(
        "failures",
        evaluation.failed_names(failures).alias("names"),
        evaluation.is_processed(failures).alias("processed"),
        evaluation.has_outcome(failures, Otherwise.DROP).alias("drop"),
        evaluation.has_outcome(failures, Otherwise.DEAD_LETTER).alias("dead_letter"),
    )


@pytest.mark.parametrize("count", [0, 1, 10, 13, 14, 27, 63])
def test_counts_of_a_batch_are_exact(spark: Any, count: int) -> None:
    rules = rules_of(count, seed=count)
    counted = counts(rules, f.col("failures"))
    observation = Observation()
    frame = evaluated(spark.range(0, ROWS, 1, 7).withColumnRenamed("id", "n"), rules)
    rows = frame.observe(observation, *counted.columns).collect()
    found = counted.read(observation.get)
    assert found == expected(rows, rules)
    assert list(found.rules) == [name for name in (rule.name for rule in rules) if name in found.rules]


def test_a_micro_batch_without_rows_has_no_counts(spark: Any) -> None:
    counted = counts(rules_of(3, seed=1), f.col("failures"))
    assert counted.read(None) == SourceCounts(0, 0, 0, 0)
    observation = Observation()
    frame = evaluated(spark.range(0).withColumnRenamed("id", "n"), rules_of(3, seed=1))
    frame.observe(observation, *counted.columns).collect()
    assert counted.read(observation.get) == SourceCounts(0, 0, 0, 0)


def test_counts_of_a_stream_are_in_its_progress(spark: Any, tmp_path: pathlib.Path) -> None:
    rules = rules_of(20, seed=5)
    counted = counts(rules, f.col("failures"))
    rows = evaluated(spark.range(0, 1000).withColumnRenamed("id", "n"), rules).collect()
    spark.range(0, 1000).withColumnRenamed("id", "n").write.parquet(str(tmp_path / "in"))
    stream = spark.readStream.schema("n bigint").parquet(str(tmp_path / "in"))
    observed = evaluated(stream, rules).observe("source", *counted.columns)
    query = run_available(
        observed.writeStream.format("noop").option("checkpointLocation", str(tmp_path / "checkpoint"))
    )
    metrics = [each["observedMetrics"] for each in query.recentProgress if each["observedMetrics"]]
    assert [counted.read(each["source"]) for each in metrics] == [expected(rows, rules)]
