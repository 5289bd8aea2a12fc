"""Work that an event loop does for a thread, which may wait for it: a coroutine, or one request.

The future of `asyncio.run_coroutine_threadsafe` would do as well, but an interrupt in the waiting thread may leave it
locked, see `kafka.net.interruptible`, and the loop with all its clients would hang.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Generic, Protocol, TypeVar, cast

from kafka.errors import KafkaTimeoutError, NoBrokersAvailable
from kafka.net.interruptible import Latch

T = TypeVar("T")


class CallListener(Protocol):
    """The loop that calls run on."""

    def call_ended(self, call: "LoopResult[Any]") -> None:
        """Called once when a call is done, in any thread."""

    def why_cancelled(self) -> Exception:
        """Return the error of a call that was cancelled."""


class LoopResult(Generic[T]):
    """The result that a thread waits for. Methods run on the loop; `wait`, `result` and `is_done` in any thread.

    Arguments:
        listener: is told of the end.
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
        """Block until it is done; False if ``timeout_s`` seconds (None: no limit) pass first."""
        return self._ended.wait(timeout_s)

    def result(self, timeout_s: float | None = None) -> T:
        """Wait for the result. Raises `KafkaTimeoutError` after ``timeout_s`` seconds, and errors of the work."""
        try:
            if not self.wait(timeout_s):
                raise KafkaTimeoutError(f"not done in {timeout_s:g} s")
            if isinstance(self._error, NoBrokersAvailable):
                raise self._error.with_traceback(None)  # the traceback is the loop's, and says nothing about the error
            if self._error is not None:
                raise self._error
            return cast("T", self._result)
        finally:
            del self  # no cycle with the error's traceback

    def begin(self) -> None:
        """Start, unless it was cancelled before."""
        raise NotImplementedError

    def cancel(self) -> None:
        """Cancel, whether it has started or not."""
        self.fail(self._listener.why_cancelled())

    def fail(self, error: BaseException) -> None:
        """End with an error, unless it has ended. Called in any thread if the loop has failed."""
        if not self.is_done:
            self._error = error
            self._end()

    def succeed(self, result: T) -> None:
        """End with a result, unless it has ended."""
        if not self.is_done:
            self._result = result
            self._end()

    def _end(self) -> None:
        self._ended.set()
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
        """Run the coroutine, unless it was cancelled before."""
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
    """One request, without a task: for a thread that waits for each answer in turn, a task would be most of the work.

    The connection passes the answer to this object, see `kafka.net.pending_requests.Answered`.

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
        """Send the request, unless it was cancelled before."""
        if not self.is_done:
            try:
                self._start(self)
            except BaseException as error:
                self.fail(error)

    def done(self) -> bool:
        """Whether it no longer needs an answer."""
        return self.is_done

    def set_result(self, result: T, /) -> None:
        """Take the answer."""
        self.succeed(result)

    def set_exception(self, exception: Any, /) -> None:
        """Take the error: there will be no answer."""
        self.fail(exception)
