"""`kafka.future.Future`: a result or an error that becomes available later, with callbacks."""

from __future__ import annotations

import abc
import asyncio
import functools
import logging
import threading
from collections.abc import Callable, Generator
from typing import Any, ClassVar, Self

from kafka.producer.future import FutureRecordMetadata

log = logging.getLogger("kafka.future")


class Future(abc.ABC):  # noqa: B024  # the base class is there for `register`
    """A future that is completed once, by `success` or `failure`, and then calls its callbacks in order.

    Callbacks added later are called immediately. The producer's futures are also instances of this class.

    Attributes:
        is_done: whether there is a result or an error.
        value: the result, as passed to `success`.
        exception: the error, as passed to `failure`.
        error_on_callbacks: whether errors of callbacks are raised instead of only logged.
    """

    error_on_callbacks: ClassVar[bool] = False

    def __init__(self) -> None:
        self.is_done = False
        self.value: Any = None
        self.exception: BaseException | None = None
        self._callbacks: list[Callable[[Any], object]] = []
        self._errbacks: list[Callable[[Any], object]] = []
        self._lock = threading.Lock()

    def succeeded(self) -> bool:
        """Return whether the future is done without an error."""
        return self.is_done and self.exception is None

    def failed(self) -> bool:
        """Return whether the future is done with an error."""
        return self.is_done and self.exception is not None

    def retriable(self) -> bool:
        """Return whether the error is retriable."""
        return bool(getattr(self.exception, "retriable", False))

    def success(self, value: Any) -> Self:
        """Complete the future with a result. Raises `AssertionError` if the future is already done."""
        self._call("callback", self._complete(value, None), value)
        return self

    def failure(self, e: BaseException | type[BaseException]) -> Self:
        """Complete the future with an error or its class.

        Raises `AssertionError` if the future is already done, and `TypeError` if the argument is not an error.
        """
        error = e() if isinstance(e, type) else e
        if not isinstance(error, BaseException):
            raise TypeError(f"future failed without an exception: {e!r}")
        self._call("errback", self._complete(None, error), error)
        return self

    def add_callback(self, f: Callable[..., object], *args: Any, **kwargs: Any) -> Self:
        """Add a function that is called with the given arguments and the result."""
        call = functools.partial(f, *args, **kwargs) if args or kwargs else f
        with self._lock:
            if not self.is_done:
                self._callbacks.append(call)
                return self
        if self.exception is None:
            self._call("callback", [call], self.value)
        return self

    def add_errback(self, f: Callable[..., object], *args: Any, **kwargs: Any) -> Self:
        """Add a function that is called with the given arguments and the error."""
        call = functools.partial(f, *args, **kwargs) if args or kwargs else f
        with self._lock:
            if not self.is_done:
                self._errbacks.append(call)
                return self
        if self.exception is not None:
            self._call("errback", [call], self.exception)
        return self

    def add_both(self, f: Callable[..., object], *args: Any, **kwargs: Any) -> Self:
        """Add a function that is called with the result or the error."""
        return self.add_callback(f, *args, **kwargs).add_errback(f, *args, **kwargs)

    def chain(self, future: Future) -> Self:
        """Complete another future with the same result or error."""
        return self.add_callback(future.success).add_errback(future.failure)

    def __await__(self) -> Generator[Any, None, Any]:
        """Wait for the future on the running event loop unless it is done; return the result or raise the error."""
        if not self.is_done:
            loop = asyncio.get_running_loop()
            done = asyncio.Event()
            self.add_both(lambda outcome: loop.call_soon_threadsafe(done.set))
            yield from done.wait().__await__()
        if self.exception is not None:
            raise self.exception
        return self.value

    def _complete(self, value: Any, error: BaseException | None) -> list[Callable[[Any], object]]:
        """Complete the future, and return the callbacks to call."""
        with self._lock:
            if self.is_done:
                raise AssertionError("Future is already complete")
            self.value, self.exception, self.is_done = value, error, True
            waiting = self._callbacks if error is None else self._errbacks
            self._callbacks, self._errbacks = [], []
        return waiting

    def _call(self, kind: str, functions: list[Callable[[Any], object]], outcome: Any) -> None:
        for function in functions:
            try:
                function(outcome)
            except Exception:
                log.exception("Error processing %s", kind)
                if self.error_on_callbacks:
                    raise


Future.register(FutureRecordMetadata)
