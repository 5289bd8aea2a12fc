"""The metrics of clients as OpenTelemetry's (the extra "opentelemetry"; the program chooses an SDK).

    from opentelemetry.metrics import get_meter
    from kafka.metrics.opentelemetry import MeterReporter

    producer = KafkaProducer(metric_reporters=[MeterReporter(get_meter("kafka"))])

Each client needs a reporter of its own. Values are read when the SDK collects.
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
    """Makes an observable gauge ``kafka.<group>.<name>`` of each metric of a client, as the client registers it.

    What differs between topics, partitions and nodes is in the attributes ``client-id``, ``topic``, ``partition`` and
    ``node``. Averages and maxima of nothing are left out.

    Arguments:
        meter: makes the instruments.
    """

    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        self._shown: dict[str, dict[MetricName, KafkaMetric]] = {}

    def configure(self, configs: Mapping[str, Any]) -> None:
        """Nothing depends on the client's options.

        Arguments:
            configs: no effect.
        """

    def init(self, metrics: Iterable[KafkaMetric]) -> None:
        """Show what there is.

        Arguments:
            metrics: those of the client so far.
        """
        for metric in metrics:
            self.metric_change(metric)

    def metric_change(self, metric: KafkaMetric) -> None:
        """Show one more.

        Arguments:
            metric: the one that is new, or has changed.
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
        """Show it no more.

        Arguments:
            metric: the one that is gone.
        """
        name = metric.metric_name
        full_name = _full_name(name)
        with _lock:
            shown = self._shown.get(full_name, {})
            self._shown[full_name] = {each: of for each, of in shown.items() if each != name}

    def close(self) -> None:
        """Show nothing more."""
        with _lock:
            self._shown = {}
            for reporters in _instruments.get(self._meter, {}).values():
                reporters.pop(self, None)

    def values(self, full_name: str) -> list[Observation]:
        """The values of now, of one instrument.

        Arguments:
            full_name: the instrument's name.
        """
        read = ((float(metric.value()), name) for name, metric in self._shown.get(full_name, {}).items())
        return [Observation(value, _parted(name)[1]) for value, name in read if math.isfinite(value)]


_Reporters = dict[MeterReporter, None]
_lock = threading.Lock()
_instruments: weakref.WeakKeyDictionary[Meter, dict[str, _Reporters]] = weakref.WeakKeyDictionary()
"""Who has values for each instrument of a meter: a meter has one of a name, whichever clients have such a metric."""


def _observe(full_name: str, reporters: _Reporters, options: CallbackOptions) -> list[Observation]:
    return [value for reporter in list(reporters) for value in reporter.values(full_name)]


def _full_name(name: MetricName) -> str:
    return re.sub(r"[^\w.-]", "_", f"kafka.{_parted(name)[0]}.{name.name}")


def _parted(name: MetricName) -> tuple[str, dict[str, str]]:
    """A group without what it is about, and the attributes."""
    group, about = parted(name.group)
    attributes = {**(name.tags or {}), **about}
    if "node" in about:
        attributes["node"] = about["node"].removeprefix("node-")
    return group, attributes
