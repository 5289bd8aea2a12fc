"""Base class of the synchronous and the asyncio admin client: options, metrics and health."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn, overload

from kafka.admin.admin_requests import AdminRequests
from kafka.cluster.client_core import ClientCore
from kafka.cluster.client_health import Observed, client_html, not_started
from kafka.cluster.telemetry.client_telemetry import Telemetry
from kafka.cluster.telemetry.collector import Identity
from kafka.config import AdminConfig, option_table, parse_admin
from kafka.config.secrecy import GivenConfigs
from kafka.config.table import values_of, with_class_defaults
from kafka.errors import IllegalStateError
from kafka.health import Health
from kafka.metrics.client_metrics import ClientMetrics
from kafka.net.callback_thread import CallbackRunner
from kafka.net.statistics import NetworkTraffic

if TYPE_CHECKING:
    from kafka.metrics.kafka_metric import KafkaMetric


class BaseAdminClient:
    """The options, metrics and health of an admin client."""

    DEFAULT_CONFIG: ClassVar[dict[str, Any]] = {
        name: row.default for name, row in option_table().items() if "admin" in row.clients
    }
    """The options of the client by keyword argument, with their defaults, as in kafka-python."""
    _parsed: AdminConfig
    _requests: AdminRequests
    _metrics: ClientMetrics | None = None
    _core: ClientCore | None = None

    def _parse(self, configs: Mapping[str, Any]) -> None:
        """Parse the options. Raises `KafkaConfigurationError`."""
        configs = with_class_defaults(self.DEFAULT_CONFIG, configs)
        self._parsed = parse_admin(configs)
        self._config = GivenConfigs({**self.DEFAULT_CONFIG, **configs})

    @property
    def config(self) -> dict[str, Any]:
        """The client's options, including defaults. Once connected, ``api_version`` is the version of the brokers."""
        given = self._parsed.connection.api_version
        self._config["api_version"] = given if self._core is None else self._core.cluster.release
        return self._config

    def health(self) -> Health:
        """Return the client's state; see `Health`. Any thread may call this at any time. It never blocks or raises."""
        if self._core is None:
            return not_started(self._parsed.connection.client_id)
        return self._core.health.report(Observed(), self._is_closed())

    def _repr_html_(self) -> str:
        """Return the client's health as HTML, for notebooks. Any thread may call this; it sends no request."""
        return self._shown_as(type(self).__name__)

    def _shown_as(self, kind: str) -> str:
        return client_html(kind, self.health(), self._parsed.connection)

    def register_metric_for_subscription(self, metric: "KafkaMetric") -> None:
        """Push an application metric to brokers with the client's own metrics, if brokers subscribe to it (KIP-1076).

        The metric's name on the brokers is "org.apache.kafka", its group and its name, joined by dots. A
        `kafka.metrics.stats.Total` is pushed as a sum, any other metric as a gauge. A metric with the same `MetricName`
        as one of the client's metrics is ignored. Any thread may call this.

        Raises `TypeError` if the metric is not a `KafkaMetric`.

        Like Java's `Admin.registerMetricForSubscription`.
        """
        self._pushing().register(metric)

    def unregister_metric_from_subscription(self, metric: "KafkaMetric") -> None:
        """Stop pushing a metric. Any thread may call this.

        Arguments:
            metric: the metric given to `register_metric_for_subscription`.

        Like Java's `Admin.unregisterMetricFromSubscription`.
        """
        self._pushing().unregister(metric)

    def _pushing(self) -> Telemetry:
        if self._core is None:
            raise IllegalStateError("the admin client was not started: await start(), or use 'async with'")
        return self._core.telemetry

    def _is_closed(self) -> bool:
        """Return whether the client is closed."""
        raise NotImplementedError

    @overload
    def metrics(self, raw: Literal[False] = False) -> dict[str, dict[str, float]]: ...
    @overload
    def metrics(self, raw: bool) -> dict[Any, Any]: ...
    def metrics(self, raw: bool = False) -> dict[Any, Any]:
        """Return the metrics of this client's connections, by group and name; empty with ``metrics_enabled=False``.

        Arguments:
            raw: True returns a dict of `KafkaMetric` objects by `MetricName` instead.

        Like Java's `Admin.metrics`.
        """
        if self._metrics is None:
            return {}
        return self._metrics.registered() if raw else self._metrics.snapshot()

    def _make_parts(self, loop: asyncio.AbstractEventLoop, reporting: CallbackRunner) -> ClientCore:
        """Create the client's core, which runs on ``loop``; ``reporting`` runs the metrics reporters."""
        connection = self._parsed.connection
        metrics = ClientMetrics(connection, loop.time, values_of(connection))
        traffic = NetworkTraffic(metrics, "admin", loop)
        metrics.call_reporters_by(reporting.submit)
        self._metrics = metrics
        identity = Identity("admin-client", "admin")
        core = self._core = ClientCore(
            connection, self._parsed.security, loop, traffic, metrics, identity, reporting.submit
        )
        self._requests = AdminRequests(core.cluster, connection, core.telemetry)
        return core

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"{type(self).__name__} objects own connections, so they cannot be pickled or copied: create one where it "
            "is needed, for example in each process"
        )
