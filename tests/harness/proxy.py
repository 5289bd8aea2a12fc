"""A small SOCKS5 proxy (RFC 1928, RFC 1929), which notes what it is asked for."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import threading
from types import TracebackType

_NONE, _PASSWORD, _REFUSED = 0, 2, 255
_IPV4, _NAME, _IPV6 = 1, 3, 4
_SUCCEEDED, _CONNECTION_REFUSED = 0, 5


class Socks5Proxy:
    """Serves on a free port of 127.0.0.1 in a thread of its own, from `with` on.

    Arguments:
        user: user name and password that are demanded; None: everybody may pass.
        names: where the hosts are that only the proxy knows.
        reply: what each request is answered with, 0 for success.

    `asked` has each host (as text) and port that it was asked for, in order.
    """

    def __init__(
        self, user: tuple[str, str] | None = None, names: dict[str, str] | None = None, reply: int = 0
    ) -> None:
        self._user, self._names, self._reply = user, names or {}, reply
        self.asked: list[tuple[str, int]] = []
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Socks5Proxy:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join()

    def _serve(self) -> None:
        self._loop.run_until_complete(self._run())
        self._loop.close()

    async def _run(self) -> None:
        self._stopping = asyncio.Event()
        server = await asyncio.start_server(self._take, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stopping.wait()
        server.close()
        rest = asyncio.all_tasks() - {asyncio.current_task()}
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.closing(writer), contextlib.suppress(OSError, asyncio.IncompleteReadError):
            if await self._let_in(reader, writer):
                await self._connect(reader, writer)

    async def _let_in(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        _, count = await reader.readexactly(2)
        offered = await reader.readexactly(count)
        wanted = _NONE if self._user is None else _PASSWORD
        if wanted not in offered:
            writer.write(bytes((5, _REFUSED)))
            await writer.drain()
            return False
        writer.write(bytes((5, wanted)))
        if self._user is None:
            return True
        _, size = await reader.readexactly(2)
        name = (await reader.readexactly(size)).decode()
        password = (await reader.readexactly((await reader.readexactly(1))[0])).decode()
        is_right = (name, password) == self._user
        writer.write(bytes((1, 0 if is_right else 1)))
        await writer.drain()
        return is_right

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        kind = (await reader.readexactly(4))[3]
        if kind == _NAME:
            host = (await reader.readexactly((await reader.readexactly(1))[0])).decode()
        else:
            host = str(ipaddress.ip_address(await reader.readexactly(4 if kind == _IPV4 else 16)))
        port = int.from_bytes(await reader.readexactly(2), "big")
        self.asked.append((host, port))
        if self._reply:
            await _answer(writer, self._reply)
            return
        try:
            far_reader, far_writer = await asyncio.open_connection(self._names.get(host, host), port)
        except OSError:  # such as the IPv6 address of a name whose server listens on the IPv4 address
            await _answer(writer, _CONNECTION_REFUSED)
            return
        with contextlib.closing(far_writer):
            await _answer(writer, _SUCCEEDED)
            back = asyncio.ensure_future(_copy(far_reader, writer))
            await _copy(reader, far_writer)
            back.cancel()


async def _answer(writer: asyncio.StreamWriter, reply: int) -> None:
    writer.write(bytes((5, reply, 0, _IPV4, 0, 0, 0, 0, 0, 0)))
    await writer.drain()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    writer.close()
