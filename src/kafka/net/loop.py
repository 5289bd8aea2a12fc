"""The daemon thread on whose event loop the synchronous clients run."""

import asyncio
import atexit
import concurrent.futures
import os
import socket
import threading
import weakref
from collections.abc import Callable, Coroutine
from typing import Any, ClassVar, TypeVar

from kafka.errors import Cancelled, ForkedClientError, IllegalStateError, KafkaTimeoutError
from kafka.net.blocking import run_blocking
from kafka.net.fork import after_fork, keep_alive, owners_on

T = TypeVar("T")
_STOP_TIMEOUT_S = 2.0
_TASKS_TIMEOUT_S = 0.5


class _ClientLoop(asyncio.SelectorEventLoop):
    """An event loop whose name look-ups do not hold up the interpreter's exit, see `kafka.net.blocking`."""

    async def getaddrinfo(self, host: Any, port: Any, **options: Any) -> Any:
        """As `socket.getaddrinfo`, awaited."""
        return await run_blocking(socket.getaddrinfo, host, port, **options)


class LoopThread:
    """An event loop in a daemon thread; `shared` gives the one that all synchronous clients use.

    A child process made by fork has neither the thread nor the right to the loop's selector: there `shared` starts
    afresh, and an object from before the fork raises `ForkedClientError`.
    """

    _shared: ClassVar["LoopThread | None"] = None
    _all: ClassVar["weakref.WeakSet[LoopThread]"] = weakref.WeakSet()
    _lock: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self, name: str = "kafka-loop") -> None:
        self.loop: asyncio.AbstractEventLoop = _ClientLoop()
        self._forked = False
        self._stopped = False
        self._all.add(self)
        self._thread = threading.Thread(target=self._main, name=name, daemon=True)
        self._thread.start()

    @classmethod
    def shared(cls) -> "LoopThread":
        """The process's loop thread, started when it is first asked for."""
        thread = cls._shared
        if thread is None or thread._stopped:
            with cls._lock:
                thread = cls._shared
                if thread is None or thread._stopped:
                    thread = cls._shared = cls()
        return thread

    @property
    def in_loop_thread(self) -> bool:
        """Whether the caller is the loop's own thread, which must not block."""
        return threading.get_ident() == self._thread.ident

    def run(self, coroutine: Coroutine[Any, Any, T], timeout_s: float | None = None) -> T:
        """Run ``coroutine`` on the loop and wait for its result.

        After ``timeout_s`` seconds, and on KeyboardInterrupt, it is cancelled. Raises `KafkaTimeoutError` when the
        time is up, `ForkedClientError`, `IllegalStateError` in the loop's own thread, and what the coroutine raises.
        """
        if self.in_loop_thread and not self._forked:
            coroutine.close()
            raise IllegalStateError(
                "a blocking call was made in the client's own loop thread (in a callback?), where it would wait for "
                "itself for ever; make it in another thread"
            )
        future = self.spawn(coroutine)
        try:
            return future.result(timeout_s)
        except concurrent.futures.TimeoutError:
            if future.done():  # it was done at the last moment, or raised a TimeoutError of its own
                return future.result()
            future.cancel()
            raise KafkaTimeoutError(f"not done in {timeout_s:g} s") from None
        except concurrent.futures.CancelledError:
            raise IllegalStateError("the client's loop was stopped before the call was done") from None
        except BaseException:
            future.cancel()
            raise

    def spawn(self, coroutine: Coroutine[Any, Any, T]) -> "concurrent.futures.Future[T]":
        """Run ``coroutine`` on the loop; the future has its result, and cancelling it cancels the coroutine."""
        try:
            self.check()
            return asyncio.run_coroutine_threadsafe(coroutine, self.loop)
        except BaseException:
            coroutine.close()
            raise

    def call(self, function: Callable[..., object], *args: object) -> None:
        """Call ``function(*args)`` on the loop, soon; from any thread."""
        self.check()
        self.loop.call_soon_threadsafe(function, *args)

    def stop(self) -> None:
        """Cancel what runs on the loop, and end the thread; does nothing the second time."""
        if self._stopped or self._forked:
            return
        self._stopped = True
        self.loop.call_soon_threadsafe(self.loop.stop)
        if not self.in_loop_thread:
            self._thread.join(_STOP_TIMEOUT_S)

    def check(self) -> None:
        """Raise `ForkedClientError` or `IllegalStateError` where nothing can run on the loop any more."""
        if self._forked:
            raise ForkedClientError(
                f"this client was made before the process forked, and its connections belong to the parent; make a new "
                f"one in this process (pid {os.getpid()})"
            )
        if self._stopped:
            raise IllegalStateError("the client's loop thread has been stopped: the interpreter is about to exit")

    def _main(self) -> None:
        asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_forever()
            self._cancel_tasks()
            self.loop.run_until_complete(self._abort_owners())
            self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        finally:
            self.loop.close()

    async def _abort_owners(self) -> None:
        """Cut the connections; a coroutine, because what they tell of it asks for the running loop."""
        for owner in owners_on(self.loop):
            owner.abort(Cancelled("the client's loop was stopped"))

    def _cancel_tasks(self) -> None:
        tasks = asyncio.all_tasks(self.loop)
        for task in tasks:
            task.cancel()
        if tasks:
            self.loop.run_until_complete(asyncio.wait(tasks, timeout=_TASKS_TIMEOUT_S))

    @classmethod
    def _after_fork(cls) -> None:
        cls._lock = threading.Lock()
        cls._shared = None
        for thread in list(cls._all):
            thread._forked = True
            keep_alive(thread)


def _at_exit() -> None:
    thread = LoopThread._shared
    if thread is not None:
        thread.stop()


after_fork(LoopThread._after_fork)
atexit.register(_at_exit)
