"""The timers of `kafka.util`: one that calls a function again and again, and one that counts down."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from kafka.errors import KafkaTimeoutError


class ReentrantTimer:
    """Calls a function at an interval, in a thread of its own, until it is stopped; it can be started anew.

    Arguments:
        t: the interval in milliseconds.
        fn: what to call; an error that it raises ends the thread.
        args: for `fn`.
        kwargs: for `fn`.

    Raises `ValueError` for an interval of nothing or less, and for what cannot be called.
    """

    def __init__(self, t: float, fn: Callable[..., object], *args: object, **kwargs: object) -> None:
        if t <= 0:
            raise ValueError("Invalid timeout value")
        if not callable(fn):
            raise ValueError("fn must be callable")
        self.t = t / 1000.0
        self.fn = fn
        self.args = args
        self.kwargs = kwargs
        self.thread: threading.Thread | None = None
        self.active: threading.Event | None = None

    def start(self) -> None:
        """Start; a timer that runs begins its interval anew."""
        self.stop()
        self.active = threading.Event()
        self.thread = threading.Thread(target=self._run, args=(self.active,), name="kafka-timer", daemon=True)
        self.thread.start()

    def stop(self) -> None:
        """Stop, and wait for a call that is under way for an interval and a second at the most."""
        thread, active = self.thread, self.active
        if thread is None or active is None:
            return
        active.set()
        if thread is not threading.current_thread():
            thread.join(self.t + 1)
        self.thread = None

    def _run(self, stopped: threading.Event) -> None:
        while not stopped.wait(self.t):
            self.fn(*self.args, **self.kwargs)


class Timer:
    """Counts a time down.

    Arguments:
        timeout_ms: how long, in milliseconds; None for ever.
        error_message: what `maybe_raise` says.
        start_at: when it began, by `time.monotonic()`; now unless given.
    """

    __slots__ = ("_error_message", "_expire_at", "_start_at", "_timeout_ms")

    def __init__(
        self, timeout_ms: float | None, error_message: str | None = None, start_at: float | None = None
    ) -> None:
        self._timeout_ms = timeout_ms
        self._error_message = error_message
        self._start_at = start_at or time.monotonic()
        self._expire_at = float("inf") if timeout_ms is None else self._start_at + timeout_ms / 1000

    @property
    def expired(self) -> bool:
        """Whether the time is up."""
        return time.monotonic() >= self._expire_at

    @property
    def timeout_ms(self) -> float | None:
        """The milliseconds that are left; None if there is no limit."""
        if self._timeout_ms is None or self._expire_at == float("inf"):
            return self._timeout_ms
        return max(0, int((self._expire_at - time.monotonic()) * 1000))

    @property
    def timeout_secs(self) -> float | None:
        """The same in seconds."""
        left = self.timeout_ms
        return None if left is None else left / 1000

    @property
    def elapsed_ms(self) -> int:
        """The milliseconds since the beginning."""
        return int(1000 * (time.monotonic() - self._start_at))

    def maybe_raise(self) -> None:
        """Raise `KafkaTimeoutError` if the time is up."""
        if self.expired:
            raise KafkaTimeoutError(*(() if self._error_message is None else (self._error_message,)))

    def __str__(self) -> str:
        return f"Timer({self.timeout_ms} ms remaining)"
