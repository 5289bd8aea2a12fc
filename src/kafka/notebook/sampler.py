"""`Sampler`: measures regularly on a thread of its own, and ends it reliably.

The thread runs an event loop with an asyncio client, so `stop` can cancel whatever it waits for: even if no broker
answers, it ends at once. At the exit of the interpreter, all samplers that still run are stopped.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import threading
import weakref
from collections.abc import Callable, Mapping
from typing import Any, Literal

from kafka.admin import AsyncKafkaAdminClient
from kafka.notebook.measurements import Measurement, Measures

State = Literal["starting", "live", "unreachable", "stopped"]
"""What a widget shows: it waits for the first values; values are current; the newest attempt failed; it has ended."""
Tell = Callable[[State, Measurement | None, str], None]
"""Gets each change: the state, the values, if any, and the error message, or "" without an error."""
_JOIN_S = 10.0
_PATIENCE_S = 2.0
"""Seconds without an answer after which the state changes, at least; or two intervals."""
_running: weakref.WeakSet[Sampler] = weakref.WeakSet()


class Sampler:
    """Measures every few seconds until `stop`, and goes on after errors.

    Arguments:
        measures: asks the cluster.
        configs: options of the admin client.
        tell: called on the sampler's thread with each result.
        interval_s: seconds between two measurements.
    """

    def __init__(self, measures: Measures, configs: Mapping[str, Any], tell: Tell, interval_s: float) -> None:
        self._measures = measures
        self._configs = dict(configs)
        self._tell = tell
        self._interval_s = interval_s
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._ended = False

    @property
    def is_running(self) -> bool:
        """Whether the thread exists."""
        return self._thread is not None and self._thread.is_alive()

    def start(self) -> None:
        """Start the thread. Does nothing if it was started before."""
        with self._lock:
            if self._thread is not None or self._ended:
                return
            self._thread = threading.Thread(target=self._main, name="kafka-notebook", daemon=True)
            _running.add(self)
            self._thread.start()

    def stop(self) -> None:
        """End the thread, and wait for its end, which takes milliseconds. Any thread may call this repeatedly."""
        with self._lock:
            self._ended = True
            thread, loop, task = self._thread, self._loop, self._task
        _running.discard(self)
        if loop is not None and task is not None:
            with contextlib.suppress(RuntimeError):  # the loop has just been closed
                loop.call_soon_threadsafe(task.cancel)
        if thread is not None and thread is not threading.current_thread():
            thread.join(_JOIN_S)

    def _main(self) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            asyncio.run(self._run())

    async def _run(self) -> None:
        with self._lock:
            self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
            if self._ended:  # before the loop could be told
                return
        while True:
            try:
                async with AsyncKafkaAdminClient(**self._configs) as admin:
                    while True:
                        await self._measure(admin)
                        await asyncio.sleep(self._interval_s)
            except Exception as error:  # whatever it is, the user sees it, and the next attempt may succeed
                self._tell("unreachable", None, f"{type(error).__name__}: {error}")
            await asyncio.sleep(self._interval_s)

    async def _measure(self, admin: AsyncKafkaAdminClient) -> None:
        """Measure once. The client keeps trying for longer than a user wants to wait for the reason."""
        try:
            async with asyncio.timeout(max(_PATIENCE_S, 2 * self._interval_s)):
                found = await self._measures.measure(admin)
        except TimeoutError:
            failing = admin.health().failing
            self._tell("unreachable", None, failing[-1].text if failing else "no answer from the brokers")
        else:
            self._tell("live", found, "")


def _stop_all() -> None:
    for each in list(_running):
        each.stop()


atexit.register(_stop_all)
