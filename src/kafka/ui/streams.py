"""Responses that are sent while they are made: live parts, live tails, searches and downloads.

A browser that has stopped to read, such as that of a suspended machine, must not occupy one of the few searches and
tails forever.
"""

import asyncio
import logging
from typing import Any

from starlette.requests import ClientDisconnect
from starlette.responses import StreamingResponse
from starlette.types import Message, Send

log = logging.getLogger(__name__)

_PATIENCE_S = 120.0
"""Maximum time for the browser to read what is waiting for it, which is at most 64 KiB and the current part."""


class StreamedResponse(StreamingResponse):
    """A response that ends, and closes the iterator of its content, if the browser reads nothing for two minutes."""

    body_iterator: Any

    async def stream_response(self, send: Send) -> None:
        """See `StreamingResponse`."""

        async def sent(message: Message) -> None:
            try:
                async with asyncio.timeout(_PATIENCE_S):
                    await send(message)
            except TimeoutError:
                raise ClientDisconnect from None

        try:
            await super().stream_response(sent)
        except ClientDisconnect:
            log.info("a browser has read nothing for %g s: its response ends", _PATIENCE_S)
            await self.body_iterator.aclose()
