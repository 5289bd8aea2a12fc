"""`Metrics`: a registry of metrics, and of the sensors that provide their values."""

from __future__ import annotations

import logging
import sys
import threading
import weakref
from collections.abc import Callable, Sequence

from kafka.metrics.kafka_metric import AbstractMeasurable, AnonMeasurable, KafkaMetric, MetricConfig, MetricName
from kafka.metrics.metrics_reporter import AbstractMetricsReporter
from kafka.metrics.sensor import Sensor

log = logging.getLogger(__name__)

_EXPIRE_EVERY_S = 30.0


class Metrics:
    """Metrics by their `MetricName`, and sensors by name. Thread-safe.

    The registry contains one metric of its own: ``count``, in the group ``kafka-metrics-count``.

    Arguments:
        default_config: used for metrics and sensors without a configuration; None means the defaults of `MetricConfig`.
        reporters: notified whenever a metric is added or removed, in the thread that does so. Errors from these
            notifications are logged, as in Java; errors from `init` are raised.
        enable_expiration: whether a thread removes sensors that receive no value within their expiration time.
    """

    def __init__(
        self,
        default_config: MetricConfig | None = None,
        reporters: list[AbstractMetricsReporter] | None = None,
        enable_expiration: bool = False,
    ) -> None:
        self._lock = threading.RLock()
        self._config = default_config or MetricConfig()
        self._sensors: dict[str, Sensor] = {}
        self._metrics: dict[MetricName, KafkaMetric] = {}
        self._children_sensors: dict[Sensor, list[Sensor]] = {}
        self._reporters = reporters or []
        self._failing: set[type] = set()
        """The classes of reporters whose errors have been logged."""
        self._closing = threading.Event()
        for reporter in self._reporters:
            reporter.init([])
        if enable_expiration:
            arguments = (weakref.ref(self), self._closing)
            threading.Thread(target=_expire, args=arguments, name="kafka-metrics-expiration", daemon=True).start()
        count = self.metric_name("count", "kafka-metrics-count", "total number of registered metrics")
        self.add_metric(count, AnonMeasurable(lambda config, now: len(self._metrics)))

    @property
    def config(self) -> MetricConfig:
        """The default configuration."""
        return self._config

    @property
    def has_reporters(self) -> bool:
        """Whether there are reporters."""
        return bool(self._reporters)

    @property
    def metrics(self) -> dict[MetricName, KafkaMetric]:
        """The registered metrics."""
        return self._metrics

    def metric_name(
        self, name: str, group: str, description: str | None = "", tags: dict[str, str] | None = None
    ) -> MetricName:
        """Create a name with the tags of the default configuration, overridden by the given tags.

        Arguments:
            name: the metric's name, such as "record-send-rate".
            group: the metric's group, such as "producer-metrics".
            description: a description for users.
            tags: additional tags, such as ``{"topic": "t"}``.
        """
        return MetricName(name, group, description, {**self._config.tags, **(tags or {})})

    def get_sensor(self, name: str) -> Sensor | None:
        """Return a sensor by name, or None if it does not exist. Raises `ValueError` for an empty name."""
        if not name:
            raise ValueError("a sensor needs a name")
        return self._sensors.get(name)

    def sensor(
        self,
        name: str,
        config: MetricConfig | None = None,
        inactive_sensor_expiration_time_seconds: float = sys.maxsize,
        parents: Sequence[Sensor] | None = None,
    ) -> Sensor:
        """Return the sensor with this name, creating it if necessary.

        Arguments:
            config: used for the sensor's metrics that have no configuration; None means the default configuration.
            inactive_sensor_expiration_time_seconds: seconds without a value after which the sensor may be removed.
            parents: sensors that also receive each value of this sensor.

        Raises `ValueError` for an empty name, and for parents that would form a cycle.
        """
        with self._lock:
            found = self.get_sensor(name)
            if found is not None:
                return found
            sensor = Sensor(self, name, parents, config or self._config, inactive_sensor_expiration_time_seconds)
            self._sensors[name] = sensor
            for parent in parents or ():
                self._children_sensors.setdefault(parent, []).append(sensor)
        log.debug("sensor %s was created", name)
        return sensor

    def remove_sensor(self, name: str) -> None:
        """Remove a sensor by name, if it exists, with its metrics and all sensors that pass values to it."""
        with self._lock:
            sensor = self._sensors.pop(name, None)
            if sensor is None:
                return
            for metric in sensor.metrics:
                self.remove_metric(metric.metric_name)
            children = self._children_sensors.pop(sensor, [])
        log.debug("sensor %s is removed", name)
        for child in children:
            self.remove_sensor(child.name)

    def add_metric(
        self, metric_name: MetricName, measurable: AbstractMeasurable, config: MetricConfig | None = None
    ) -> None:
        """Register a quantity without a sensor. Raises `ValueError` if the name is taken.

        Arguments:
            metric_name: a name, as returned by `metric_name`.
            measurable: returns the value.
            config: how the quantity is sampled; None means the default configuration.
        """
        self.register_metric(KafkaMetric(metric_name, measurable, config or self._config))

    def remove_metric(self, metric_name: MetricName) -> KafkaMetric | None:
        """Remove a metric and notify the reporters; return the metric, or None if it does not exist.

        Arguments:
            metric_name: the name under which the metric was added.
        """
        with self._lock:
            metric = self._metrics.pop(metric_name, None)
            if metric is not None:
                self._tell(lambda reporter: reporter.metric_removal(metric))
            return metric

    def add_reporter(self, reporter: AbstractMetricsReporter) -> None:
        """Add a reporter, and notify it of the existing metrics.

        Arguments:
            reporter: notified whenever a metric is added, changed or removed.
        """
        with self._lock:
            reporter.init(list(self._metrics.values()))
            self._reporters.append(reporter)

    def register_metric(self, metric: KafkaMetric) -> None:
        """Register a metric and notify the reporters. Raises `ValueError` if its name is taken."""
        with self._lock:
            if metric.metric_name in self._metrics:
                raise ValueError(f"there is a metric of the name {metric.metric_name} already")
            self._metrics[metric.metric_name] = metric
            self._tell(lambda reporter: reporter.metric_change(metric))

    class ExpireSensorTask:
        """The periodic task that runs in the ``enable_expiration`` thread."""

        @staticmethod
        def run(metrics: Metrics) -> None:
            """Remove expired sensors."""
            for name, sensor in list(metrics._sensors.items()):
                if sensor.has_expired():
                    metrics.remove_sensor(name)

    def close(self) -> None:
        """Close the reporters, and remove all metrics."""
        self._closing.set()
        self._tell(lambda reporter: reporter.close())
        self._metrics.clear()

    def _tell(self, what: Callable[[AbstractMetricsReporter], object]) -> None:
        """Call each reporter; an error in one of them affects neither the others nor the client."""
        for reporter in self._reporters:
            kind = type(reporter)
            try:
                what(reporter)
            except (Exception, SystemExit) as error:
                if kind in self._failing:
                    log.debug("metrics reporter %s failed again: %r", kind.__name__, error)
                else:
                    self._failing.add(kind)
                    log.exception("metrics reporter %s failed; its further errors are logged as DEBUG", kind.__name__)


def _expire(registry: weakref.ref[Metrics], closing: threading.Event) -> None:
    while not closing.wait(_EXPIRE_EVERY_S):
        metrics = registry()
        if metrics is None:
            return
        metrics.ExpireSensorTask.run(metrics)
        del metrics
