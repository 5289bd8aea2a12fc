"""Exports clients' metrics to OpenTelemetry (the extra "opentelemetry"; the program chooses an SDK).

    from opentelemetry.metrics import get_meter
    from kafka.metrics.opentelemetry import MeterReporter

    producer = KafkaProducer(metric_reporters=[MeterReporter(get_meter("kafka"))])

Each client needs its own reporter. Values are read when the SDK collects metrics.
"""

from __future__ import annotations

import math
import re
import threading
import weakref
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from opentelemetry.metrics import CallbackOptions, Meter, Observation

from kafka.metrics.client_metrics import parted
from kafka.metrics.kafka_metric import KafkaMetric, MetricName
from kafka.metrics.metrics_reporter import AbstractMetricsReporter


class MeterReporter(AbstractMetricsReporter):
    """Creates an observable gauge ``kafka.<group>.<name>`` for each metric that a client registers.

    Topics, partitions and nodes are distinguished by the attributes ``client-id``, ``topic``, ``partition`` and
    ``node``. Averages and maxima are omitted while there are no values for them.

    Arguments:
        meter: creates the instruments.
    """

    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        self._shown: dict[str, dict[MetricName, KafkaMetric]] = {}

    def configure(self, configs: Mapping[str, Any]) -> None:
        """Do nothing, as the reporter does not depend on the client's options.

        Arguments:
            configs: ignored.
        """

    def init(self, metrics: Iterable[KafkaMetric]) -> None:
        """Export the metrics that exist already. The client calls this when it adds the reporter.

        Arguments:
            metrics: the client's metrics so far.
        """
        for metric in metrics:
            self.metric_change(metric)

    def metric_change(self, metric: KafkaMetric) -> None:
        """Export a new or changed metric. The client calls this.

        Arguments:
            metric: the metric; its value is read whenever OpenTelemetry collects.
        """
        name = metric.metric_name
        full_name = _full_name(name)
        with _lock:
            self._shown[full_name] = {**self._shown.get(full_name, {}), name: metric}
            instruments = _instruments.setdefault(self._meter, {})
            is_new = full_name not in instruments
            reporters = instruments.setdefault(full_name, {})
            reporters[self] = None
        if is_new:
            self._meter.create_observable_gauge(
                full_name, callbacks=[partial(_observe, full_name, reporters)], description=name.description or ""
            )

    def metric_removal(self, metric: KafkaMetric) -> None:
        """Stop exporting a metric. The client calls this when it removes one.

        Arguments:
            metric: the removed metric.
        """
        name = metric.metric_name
        full_name = _full_name(name)
        with _lock:
            shown = self._shown.get(full_name, {})
            self._shown[full_name] = {each: of for each, of in shown.items() if each != name}

    def close(self) -> None:
        """Stop exporting all metrics of the client. The client calls this when it closes."""
        with _lock:
            self._shown = {}
            for reporters in _instruments.get(self._meter, {}).values():
                reporters.pop(self, None)

    def values(self, full_name: str) -> list[Observation]:
        """Return the current values of one instrument.

        Arguments:
            full_name: the instrument's name.
        """
        read = ((float(metric.value()), name) for name, metric in self._shown.get(full_name, {}).items())
        return [Observation(value, _parted(name)[1]) for value, name in read if math.isfinite(value)]


_Reporters = dict[MeterReporter, None]
_lock = threading.Lock()
_instruments: weakref.WeakKeyDictionary[Meter, dict[str, _Reporters]] = weakref.WeakKeyDictionary()
"""The reporters that provide values for each instrument of a meter. All clients with a metric of the same name share
one instrument.
"""


def _observe(full_name: str, reporters: _Reporters, options: CallbackOptions) -> list[Observation]:
    return [value for reporter in list(reporters) for value in reporter.values(full_name)]


def _full_name(name: MetricName) -> str:
    return re.sub(r"[^\w.-]", "_", f"kafka.{_parted(name)[0]}.{name.name}")


def _parted(name: MetricName) -> tuple[str, dict[str, str]]:
    """Split a metric's group into its base name and attributes."""
    group, about = parted(name.group)
    attributes = {**(name.tags or {}), **about}
    if "node" in about:
        attributes["node"] = about["node"].removeprefix("node-")
    return group, attributes
