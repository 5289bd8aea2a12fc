"""Runners for user functions that a client calls in the background, such as callbacks and metrics reporters.

`WorkerThread` runs the functions in a client's thread, and `LoopCallbacks` on the event loop of an asyncio program.
"""

import asyncio
import atexit
import logging
import queue
import threading
import time
import weakref
from collections.abc import Callable
from typing import ClassVar, Protocol

from kafka.net.fork import after_fork

log = logging.getLogger(__name__)

EXIT_TIMEOUT_S = 5.0
"""Maximum time in seconds that the interpreter waits at exit for pending functions."""

Function = Callable[[], object]


class CallbackRunner(Protocol):
    """Runs functions in the order in which they are submitted."""

    def submit(self, function: Callable[[], object], /) -> object:
        """Schedule a function to run after all functions submitted earlier; return immediately."""

    @property
    def is_idle(self) -> bool:
        """Whether all submitted functions have run."""

    async def idle(self) -> None:
        """Wait until all functions submitted so far have run."""

    def finish(self) -> None:
        """Signal that no more functions will be submitted."""


class LoopCallbacks:
    """Runs callbacks on the caller's loop, as asyncio's futures do.

    Arguments:
        loop: the loop.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._left = 0

    def submit(self, function: Callable[[], object], /) -> None:
        """Schedule a function for the next iteration of the loop."""
        self._left += 1
        self._loop.call_soon(self._run, function)

    def _run(self, function: Callable[[], object]) -> None:
        self._left -= 1
        function()

    @property
    def is_idle(self) -> bool:
        """Whether all submitted functions have run."""
        return not self._left

    async def idle(self) -> None:
        """Wait until all functions scheduled before this call have run."""
        reached = self._loop.create_future()
        self._loop.call_soon(_arrive, reached)
        await reached

    def finish(self) -> None:
        """Do nothing, because there is no thread to end."""


class WorkerThread:
    """Runs functions in order, in a thread that is started for the first function. Thread-safe.

    An exception raised by a function is logged, and the next function runs. A forked child has neither the thread nor
    the pending functions.

    Arguments:
        name: the name of the thread.
    """

    _all: ClassVar["weakref.WeakSet[WorkerThread]"] = weakref.WeakSet()
    _local: ClassVar[threading.local] = threading.local()

    def __init__(self, name: str) -> None:
        self._name = name
        self._functions: queue.SimpleQueue[Function | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._given = 0
        """Number of submitted functions. It is changed only under the lock, and `_ran` only in the thread."""
        self._ran = 0

    @classmethod
    def is_current(cls) -> bool:
        """Return whether the caller runs in a thread of this class, not necessarily of this object."""
        return getattr(cls._local, "inside", False)

    def submit(self, function: Function) -> None:
        """Schedule a function to run after all functions submitted earlier; return immediately."""
        with self._lock:
            self._given += 1
            self._functions.put(function)
            if self._thread is None:
                self._start()

    @property
    def is_idle(self) -> bool:
        """Whether all submitted functions have run."""
        return self._ran == self._given

    async def idle(self) -> None:
        """Wait, on an event loop, until all functions submitted so far have run."""
        if self.is_idle:
            return
        loop = asyncio.get_running_loop()
        reached: asyncio.Future[None] = loop.create_future()

        def tell() -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(_arrive, reached)

        self.submit(tell)
        await reached

    def finish(self) -> None:
        """End the thread after the submitted functions have run. A function submitted later starts another thread."""
        if self._thread is not None:
            self._functions.put(None)

    def drain(self, timeout_s: float) -> bool:
        """Wait until all functions submitted so far have run; return False on a timeout."""
        if self.is_idle:
            return True
        reached = threading.Event()
        self.submit(reached.set)
        if self._thread is None:  # no thread could be started
            self._run()
        return reached.wait(timeout_s)

    def _start(self) -> None:
        thread = threading.Thread(target=self._main, name=self._name, daemon=True)
        self._all.add(self)
        try:
            thread.start()
        except RuntimeError as error:  # too many threads, or the interpreter is exiting: `drain` runs the rest
            log.error("%s: no thread can be started (%s)", self._name, error)
        else:
            self._thread = thread

    def _main(self) -> None:
        self._local.inside = True
        while True:
            function = self._functions.get()
            if function is None:
                with self._lock:
                    if self._functions.empty():
                        self._thread = None
                        return
                self._functions.put(None)  # functions that are already queued run first
            else:
                _guarded(function)
                self._ran += 1
            del function  # the function may reference a client, which must be collectable while the thread is idle

    def _run(self) -> None:
        """Run the remaining functions in the caller's thread."""
        while not self._functions.empty():
            function = self._functions.get()
            if function is not None:
                _guarded(function)
                self._ran += 1

    @classmethod
    def _after_fork(cls) -> None:
        cls._all = weakref.WeakSet()
        cls._local = threading.local()

    @classmethod
    def _at_exit(cls) -> None:
        deadline = time.monotonic() + EXIT_TIMEOUT_S
        for worker in list(cls._all):
            if not worker.drain(max(deadline - time.monotonic(), 0)):
                log.error("%s: not all functions ran before the interpreter exited", worker._name)


def _arrive(reached: asyncio.Future[None]) -> None:
    if not reached.done():
        reached.set_result(None)


def _guarded(function: Function) -> None:
    try:
        function()
    except BaseException:  # SystemExit would end a user's thread, but must not end this one
        log.exception("%r raised", function)


after_fork(WorkerThread._after_fork)
atexit.register(WorkerThread._at_exit)
