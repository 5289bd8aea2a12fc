"""Work that an event loop does for a thread that may wait for it: a coroutine, or a single request.

The futures of `asyncio.run_coroutine_threadsafe` are not used, because an interrupt in the waiting thread may leave
them locked (see `kafka.net.interruptible`). The loop would then hang, with all its clients.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, Generic, Protocol, TypeVar, cast

from kafka.errors import KafkaTimeoutError, NoBrokersAvailable
from kafka.net.interruptible import Latch

T = TypeVar("T")


class CallListener(Protocol):
    """The owner of the loop that calls run on."""

    def call_ended(self, call: "LoopResult[Any]") -> None:
        """Handle the end of a call. Called once per call, in any thread."""

    def why_cancelled(self) -> Exception:
        """Return the error to raise for a cancelled call."""

    def release_soon(self, lock: threading.Lock) -> None:
        """Release a lock that a thread is waiting for, now or when the loop is about to wait."""


class LoopResult(Generic[T]):
    """The result of work on the loop, for which a thread can wait.

    Methods must be called on the loop, except `wait`, `result` and `is_done`, which can be called in any thread.

    Arguments:
        listener: notified when the work ends.
    """

    __slots__ = ("_ended", "_error", "_listener", "_result")

    def __init__(self, listener: CallListener) -> None:
        self._listener = listener
        self._ended = Latch()
        self._error: BaseException | None = None
        self._result: T | None = None

    @property
    def is_done(self) -> bool:
        """Whether there is a result or an error."""
        return self._ended.is_set

    def wait(self, timeout_s: float | None = None) -> bool:
        """Block until the work is done; return False after ``timeout_s`` seconds (None: no limit)."""
        return self._ended.wait(timeout_s)

    def result(self, timeout_s: float | None = None) -> T:
        """Wait for the result. Raises the work's error, or `KafkaTimeoutError` after ``timeout_s`` seconds."""
        try:
            if not self.wait(timeout_s):
                raise KafkaTimeoutError(f"not done in {timeout_s:g} s")
            if isinstance(self._error, NoBrokersAvailable):
                raise self._error.with_traceback(None)  # the loop's traceback does not help
            if self._error is not None:
                raise self._error
            return cast("T", self._result)
        finally:
            del self  # avoid a reference cycle with the error's traceback

    def begin(self) -> None:
        """Start the work, unless it has been cancelled."""
        raise NotImplementedError

    def cancel(self) -> None:
        """Cancel the work, whether it has started or not."""
        self.fail(self._listener.why_cancelled())

    def fail(self, error: BaseException) -> None:
        """End the work with an error, unless it has already ended. Called in any thread if the loop has failed."""
        if not self.is_done:
            self._error = error
            self._end()

    def succeed(self, result: T) -> None:
        """End the work with a result, unless it has already ended."""
        if not self.is_done:
            self._result = result
            self._end()

    def _end(self) -> None:
        self._ended.set(self._listener.release_soon)
        self._listener.call_ended(self)


class LoopCall(LoopResult[T]):
    """A coroutine that runs on the loop.

    Arguments:
        coroutine: the coroutine.
        listener: see `LoopResult`.
    """

    __slots__ = ("_coroutine", "_task")

    def __init__(
        self,
        coroutine: Coroutine[Any, Any, T],
        listener: CallListener,
    ) -> None:
        super().__init__(listener)
        self._coroutine = coroutine
        self._task: asyncio.Task[T] | None = None

    def begin(self) -> None:
        """Run the coroutine, unless it has been cancelled."""
        if not self.is_done:
            self._task = asyncio.get_running_loop().create_task(self._coroutine)
            self._task.add_done_callback(self._finish)

    def cancel(self) -> None:
        """Cancel the coroutine, whether it has started or not."""
        if self._task is not None:
            self._task.cancel()
        else:
            self._coroutine.close()
            super().cancel()

    def _finish(self, task: "asyncio.Task[T]") -> None:
        if task.cancelled():
            self.fail(self._listener.why_cancelled())
        elif (error := task.exception()) is not None:
            self.fail(error)
        else:
            self.succeed(task.result())


class LoopExchange(LoopResult[T]):
    """A single request, without an asyncio task.

    For a thread that waits for each answer, creating a task would be most of the work.

    The connection passes the answer to this object; see `kafka.net.pending_requests.Answered`.

    Arguments:
        start: called on the loop with this object; sends the request.
        listener: see `LoopResult`.
    """

    __slots__ = ("_start",)

    def __init__(
        self,
        start: Callable[["LoopExchange[T]"], object],
        listener: CallListener,
    ) -> None:
        super().__init__(listener)
        self._start = start

    def begin(self) -> None:
        """Send the request, unless it has been cancelled."""
        if not self.is_done:
            try:
                self._start(self)
            except BaseException as error:
                self.fail(error)

    def done(self) -> bool:
        """Return whether the answer is no longer needed."""
        return self.is_done

    def set_result(self, result: T, /) -> None:
        """End the exchange with the answer."""
        self.succeed(result)

    def set_exception(self, exception: Any, /) -> None:
        """End the exchange with an error, because there will be no answer."""
        self.fail(exception)
