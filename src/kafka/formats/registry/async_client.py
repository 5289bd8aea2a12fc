"""The asyncio client of a schema registry."""

from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from kafka.errors import IllegalStateError
from kafka.formats.registry._async.association_calls import AsyncAssociationCalls
from kafka.formats.registry._async.column_calls import AsyncColumnCalls
from kafka.formats.registry._async.setting_calls import AsyncSettingCalls
from kafka.formats.registry.exchange import BaseRegistryClient


class AsyncSchemaRegistryClient(BaseRegistryClient, AsyncColumnCalls, AsyncSettingCalls, AsyncAssociationCalls):
    """Asks a schema registry in asyncio: the options and calls of `SchemaRegistryClient`, awaited.

    Use it as ``async with AsyncSchemaRegistryClient(...) as registry``, or call `close` when done. Several tasks of one
    event loop may call it at the same time.

    Arguments:
        conf: options by confluent-kafka's names; "url" is needed.

    Raises `KafkaConfigurationError`, which shows no secret.
    """

    def __init__(self, conf: Mapping[str, Any]) -> None:
        self._closed = False
        self._parse(conf)
        self._keep_answers(self._options)

    @staticmethod
    def new_client(conf: Mapping[str, Any]) -> "AsyncSchemaRegistryClient":
        """Make a client the way confluent-kafka does.

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
        """Close the connections. Does nothing the second time."""
        self._closed = True
        exchange, self._exchange = self._exchange, None
        if exchange is not None:
            await exchange.close()

    async def aclose(self) -> None:
        """`close` under confluent-kafka's name."""
        await self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()
