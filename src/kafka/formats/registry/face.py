"""The common part of the synchronous and the asyncio registry client: options, and connections by event loop."""

import asyncio
from collections.abc import Mapping
from typing import Any, NoReturn

from kafka.formats.registry.exchange import Exchange
from kafka.formats.registry.options import RegistryOptions, parse


class RegistryFace:
    """The options of a registry client, and its connections."""

    _options: RegistryOptions
    _exchange: Exchange | None = None
    _exchange_loop: asyncio.AbstractEventLoop | None = None

    def _parse(self, conf: Mapping[str, Any]) -> None:
        """Parse the configuration; raises `KafkaConfigurationError`."""
        self._options = parse(conf)
        self._conf = dict(conf)

    def config(self) -> dict[str, Any]:
        """The given configuration, secrets included."""
        return self._conf

    async def _request(
        self, method: str, path: str, query: Mapping[str, Any] | None, body: Mapping[str, Any] | None
    ) -> Any:
        """Ask a registry over connections of the running loop: a client may be used on several loops in turn."""
        loop = asyncio.get_running_loop()
        if self._exchange is None or self._exchange_loop is not loop:
            exchange = Exchange(self._options)
            self._hold(exchange)
            self._exchange, self._exchange_loop = exchange, loop
        return await self._exchange.request(method, path, query, body)

    def _hold(self, exchange: Exchange) -> None:
        """Called with new connections; a client that closes them when it is dropped keeps them alive until then."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(each.address for each in self._options.urls)})"

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"{type(self).__name__} objects own connections, so they cannot be pickled or copied: make one where it is "
            "needed, for example in each process"
        )
