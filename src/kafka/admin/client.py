"""The synchronous admin client."""

import contextlib
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, ClassVar, Literal, NoReturn, TypeVar, Unpack, overload

from kafka.admin.calls.access import AccessCalls
from kafka.admin.calls.cluster import ClusterCalls
from kafka.admin.calls.configs import ConfigCalls
from kafka.admin.calls.group_offsets import GroupOffsetCalls
from kafka.admin.calls.groups import GroupCalls
from kafka.admin.calls.partitions import PartitionCalls
from kafka.admin.calls.quotas import QuotaCalls
from kafka.admin.calls.topics import TopicCalls
from kafka.admin.calls.transactions import TransactionCalls
from kafka.admin.requests import AdminRequests
from kafka.cluster import ClusterClient
from kafka.config import AdminConfigs, option_table, parse_admin, with_options
from kafka.config.table import values_of
from kafka.errors import IllegalStateError, KafkaError
from kafka.metrics.client_metrics import ClientMetrics
from kafka.net import LoopThread
from kafka.net.callback_thread import WorkerThread
from kafka.net.statistics import NetworkTraffic

T = TypeVar("T")
_CLOSE_TIMEOUT_S = 5.0


@with_options("admin")
class KafkaAdminClient(
    TopicCalls,
    ConfigCalls,
    PartitionCalls,
    GroupCalls,
    GroupOffsetCalls,
    TransactionCalls,
    AccessCalls,
    QuotaCalls,
    ClusterCalls,
):
    """Administers a cluster; safe to use from several threads.

    Each method blocks until the cluster has answered. All raise what is wrong with the request, such as
    `TopicAlreadyExistsError`; `IllegalArgumentError` for an argument that is none; `KafkaTimeoutError` and
    `KafkaConnectionError` when the cluster does not answer in time; `UnsupportedVersionError` when the brokers are too
    old; `ForkedClientError` in a forked child.

    Arguments: client options by keyword, see below.
    Raises `NoBrokersAvailable`, naming what each bootstrap server answered, and `KafkaConfigurationError`. With
    ``api_version`` it waits for no server, and connects in the background.
    """

    DEFAULT_CONFIG: ClassVar[dict[str, Any]] = {
        name: row.default for name, row in option_table().items() if "admin" in row.clients
    }

    def __init__(self, **configs: Unpack[AdminConfigs]) -> None:
        self._closed = True  # so that __del__ works on one that could not be made
        parsed = parse_admin(configs)
        self._config = {**self.DEFAULT_CONFIG, **configs}
        self._loop_thread = LoopThread.shared()
        self._metrics = ClientMetrics(parsed.connection, self._loop_thread.loop.time, values_of(parsed.connection))
        self._reporting = WorkerThread(f"kafka-metrics-{parsed.connection.client_id}")
        traffic = NetworkTraffic(self._metrics, "admin", self._loop_thread.loop)
        self._metrics.call_reporters_by(self._reporting.submit)
        self._cluster = ClusterClient(parsed.connection, parsed.security, traffic=traffic)
        self._requests = AdminRequests(self._cluster, parsed.connection)
        try:
            in_background = parsed.connection.api_version is not None
            self._loop_thread.run(self._cluster.start(in_background=in_background))
        except BaseException:
            self._loop_thread.spawn(self._cluster.close())
            raise
        self._closed = False

    @property
    def config(self) -> dict[str, Any]:
        """The options as given, with defaults; ``api_version`` is that of the brokers once one is connected."""
        self._config["api_version"] = self._cluster.release
        return self._config

    def close(self) -> None:
        """Close the connections. Does nothing the second time."""
        if self._closed:
            return
        with contextlib.suppress(KafkaError):  # a fork or the end of the process has closed them already
            closing = self._loop_thread.spawn(self._cluster.close())
            self._closed = True  # an interrupt from here on ends the wait, and the connections are closed all the same
            if not self._loop_thread.in_loop_thread:  # a finalizer may be run there, which must not stop the loop
                closing.result(_CLOSE_TIMEOUT_S)
        self._closed = True
        self._metrics.close()
        if self._metrics.has_reporters and not WorkerThread.is_current():
            self._reporting.drain(_CLOSE_TIMEOUT_S)
        self._reporting.finish()

    @overload
    def metrics(self, raw: Literal[False] = False) -> dict[str, dict[str, float]]: ...
    @overload
    def metrics(self, raw: bool) -> dict[Any, Any]: ...
    def metrics(self, raw: bool = False) -> dict[Any, Any]:
        """Numbers about the connections of this client, by group and name; nothing with ``metrics_enabled=False``.

        Arguments:
            raw: True gives `KafkaMetric` objects by their `MetricName` instead.
        """
        return self._metrics.registered() if raw else self._metrics.snapshot()

    def __enter__(self) -> "KafkaAdminClient":
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if not getattr(self, "_closed", True):
            with contextlib.suppress(KafkaError, RuntimeError):
                self._loop_thread.spawn(self._cluster.close())

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"{type(self).__name__} objects own connections, so they cannot be pickled or copied: make one where it is "
            "needed, for example in each process"
        )

    def _run(self, operation: Coroutine[Any, Any, T]) -> T:
        if self._closed:
            operation.close()
            raise IllegalStateError("the admin client is closed")
        return self._loop_thread.run(operation)
