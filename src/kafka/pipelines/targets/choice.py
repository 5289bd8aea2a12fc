"""Which target the value of the key ``sink`` is: told by the key that names the target.

To add a target, add its model to `TARGETS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka.pipelines.targets.delta import DeltaSink
from kafka.pipelines.targets.foreach_batch import ForeachBatchSink
from kafka.pipelines.targets.iceberg import IcebergSink
from kafka.pipelines.targets.parquet import ParquetSink
from kafka.pipelines.targets.postgresql import PostgresqlSink
from kafka.pipelines.targets.tables_by_topic import TablesByTopicSink
from kafka.pipelines.targets.target import TargetModel

TARGETS: Mapping[str, type[TargetModel]] = {
    "parquet": ParquetSink,
    "delta": DeltaSink,
    "iceberg": IcebergSink,
    "postgresql": PostgresqlSink,
    "tables_by_topic": TablesByTopicSink,
    "foreach_batch": ForeachBatchSink,
}
"""The models of the targets by the key that names them."""

_TOPIC = "topic"

AnyTarget = ParquetSink | DeltaSink | IcebergSink | PostgresqlSink | TablesByTopicSink | ForeachBatchSink
"""The type of a target other than a topic."""


def kind_of(given: Any) -> str:
    """Return the key that tells which target a value of ``sink`` is; "topic" if no key of another target is given.

    Arguments:
        given: a mapping, such as ``{"parquet": "/data/flights"}``, or a model.
    """
    if isinstance(given, TargetModel):
        return next((name for name, model in TARGETS.items() if isinstance(given, model)), _TOPIC)
    if isinstance(given, Mapping):
        return next((name for name in TARGETS if name in given), _TOPIC)
    return _TOPIC
