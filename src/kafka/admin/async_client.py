"""The asyncio admin client: the same operations on the caller's event loop, without a thread."""

import asyncio
import sys
import warnings
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import TYPE_CHECKING, Any, Never, Self, TypeVar, Unpack

from kafka.admin._async.access import AsyncAccessCalls, AsyncTokenCalls
from kafka.admin._async.cluster import AsyncClusterCalls, AsyncQuorumCalls
from kafka.admin._async.configs import AsyncConfigCalls
from kafka.admin._async.group_offsets import AsyncGroupOffsetCalls
from kafka.admin._async.groups import AsyncGroupCalls
from kafka.admin._async.log_dirs import AsyncLogDirCalls
from kafka.admin._async.partitions import AsyncPartitionCalls
from kafka.admin._async.quotas import AsyncQuotaCalls
from kafka.admin._async.topics import AsyncTopicCalls
from kafka.admin._async.transactions import AsyncTransactionCalls
from kafka.admin.base_client import BaseAdminClient
from kafka.cluster.client_core import ClientCore
from kafka.cluster.kafka_python_client import InnerName
from kafka.config import AdminConfigs, with_options
from kafka.config.argument_errors import refuse_positions
from kafka.errors import IllegalStateError
from kafka.net.callback_thread import LoopCallbacks
from kafka.net.own_loop import OwnLoop

T = TypeVar("T")


@with_options("admin")
class AsyncKafkaAdminClient(
    BaseAdminClient,
    AsyncTopicCalls,
    AsyncConfigCalls,
    AsyncPartitionCalls,
    AsyncGroupCalls,
    AsyncGroupOffsetCalls,
    AsyncTransactionCalls,
    AsyncAccessCalls,
    AsyncQuotaCalls,
    AsyncTokenCalls,
    AsyncLogDirCalls,
    AsyncClusterCalls,
    AsyncQuorumCalls,
):
    """The asyncio version of `KafkaAdminClient`, with the same options, and the same methods as coroutines.

    Use it as ``async with AsyncKafkaAdminClient(...) as admin``, or call `start` and `close`. Several tasks may call
    it at the same time. A cancelled call leaves nothing running, but the cluster may still carry out a request that was
    already sent. Example::

        async with AsyncKafkaAdminClient(bootstrap_servers="localhost:9092") as admin:
            topics, groups = await asyncio.gather(admin.list_topics(), admin.list_groups())

    Arguments:
        configs: options, such as ``bootstrap_servers``, ``client_id`` and ``request_timeout_ms``.

    Raises `KafkaConfigurationError`. Before `start`, and after `close`, each method raises `IllegalStateError`.
    """

    _closed = InnerName(lambda admin: admin._is_closed())
    """Whether the client is closed, under the name that the synchronous client uses."""

    def __init__(self, *given: Never, **configs: Unpack[AdminConfigs]) -> None:
        refuse_positions(given, "AsyncKafkaAdminClient", "admin")
        self._parse(configs)
        self._closing: asyncio.Task[None] | None = None

    async def start(self, *, in_background: bool = False) -> None:
        """Connect to the cluster. Raises `NoBrokersAvailable`, with the result for each bootstrap server.

        If ``api_version`` is given, the client connects in the background and does not wait for a server.

        Arguments:
            in_background: return at once, and connect in the background. Until a server answers, calls fail as they do
                when all brokers are lost.
        """
        if self._core is not None:
            raise IllegalStateError("the admin client was started before")
        self._runs_on = OwnLoop()
        self._loop = self._runs_on.loop
        self._reporting = LoopCallbacks(self._loop)
        core = self._make_parts(self._loop, self._reporting)
        try:
            await core.start(in_background=in_background or self._parsed.connection.api_version is not None)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Close the connections, and stop reporting metrics. Closing a closed client has no effect."""
        if self._core is None or self._runs_on.was_left_by_fork:  # after a fork, only the parent may close connections
            return
        if self._closing is None:
            self._closing = self._loop.create_task(self._close(self._core))
        await asyncio.shield(self._closing)  # cancelling the wait does not stop the closing

    async def stop(self) -> None:
        """Close the connections: another name of `close`, for programs that use `start` and `stop` with all clients."""
        await self.close()

    async def _close(self, core: ClientCore) -> None:
        await core.close()
        if self._metrics is not None:
            self._metrics.close()
            if self._metrics.has_reporters:
                await self._reporting.idle()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if is_finalizing():  # modules may already be unloaded, and the process exit closes everything
            return
        core = self._core
        if core is None or self._closing is not None or self._runs_on.was_left_by_fork:
            return
        text = "an AsyncKafkaAdminClient was never closed: await close(), or use it in an 'async with' block"
        warnings.warn(text, ResourceWarning, stacklevel=2)
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(lambda: self._loop.create_task(core.close()))

    def _is_closed(self) -> bool:
        return self._closing is not None

    async def _run(self, operation: Coroutine[Any, Any, T]) -> T:
        if self._closing is not None:
            operation.close()
            raise IllegalStateError("the admin client is closed")
        return await self._runs_on.checked(operation)

    if not TYPE_CHECKING:  # otherwise type checkers would accept any name

        def __getattr__(self, name: str) -> Any:
            if name == "_requests":
                raise IllegalStateError("the admin client was not started: await start(), or use 'async with'")
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
