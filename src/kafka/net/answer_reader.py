"""Makes a response of the bytes of an answer: at once, or in a thread if there are many bytes."""

import asyncio
from collections.abc import Callable
from typing import Any

from kafka.errors import Cancelled
from kafka.net.blocking import run_blocking
from kafka.net.buffers import FrameBuffer
from kafka.net.gc_pause import no_collections
from kafka.net.inflight import InFlight, Reply
from kafka.net.throttle import throttle_s
from kafka.wire.framing import decode_response

_API_VERSIONS = 18
_UNSUPPORTED_VERSION = (35).to_bytes(2, "big")
_READ_BESIDE = 128 * 1024
"""An answer without records of so many bytes takes the loop longer to read than others should wait."""


class AnswerReader:
    """Reads the answers of one connection.

    Arguments:
        give: takes a request whose answer is still awaited, for how many seconds the broker asks for silence, the
            response (or what the request's ``digest`` makes of it), and the pooled frame that it came in. Where there
            are neither seconds nor a frame, the request has its answer without it.
        unreadable: takes a request, and why its answer could not be read.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        give: Callable[[InFlight, float, Any, FrameBuffer | None], None],
        unreadable: Callable[[InFlight, Exception], None],
    ) -> None:
        self._loop = loop
        self._give = give
        self._unreadable = unreadable
        self._beside: set[asyncio.Task[None]] = set()

    def read(self, entry: InFlight, view: memoryview, buffer: FrameBuffer | None) -> bool:
        """Read an answer, or begin to; False if it could not be read. Without a buffer the bytes last for the call."""
        # Records are views of the frame: it has to live on with them.
        has_records = entry.request.RESPONSE.HAS_RECORDS
        frame = bytes(view) if has_records and buffer is None else view
        version = entry.version
        if entry.request.API_KEY == _API_VERSIONS and bytes(view[4:6]) == _UNSUPPORTED_VERSION:
            version = 0  # the refusal of an ApiVersions version is always in the oldest one (KIP-511)
        if buffer is not None and not has_records and len(view) >= _READ_BESIDE:
            task = self._loop.create_task(self._read_beside(entry, version, view, buffer))
            self._beside.add(task)
            task.add_done_callback(self._beside.discard)
            return True
        try:
            response = decode_response(entry.request, version, frame)
            asked = getattr(response, "throttle_time_ms", 0)
            quiet_s = throttle_s(entry.request, version, asked) if asked else 0.0
            if entry.digest is not None:
                response = entry.digest(response)
        except Exception as error:
            self._unreadable(entry, error)
            return False
        if buffer is None and not quiet_s:
            entry.future.set_result(response)
        else:
            self._give(entry, quiet_s, response, buffer)
        return True

    async def _read_beside(self, entry: InFlight, version: int, view: memoryview, buffer: FrameBuffer) -> None:
        """Read in a thread: a large answer is many objects, and the loop has others to serve meanwhile."""
        try:
            quiet_s, response = await run_blocking(_read_large, entry, version, view)
        except Exception as error:
            self._unreadable(entry, error)
        except BaseException:  # the loop ends
            if not entry.future.done():
                entry.future.set_exception(Cancelled("the process ends, and its connections with it"))
            raise
        else:
            if entry.future.done():  # the caller has given up meanwhile
                entry.future = _UNWANTED
            self._give(entry, quiet_s, response, buffer)


_UNWANTED: Reply[Any] = Reply(lambda response, error: None)
_UNWANTED.cancel()


def _read_large(entry: InFlight, version: int, frame: memoryview) -> tuple[float, Any]:
    """For how many seconds the broker asks for silence, and what the caller is given."""
    with no_collections():
        response = decode_response(entry.request, version, frame)
        quiet_s = throttle_s(entry.request, version, getattr(response, "throttle_time_ms", 0))
        return quiet_s, response if entry.digest is None else entry.digest(response)
