"""Exports clients' metrics to prometheus_client (the extra "prometheus").

    from prometheus_client import REGISTRY
    from kafka.metrics.prometheus import KafkaCollector

    REGISTRY.register(KafkaCollector(producer, consumer))

Values are read only when the registry is scraped.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any, Protocol

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

LABELS = ("client_id", "topic", "partition", "node")
"""The labels of each value; "" if a label does not apply."""


class HasMetrics(Protocol):
    """What a client needs for its metrics to be exported: every consumer, producer and admin client has it."""

    def metrics(self, raw: bool = False) -> dict[Any, Any]:
        """Return the current values by group and name; with ``raw``, the `KafkaMetric` objects by `MetricName`."""


class KafkaCollector(Collector):
    """Exports all metrics of clients as gauges named ``kafka_<group>_<name>``, with `LABELS`.

    Averages and maxima are omitted while there are no values for them. Thread-safe. A client's `metrics` method must be
    callable, so add asyncio clients only after they have been started.

    Arguments:
        clients: producers, consumers and admin clients.
    """

    def __init__(self, *clients: HasMetrics) -> None:
        self._clients: tuple[HasMetrics, ...] = clients

    def add(self, client: HasMetrics) -> None:
        """Export the metrics of another client, too.

        Arguments:
            client: a consumer, a producer or an admin client.
        """
        self._clients = (*self._clients, client)

    def remove(self, client: HasMetrics) -> None:
        """Stop exporting the metrics of a client, for example because it is closed."""
        self._clients = tuple(each for each in self._clients if each is not client)

    def describe(self) -> list[GaugeMetricFamily]:
        """Return an empty list, because the names are known only when the metrics are read."""
        return []

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Return the current values: a gauge for each name. prometheus_client calls this for each scrape."""
        families: dict[str, GaugeMetricFamily] = {}
        for client in self._clients:
            for name, metric in client.metrics(raw=True).items():
                value = float(metric.value())
                if not math.isfinite(value):
                    continue
                group, labels = _labels(name.group, name.tags)
                full_name = re.sub(r"\W", "_", f"kafka_{group}_{name.name}")
                family = families.get(full_name)
                if family is None:
                    family = families[full_name] = GaugeMetricFamily(full_name, name.description, labels=LABELS)
                family.add_metric(labels, value)
        yield from families.values()


def _labels(group: str, tags: dict[str, str]) -> tuple[str, list[str]]:
    """Split a group that ends in a dot and the metric's subject; return its name and the values of `LABELS`."""
    group, _, about = group.partition(".")
    found = {name.replace("-", "_"): value for name, value in tags.items()}
    if group.endswith("-node-metrics"):
        found["node"] = about.removeprefix("node-")
    elif about:
        found["topic"] = about
    return group, [found.get(label, "") for label in LABELS]
