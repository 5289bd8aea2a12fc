"""The synchronous admin client."""

import contextlib
import sys
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, Never, TypeVar, Unpack

from kafka import _old_names
from kafka.admin._sync.access import AccessCalls, TokenCalls
from kafka.admin._sync.cluster import ClusterCalls, QuorumCalls
from kafka.admin._sync.configs import ConfigCalls
from kafka.admin._sync.group_offsets import GroupOffsetCalls
from kafka.admin._sync.groups import GroupCalls
from kafka.admin._sync.log_dirs import LogDirCalls
from kafka.admin._sync.partitions import PartitionCalls
from kafka.admin._sync.quotas import QuotaCalls
from kafka.admin._sync.topics import TopicCalls
from kafka.admin._sync.transactions import TransactionCalls
from kafka.admin.base_client import BaseAdminClient
from kafka.cluster.client_core import ClientCore
from kafka.cluster.client_health import ClientHealth
from kafka.cluster.kafka_python_client import SendsToNodes
from kafka.config import AdminConfigs, with_options
from kafka.config.argument_errors import refuse_positions
from kafka.errors import IllegalStateError, KafkaError
from kafka.net import LoopThread
from kafka.net.callback_thread import WorkerThread

T = TypeVar("T")
_CLOSE_TIMEOUT_S = 5.0


@with_options("admin")
class KafkaAdminClient(
    BaseAdminClient,
    TopicCalls,
    ConfigCalls,
    PartitionCalls,
    GroupCalls,
    GroupOffsetCalls,
    TransactionCalls,
    AccessCalls,
    QuotaCalls,
    TokenCalls,
    LogDirCalls,
    ClusterCalls,
    QuorumCalls,
    SendsToNodes,
):
    """Administers a cluster; safe to use from several threads.

    Each method blocks until the cluster has responded. All methods raise the cluster's error for a request, such as
    `TopicAlreadyExistsError`. They also raise `IllegalArgumentError` for an invalid argument; `KafkaTimeoutError` and
    `KafkaConnectionError` if the cluster does not respond in time; `UnsupportedVersionError` if the brokers are too
    old; and `ForkedClientError` in a forked child. Example::

        with KafkaAdminClient(bootstrap_servers="localhost:9092") as admin:
            admin.create_topics({"orders": {"num_partitions": 3}}, wait_for_metadata=True)
            print(admin.list_topics(include_internal=False))

    Arguments:
        configs: options, such as ``bootstrap_servers``, ``client_id`` and ``request_timeout_ms``.

    Raises `NoBrokersAvailable`, with the result for each bootstrap server, and `KafkaConfigurationError`. If
    ``api_version`` is given, the client connects in the background and does not wait for a server.
    """

    _core: ClientCore

    def __init__(self, *given: Never, **configs: Unpack[AdminConfigs]) -> None:
        self._closed = True  # lets __del__ run if __init__ fails
        refuse_positions(given, "KafkaAdminClient", "admin")
        self._parse(configs)
        connection = self._parsed.connection
        self._loop_thread = LoopThread.shared()
        self._reporting = WorkerThread(f"kafka-metrics-{connection.client_id}")
        self._make_parts(self._loop_thread.loop, self._reporting)
        self._loop_thread.on_death(self._core.health, ClientHealth.loop_failed)
        try:
            in_background = connection.api_version is not None
            self._loop_thread.run(self._core.start(in_background=in_background))
        except BaseException:
            self._loop_thread.spawn(self._core.close())
            raise
        self._closed = False

    def close(self) -> None:
        """Close the connections, and stop reporting metrics. Closing a closed client has no effect."""
        if self._closed:
            return
        self._close_polled_client()
        with contextlib.suppress(KafkaError):  # a fork or the process exit has already closed the connections
            closing = self._loop_thread.spawn(self._core.close())
            self._closed = True  # from here on, an interrupt only stops the waiting: the connections are closed anyway
            if not self._loop_thread.in_loop_thread:  # a finalizer may run in the loop thread, and must not block it
                closing.result(_CLOSE_TIMEOUT_S)
        self._closed = True
        metrics = self._metrics
        if metrics is None:
            return
        metrics.close()
        if metrics.has_reporters and not WorkerThread.is_current():
            self._reporting.drain(_CLOSE_TIMEOUT_S)
        self._reporting.finish()

    def __enter__(self) -> "KafkaAdminClient":
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if is_finalizing():  # modules may already be unloaded, and the process exit closes everything
            return
        if not getattr(self, "_closed", True):
            with contextlib.suppress(KafkaError, RuntimeError):
                self._loop_thread.spawn(self._core.close())

    def _is_closed(self) -> bool:
        return self._closed

    def _options_given(self) -> dict[str, Any]:
        return self._config

    def _run(self, operation: Coroutine[Any, Any, T]) -> T:
        if self._closed:
            operation.close()
            raise IllegalStateError("the admin client is closed")
        return self._loop_thread.run(operation)


def __getattr__(name: str) -> Any:
    """Load a name that programs may import from here, because kafka-python's module at this path imports it."""
    return _old_names.of_a_package(__name__, name, {})
