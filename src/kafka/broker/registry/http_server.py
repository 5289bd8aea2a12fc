"""The registry's HTTP/1.1 server. Requests and responses contain JSON, and their sizes are limited.

`RegistryServer` is the registry of one broker: its file and its server.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from kafka._addresses import AddressError, split_address
from kafka.broker.registry.registry_errors import Refused
from kafka.broker.registry.routes import HttpRequest, Routes
from kafka.broker.registry.store import Store

log = logging.getLogger(__name__)

_MAX_HEAD: Final = 64 * 1024
_MAX_BODY: Final = 32 * 1024 * 1024
_CONTENT_TYPE: Final = "application/vnd.schemaregistry.v1+json"
_REASONS: Final = {200: "OK", 400: "Bad Request", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed"} | {
    409: "Conflict",
    413: "Content Too Large",
    422: "Unprocessable Entity",
    500: "Internal Server Error",
    501: "Not Implemented",
}


class _BadRequest(Exception):
    """Raised if a request is invalid or unsupported; the connection is closed after the response."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(status, message)
        self.status = status
        self.message = message


class HttpServer:
    """Listens, and responds to the requests of each connection in order.

    Arguments:
        answer: returns the JSON value of a successful response, or raises `Refused`.
    """

    def __init__(self, answer: Callable[[HttpRequest], Any]) -> None:
        self._answer = answer
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0

    async def start(self, host: str, port: int) -> None:
        """Start listening; raises OSError if the address is not available."""
        self._server = await asyncio.start_server(self._connected, host, port, limit=_MAX_HEAD)
        self.port = int(self._server.sockets[0].getsockname()[1])

    async def stop(self) -> None:
        """Stop listening, and close the connections."""
        server, self._server = self._server, None
        if server is None:
            return
        server.close()
        for task in tuple(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        await server.wait_closed()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            while await self._serve_one(reader, writer):
                pass
        except (OSError, asyncio.IncompleteReadError):
            pass  # the client closed the connection
        except asyncio.CancelledError:
            writer.transport.abort()  # A client that does not read its responses would otherwise block the shutdown.
            if self._server is not None:
                raise
        finally:
            writer.close()
            try:
                await writer.wait_closed()
            except OSError:
                pass
            except asyncio.CancelledError:
                writer.transport.abort()

    async def _serve_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Respond to one request; return whether another request may follow on this connection."""
        try:
            asked, headers = await _read(reader)
        except _BadRequest as error:
            _write(writer, error.status, {"error_code": error.status, "message": error.message}, keep=False)
            await writer.drain()
            return False
        if asked is None:
            return False
        refusal = _refusal(headers)
        if refusal is not None:
            status, value = 403, {"error_code": 403, "message": refusal}
        else:
            status, value = self._judged(asked)
        keep = headers.get("connection", "").lower() != "close"
        _write(writer, status, value, keep)
        await writer.drain()
        return keep

    def _judged(self, asked: HttpRequest) -> tuple[int, Any]:
        try:
            return 200, self._answer(asked)
        except Refused as error:
            return error.status, {"error_code": error.code, "message": error.message}
        except Exception as error:  # A failed request must not stop the broker.
            log.exception("the schema registry could not answer %s %s", asked.method, asked.path)
            return 500, {"error_code": 50001, "message": f"Error in the embedded schema registry: {error!r}"}


async def _read(reader: asyncio.StreamReader) -> tuple[HttpRequest | None, dict[str, str]]:
    """Read the next request and its headers; the request is None if the client has closed the connection."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as error:
        if error.partial.strip():
            raise _BadRequest(400, "Expected a complete HTTP request") from error
        return None, {}
    except asyncio.LimitOverrunError as error:
        raise _BadRequest(400, f"Expected headers of at most {_MAX_HEAD} bytes") from error
    lines = head.decode("latin-1").split("\r\n")
    words = lines[0].split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        raise _BadRequest(400, "Expected an HTTP/1.1 request")
    headers = {}
    for line in lines[1:]:
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    if words[2] == "HTTP/1.0":
        headers["connection"] = "close"
    try:
        parts = urlsplit(words[1])
    except ValueError as error:
        raise _BadRequest(400, "Expected a valid path") from error
    query = parse_qs(parts.query, keep_blank_values=True)
    return HttpRequest(words[0], parts.path, query, await _body(reader, headers)), headers


async def _body(reader: asyncio.StreamReader, headers: dict[str, str]) -> bytes:
    if "chunked" in headers.get("transfer-encoding", "").lower():
        try:
            return await _chunks(reader)
        except asyncio.LimitOverrunError as error:
            raise _BadRequest(400, f"Expected lines of at most {_MAX_HEAD} bytes between chunks") from error
    text = headers.get("content-length", "0")
    if not text.isascii() or not text.isdigit():
        raise _BadRequest(400, "Expected Content-Length as a number")
    length = int(text[:20])
    if length > _MAX_BODY:
        raise _BadRequest(413, f"Expected a request of at most {_MAX_BODY} bytes")
    return await reader.readexactly(length)


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    data = bytearray()
    while True:
        line = await reader.readuntil(b"\r\n")
        try:
            size = int(line.split(b";")[0].strip(), 16)
        except ValueError:
            raise _BadRequest(400, "Expected a chunk's size") from None
        if size < 0 or len(data) + size > _MAX_BODY:
            raise _BadRequest(413, f"Expected a request of at most {_MAX_BODY} bytes")
        data += await reader.readexactly(size)
        ending = await reader.readuntil(b"\r\n")
        if not size:
            while ending != b"\r\n":  # trailers
                ending = await reader.readuntil(b"\r\n")
            return bytes(data)


def _write(writer: asyncio.StreamWriter, status: int, value: Any, keep: bool) -> None:
    body = json.dumps(value, separators=(",", ":")).encode()
    head = (
        f"HTTP/1.1 {status} {_REASONS.get(status, 'Error')}\r\n"
        f"Content-Type: {_CONTENT_TYPE}\r\n"
        f"Content-Length: {len(body)}\r\n"
        "X-Content-Type-Options: nosniff\r\n"
        f"Connection: {'keep-alive' if keep else 'close'}\r\n\r\n"
    )
    writer.write(head.encode() + body)


def _refusal(headers: dict[str, str]) -> str | None:
    """Return the reason to reject a request, or None. Requests from web pages are rejected, even with DNS rebinding."""
    host = headers.get("host", "")
    try:
        name, _ = split_address(host)
        if name.lower() != "localhost":
            ipaddress.ip_address(name)
    except (AddressError, ValueError):
        return f"The embedded schema registry is not served under the name {host[:100]!r}: use an address or localhost"
    if "origin" in headers or headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        return "The embedded schema registry does not answer pages of other sites"
    return None


HOST = "127.0.0.1"
"""The loopback interface: as there are no logins, only programs on this machine may connect."""
_FILE = "schema-registry.json"


class RegistryPortError(OSError):
    """The schema registry cannot listen on its port."""


class RegistryServer:
    """A schema registry that stores its data in a broker's folder.

    Arguments:
        folder: the broker's data folder.
        port: the port; 0: a free one.
        sync: whether acknowledged changes survive a power failure.
    """

    def __init__(self, folder: Path, port: int, sync: bool) -> None:
        self._http = HttpServer(Routes(Store(folder / _FILE, sync)).answer)
        self._port = port

    @property
    def port(self) -> int:
        """The port on which the registry listens."""
        return self._http.port

    @property
    def url(self) -> str:
        """The registry's URL, for the client option ``url``."""
        return f"http://{HOST}:{self.port}"

    async def start(self) -> None:
        """Start listening; raises `RegistryPortError` if the port is in use."""
        try:
            await self._http.start(HOST, self._port)
        except OSError as error:
            raise RegistryPortError(error.errno, f"the schema registry cannot listen on {HOST}:{self._port}") from error

    async def stop(self) -> None:
        """Close the connections. The file needs no closing, as each change is written completely."""
        await self._http.stop()
