"""The synchronous and the asyncio schema registry client."""

import contextlib
import sys
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self

from kafka.errors import IllegalStateError, KafkaError
from kafka.formats.registry._async.association_calls import AsyncAssociationCalls
from kafka.formats.registry._async.column_calls import AsyncColumnCalls
from kafka.formats.registry._async.setting_calls import AsyncSettingCalls
from kafka.formats.registry._sync.association_calls import AssociationCalls
from kafka.formats.registry._sync.column_calls import ColumnCalls
from kafka.formats.registry._sync.setting_calls import SettingCalls
from kafka.formats.registry.errors import http_library
from kafka.formats.registry.exchange import BaseRegistryClient, Exchange
from kafka.net import LoopThread
from kafka.net.loop_call import LoopCall

_CLOSE_TIMEOUT_S = 5.0
_open: set[Exchange] = set()
"""The connections of all clients. Without this reference, they could be garbage-collected before their client."""


class SchemaRegistryClient(BaseRegistryClient, ColumnCalls, SettingCalls, AssociationCalls):
    """A client for a schema registry with Confluent's HTTP API. Thread-safe.

    Connections are opened on first use. A forked child process opens its own connections. Example::

        with SchemaRegistryClient({"url": "http://localhost:8081"}) as registry:
            print(registry.get_latest_version("orders-value").schema.schema_str)

    Arguments:
        conf: options under confluent-kafka's names; "url" is required.

    Raises `KafkaConfigurationError` for invalid options; the message shows no secrets.
    """

    _loop_thread: LoopThread | None = None

    def __init__(self, conf: Mapping[str, Any]) -> None:
        self._parse(conf)
        self._keep_answers(self._options)
        self._closed = False

    @staticmethod
    def new_client(conf: Mapping[str, Any]) -> "SchemaRegistryClient":
        """Make a client, like confluent-kafka's method of this name.

        Arguments:
            conf: see the class.
        """
        return SchemaRegistryClient(conf)

    def _send(
        self, method: str, path: str, query: Mapping[str, Any] | None = None, body: Mapping[str, Any] | None = None
    ) -> Any:
        if self._closed:
            raise IllegalStateError("the schema registry client is closed")
        http_library()  # import here, because a slow import must not block the loop's thread
        self._loop_thread = LoopThread.shared()
        return self._loop_thread.run(self._request(method, path, query, body))

    def _hold(self, exchange: Exchange) -> None:
        if self._closed:
            raise IllegalStateError("the schema registry client was closed")
        if self._exchange is not None:
            _open.discard(self._exchange)  # its loop has ended, so it can no longer be closed
        _open.add(exchange)

    def close(self) -> None:
        """Close the connections to the registry. Closing again has no effect."""
        self._closed = True
        closing = self._begin_closing()
        if closing is not None and self._loop_thread is not None and not self._loop_thread.in_loop_thread:
            with contextlib.suppress(KafkaError, RuntimeError):  # already closed at exit
                closing.result(_CLOSE_TIMEOUT_S)

    def _begin_closing(self) -> LoopCall[None] | None:
        exchange, loop_thread = self._exchange, self._loop_thread
        if exchange is None or loop_thread is None:
            return None
        closing = None
        if self._exchange_loop is not loop_thread.loop:
            _open.discard(exchange)  # its loop has ended, so it can no longer be closed
        else:
            try:
                closing = loop_thread.spawn(_close(exchange))
            except (KafkaError, RuntimeError):
                if not loop_thread.was_left_by_fork:  # after a fork, the connections belong to the parent process
                    _open.discard(exchange)
        self._exchange = None  # last, so that the next call or `__del__` closes it after an interrupt
        return closing

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if not is_finalizing():
            self._begin_closing()


async def _close(exchange: Exchange) -> None:
    try:
        await exchange.close()
    finally:
        _open.discard(exchange)


class AsyncSchemaRegistryClient(BaseRegistryClient, AsyncColumnCalls, AsyncSettingCalls, AsyncAssociationCalls):
    """An asyncio client for a schema registry, with the options and (awaitable) calls of `SchemaRegistryClient`.

    Use it as ``async with AsyncSchemaRegistryClient(...) as registry``, or call `close` when done. Several tasks of one
    event loop may call it concurrently.

    Arguments:
        conf: options under confluent-kafka's names; "url" is required.

    Raises `KafkaConfigurationError` for invalid options; the message shows no secrets.
    """

    def __init__(self, conf: Mapping[str, Any]) -> None:
        self._closed = False
        self._parse(conf)
        self._keep_answers(self._options)

    @staticmethod
    def new_client(conf: Mapping[str, Any]) -> "AsyncSchemaRegistryClient":
        """Make a client, like confluent-kafka's method of this name.

        Arguments:
            conf: see the class.
        """
        return AsyncSchemaRegistryClient(conf)

    async def _send(
        self, method: str, path: str, query: Mapping[str, Any] | None = None, body: Mapping[str, Any] | None = None
    ) -> Any:
        if self._closed:
            raise IllegalStateError("the schema registry client is closed")
        return await self._request(method, path, query, body)

    async def close(self) -> None:
        """Close the connections to the registry. Closing again has no effect."""
        self._closed = True
        exchange, self._exchange = self._exchange, None
        if exchange is not None:
            await exchange.close()

    async def aclose(self) -> None:
        """Alias for `close`, as in confluent-kafka."""
        await self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()
