"""A client's metrics: kafka-python's metrics registry, and the clients' counters. Layer 0.

| module | content |
|---|---|
| `windows` | the clients' counters, updated once per batch or response |
| `client_metrics` | the registry of one client: created when its metrics are read, or for reporters |
| the others | kafka-python's classes, at their old import paths, for reading and extending a client's metrics |

`kafka.legacy.metrics` contains the statistics that sensors compute, such as averages. The exception is `Total`, which
telemetry uses, so it is in this package.

The metrics of the clients are defined in `kafka.consumer.monitoring` and `kafka.producer.producer_statistics`.

The names below are loaded on first use, because a client needs none of them unless the program reads its metrics.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from kafka import _old_names

if TYPE_CHECKING:
    from kafka.metrics.kafka_metric import AnonMeasurable as AnonMeasurable
    from kafka.metrics.kafka_metric import KafkaMetric as KafkaMetric
    from kafka.metrics.kafka_metric import MetricConfig as MetricConfig
    from kafka.metrics.kafka_metric import MetricName as MetricName
    from kafka.metrics.kafka_metric import Quota as Quota
    from kafka.metrics.metrics import Metrics as Metrics
    from kafka.metrics.metrics_reporter import DictReporter as DictReporter
    from kafka.metrics.stat import NamedMeasurable as NamedMeasurable

__all__ = [
    "AnonMeasurable",
    "DictReporter",
    "KafkaMetric",
    "MetricConfig",
    "MetricName",
    "Metrics",
    "NamedMeasurable",
    "Quota",
]

_HOMES = {
    "AnonMeasurable": "kafka.metrics.kafka_metric",
    "DictReporter": "kafka.metrics.metrics_reporter",
    "KafkaMetric": "kafka.metrics.kafka_metric",
    "MetricConfig": "kafka.metrics.kafka_metric",
    "MetricName": "kafka.metrics.kafka_metric",
    "Metrics": "kafka.metrics.metrics",
    "NamedMeasurable": "kafka.metrics.stat",
    "Quota": "kafka.metrics.kafka_metric",
}

_SUBMODULES = (
    "compound_stat",
    "dict_reporter",
    "kafka_metric",
    "measurable",
    "measurable_stat",
    "metric_config",
    "metric_name",
    "metrics",
    "metrics_reporter",
    "quota",
    "stat",
    "stats",
)
"""Submodules that are also loaded by `import kafka.metrics` in kafka-python."""


def __getattr__(name: str) -> Any:
    """Load a name from its module, or a submodule, on first use (PEP 562)."""
    if name in _SUBMODULES:
        return importlib.import_module(f"{__name__}.{name}")
    return _old_names.of_a_package(__name__, name, _HOMES)
