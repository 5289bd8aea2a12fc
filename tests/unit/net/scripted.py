"""A scripted broker: an asyncio server that reads Kafka's frames and answers from a script."""

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

from kafka.wire import message_class
from kafka.wire.api.api_versions import ApiVersion, ApiVersionsResponse, FinalizedFeatureKey
from kafka.wire.framing import decode_request, encode_response

SASL_HANDSHAKE = 17
HANG_UP = object()
"""Return this from a handler to close the connection."""
SILENCE = object()
"""Return this from a handler to send no answer."""


class Raw(bytes):
    """Return this from a handler to send exactly these bytes."""


SERVED = ("ApiVersions", "Metadata", "FindCoordinator", "Heartbeat", "Fetch", "Produce", "ListOffsets")


def request_class(api: str) -> Any:
    return message_class(f"{api}Request")


class ScriptedBroker:
    """Listens on a free port of the loopback interface. ``handlers`` maps names of APIs to handlers.

    A handler receives the request's header and the request, and returns a response, one of the values above, or an
    awaitable of either. Without a handler, ApiVersions is answered with ``versions``.
    """

    def __init__(self, node_id: int = 1, served: tuple[str, ...] = SERVED, ssl: Any = None) -> None:
        self.node_id = node_id
        self.versions = {cls.API_KEY: (cls.MIN_VERSION, cls.MAX_VERSION) for cls in map(request_class, served)}
        self.features: dict[str, int] = {}
        self.features_epoch = -1
        self.handlers: dict[str, Callable[[Any, Any], Any]] = {"ApiVersions": self._api_versions}
        self.raw_replies: list[Any] = []
        """Answers (bytes, HANG_UP, SILENCE) to the frames without a header that follow a SaslHandshake of version 0."""
        self.raw_tokens: list[bytes] = []
        self.seen: list[tuple[Any, Any]] = []
        self.connections = 0
        self.host, self.port = "127.0.0.1", 0
        self._ssl = ssl
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[Any]] = set()

    def on(self, api: str, handler: Callable[[Any, Any], Any]) -> None:
        self.handlers[api] = handler

    def requests(self, api: str) -> list[Any]:
        return [request for _, request in self.seen if type(request).__name__ == f"{api}Request"]

    @property
    def open_connections(self) -> int:
        return len(self._writers)

    async def __aenter__(self) -> "ScriptedBroker":
        await self.listen()
        return self

    async def listen(self, port: int = 0) -> None:
        self._server = await asyncio.start_server(self._serve, self.host, port, ssl=self._ssl)
        self.port = self._server.sockets[0].getsockname()[1]

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def stop(self) -> None:
        self._server.close()
        self.hang_up()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    def hang_up(self) -> None:
        for writer in list(self._writers):
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._writers.add(writer)
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while True:
                frame = await self._read(reader)
                if not await self._answer(frame, writer):
                    break
                if self.seen[-1][0].request_api_key == SASL_HANDSHAKE:
                    for reply in self.raw_replies:
                        self.raw_tokens.append(await self._read(reader))
                        if reply is HANG_UP:
                            return
                        if reply is SILENCE:
                            await reader.read()
                            return
                        writer.write(len(reply).to_bytes(4, "big") + reply)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self._writers.discard(writer)
            self._tasks.discard(task)
            writer.transport.abort()

    async def _read(self, reader: asyncio.StreamReader) -> bytes:
        return await reader.readexactly(int.from_bytes(await reader.readexactly(4), "big"))

    async def _answer(self, frame: bytes, writer: asyncio.StreamWriter) -> bool:
        header, request = decode_request(frame)
        self.seen.append((header, request))
        handler = self.handlers.get(type(request).__name__.removesuffix("Request"))
        answer = handler(header, request) if handler is not None else HANG_UP
        if inspect.isawaitable(answer):
            answer = await answer
        if answer is HANG_UP:
            return False
        if answer is SILENCE:
            return True
        if isinstance(answer, Raw):
            writer.write(answer)
        else:
            parts = encode_response(answer, header.request_api_version, header.correlation_id)
            writer.write(b"".join(parts))
        await writer.drain()
        return True

    def _api_versions(self, header: Any, request: Any) -> Any:
        return ApiVersionsResponse(
            api_keys=[
                ApiVersion(api_key=k, min_version=low, max_version=high) for k, (low, high) in self.versions.items()
            ],
            finalized_features_epoch=self.features_epoch,
            finalized_features=[
                FinalizedFeatureKey(name=name, min_version_level=level, max_version_level=level)
                for name, level in self.features.items()
            ],
        )
