"""How the clients start: on the running loop, and with aiokafka's error where no broker is found."""

import asyncio
from collections.abc import Awaitable
from typing import Any

from kafka.aio.errors import BootstrapError
from kafka.aio.options import TokensOnLoop
from kafka.errors import NoBrokersAvailable


async def start(client: Awaitable[None], options: dict[str, Any]) -> None:
    """Await a client's ``start()``; raises `BootstrapError` where it finds no broker."""
    provider = options.get("sasl_oauth_token_provider")
    if isinstance(provider, TokensOnLoop):
        provider.loop = asyncio.get_running_loop()
    try:
        await client
    except NoBrokersAvailable as error:
        raise BootstrapError(*error.args) from error.__cause__
