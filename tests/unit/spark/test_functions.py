"""Errors of the functions for columns."""

from __future__ import annotations

import sys

import pyspark.sql.functions
import pytest

from kafka.spark import SparkRequirementError, functions


def test_pyspark_before_3_5_is_rejected_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(pyspark.sql.functions, "arrow_udf", raising=False)
    monkeypatch.delattr(pyspark.sql.functions, "typeof")
    with pytest.raises(SparkRequirementError, match=r"kafka\.spark\.functions needs PySpark 3\.5 or later"):
        functions.to_json("value")


def test_pandas_is_required_by_name_without_arrow_udfs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(pyspark.sql.functions, "arrow_udf", raising=False)
    monkeypatch.setitem(sys.modules, "kafka.spark.pandas_functions", None)
    with pytest.raises(SparkRequirementError, match=r"needs pandas and pyarrow with PySpark before 4\.1"):
        functions.from_json("value", "id bigint")
