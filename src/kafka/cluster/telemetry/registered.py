"""Metrics of the program that are pushed along with the client's (KIP-1076)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from kafka.metrics.client_metrics import ClientMetrics, Point, parted
from kafka.metrics.kafka_metric import KafkaMetric, MetricName
from kafka.metrics.stat import Total

log = logging.getLogger(__name__)

_LONGEST_S = 1.0
"""Maximum wait in seconds for the values, which are computed by the program's functions and may hang."""

Values = list[tuple[Point, bool]]


class RegisteredMetrics:
    """The program's registered metrics. `add` and `remove` are thread-safe; `read` runs on the loop.

    Arguments:
        metrics: the client's own metrics, which registered ones must not replace.
        submit: runs a function where user code may run.
    """

    def __init__(self, metrics: ClientMetrics, submit: Callable[[Callable[[], object]], object]) -> None:
        self._metrics = metrics
        self._submit = submit
        self._registered: dict[MetricName, KafkaMetric] = {}
        self._reading: asyncio.Future[Values] | None = None
        self._failed: set[MetricName] = set()

    def add(self, metric: KafkaMetric) -> None:
        """Register a metric; see the clients' `register_metric_for_subscription`."""
        name = _name_of(metric)
        if name in self._metrics.registered():
            log.debug("%s is not registered: the client has a metric of this name", name)
        else:
            self._registered[name] = metric

    def remove(self, metric: KafkaMetric) -> None:
        """Unregister a metric; see the clients' `unregister_metric_from_subscription`."""
        self._registered.pop(_name_of(metric), None)

    async def read(self) -> Values:
        """Return the current values, each with a flag that is true for a sum; empty until they are available."""
        if not self._registered:
            return []
        if self._reading is None:
            self._reading = self._begin()
        await asyncio.wait((self._reading,), timeout=_LONGEST_S)
        if not self._reading.done():
            return []
        values, self._reading = self._reading.result(), None
        return values

    def _begin(self) -> asyncio.Future[Values]:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Values] = loop.create_future()

        def settle(values: Values) -> None:
            if not future.done():
                future.set_result(values)

        def read() -> None:
            values = [each for name, metric in list(self._registered.items()) if (each := self._value(name, metric))]
            if not loop.is_closed():
                loop.call_soon_threadsafe(settle, values)

        self._submit(read)
        return future

    def _value(self, name: MetricName, metric: KafkaMetric) -> tuple[Point, bool] | None:
        """Return the value of a metric; None if it has no usable value, which is logged once."""
        try:
            value = float(metric.value())
        except BaseException as error:  # even SystemExit must affect only this metric
            if name not in self._failed:
                self._failed.add(name)
                log.warning("a metric that was registered for subscriptions has no value: %s: %r", name, error)
            return None
        group, about = parted(name.group)
        is_sum = isinstance(getattr(metric, "measurable", None), Total)
        return Point(group, name.name, {**(name.tags or {}), **about}, value), is_sum


def _name_of(metric: KafkaMetric) -> MetricName:
    if not isinstance(metric, KafkaMetric):
        raise TypeError(f"expected a KafkaMetric, not {metric!r:.100}")
    return metric.metric_name
