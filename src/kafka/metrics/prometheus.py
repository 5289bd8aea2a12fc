"""The metrics of clients for prometheus_client (the extra "prometheus").

    from prometheus_client import REGISTRY
    from kafka.metrics.prometheus import KafkaCollector

    REGISTRY.register(KafkaCollector(producer, consumer))

Values are read when the registry is scraped; until then it costs nothing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any, Protocol

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

LABELS = ("client_id", "topic", "partition", "node")
"""What each value is labelled with; "" where it is not about such a thing."""


class HasMetrics(Protocol):
    """A client, of whichever kind."""

    def metrics(self, raw: bool = False) -> dict[Any, Any]:
        """`KafkaMetric` objects by name, if ``raw``."""


class KafkaCollector(Collector):
    """Shows all metrics of clients as gauges named ``kafka_<group>_<name>``, with `LABELS`.

    Averages and maxima of nothing are left out. Safe to use from any thread; a client's `metrics` has to be callable,
    so add asyncio clients once they are started.

    Arguments:
        clients: producers, consumers, admin clients.
    """

    def __init__(self, *clients: HasMetrics) -> None:
        self._clients: tuple[HasMetrics, ...] = clients

    def add(self, client: HasMetrics) -> None:
        """Show the metrics of one more client."""
        self._clients = (*self._clients, client)

    def remove(self, client: HasMetrics) -> None:
        """Show those of a client no more, for example as it is closed."""
        self._clients = tuple(each for each in self._clients if each is not client)

    def describe(self) -> list[GaugeMetricFamily]:
        """Nothing: names are known when the metrics are read."""
        return []

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """The values of now."""
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
    """A group without what it is about, which kafka-python has behind a dot, and the values of `LABELS`."""
    group, _, about = group.partition(".")
    found = {name.replace("-", "_"): value for name, value in tags.items()}
    if group.endswith("-node-metrics"):
        found["node"] = about.removeprefix("node-")
    elif about:
        found["topic"] = about
    return group, [found.get(label, "") for label in LABELS]
