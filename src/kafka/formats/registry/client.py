"""The synchronous client of a schema registry."""

import contextlib
import sys
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self

from kafka.errors import IllegalStateError, KafkaError
from kafka.formats.registry.column_calls import ColumnCalls
from kafka.formats.registry.face import RegistryFace
from kafka.formats.registry.http_library import http_library
from kafka.formats.registry.setting_calls import SettingCalls
from kafka.net import LoopThread

_CLOSE_TIMEOUT_S = 5.0


class SchemaRegistryClient(RegistryFace, ColumnCalls, SettingCalls):
    """Asks a schema registry with Confluent's HTTP API; safe to use from several threads.

    Connections are made when they are needed. In a forked child it makes connections of its own.

    Arguments:
        conf: options by confluent-kafka's names; "url" is needed.

    Raises `KafkaConfigurationError`, which shows no secret.
    """

    def __init__(self, conf: Mapping[str, Any]) -> None:
        self._closed = True  # so that __del__ works on one that could not be made
        self._parse(conf)
        self._keep_answers(self._options)
        self._loop_thread: LoopThread | None = None
        self._closed = False

    @staticmethod
    def new_client(conf: Mapping[str, Any]) -> "SchemaRegistryClient":
        """A client, as confluent-kafka makes one.

        Arguments:
            conf: as of the class.
        """
        return SchemaRegistryClient(conf)

    def _send(
        self, method: str, path: str, query: Mapping[str, Any] | None = None, body: Mapping[str, Any] | None = None
    ) -> Any:
        if self._closed:
            raise IllegalStateError("the schema registry client is closed")
        http_library()  # takes its time, which others on the loop's thread would miss
        self._loop_thread = LoopThread.shared()
        return self._loop_thread.run(self._request(method, path, query, body))

    def close(self) -> None:
        """Close the connections. Does nothing the second time."""
        self._closed = True
        exchange, loop_thread = self._taken_exchange(), self._loop_thread
        if exchange is None or loop_thread is None:
            return
        with contextlib.suppress(KafkaError, RuntimeError):  # a fork or the end of the process has closed them
            closing = loop_thread.spawn(exchange.close())
            if not loop_thread.in_loop_thread:
                closing.result(_CLOSE_TIMEOUT_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if is_finalizing() or getattr(self, "_closed", True):
            return
        exchange, loop_thread = self._taken_exchange(), self._loop_thread
        if exchange is not None and loop_thread is not None:
            with contextlib.suppress(KafkaError, RuntimeError):
                loop_thread.spawn(exchange.close())
