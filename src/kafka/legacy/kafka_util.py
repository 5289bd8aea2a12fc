"""The contents of `kafka.util`: timers, weak references, decorators, and functions for byte strings."""

from __future__ import annotations

import atexit
import contextlib
import functools
import struct
import threading
import time
import weakref
import zlib
from collections.abc import Callable
from types import MethodType
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar

from kafka.errors import BufferUnderflowError, KafkaTimeoutError


class ReentrantTimer:
    """Calls a function periodically in a separate thread until it is stopped; it can be restarted.

    Arguments:
        t: the interval in milliseconds.
        fn: the function to call; an error that it raises ends the thread.
        args: positional arguments for `fn`.
        kwargs: keyword arguments for `fn`.

    Raises `ValueError` if the interval is not positive, or if `fn` is not callable.
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
        """Start the timer; a running timer restarts its interval."""
        self.stop()
        self.active = threading.Event()
        self.thread = threading.Thread(target=self._run, args=(self.active,), name="kafka-timer", daemon=True)
        self.thread.start()

    def stop(self) -> None:
        """Stop the timer, and wait for a call in progress for at most the interval plus one second."""
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
    """A deadline.

    Arguments:
        timeout_ms: the time limit in milliseconds; None: no limit.
        error_message: the message of the error that `maybe_raise` raises.
        start_at: the start time from `time.monotonic()`; None: now.
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
        """Whether the time has passed."""
        return time.monotonic() >= self._expire_at

    @property
    def timeout_ms(self) -> float | None:
        """The remaining milliseconds; None if there is no limit."""
        if self._timeout_ms is None or self._expire_at == float("inf"):
            return self._timeout_ms
        return max(0, int((self._expire_at - time.monotonic()) * 1000))

    @property
    def timeout_secs(self) -> float | None:
        """The remaining seconds; None if there is no limit."""
        left = self.timeout_ms
        return None if left is None else left / 1000

    @property
    def elapsed_ms(self) -> int:
        """The milliseconds since the start."""
        return int(1000 * (time.monotonic() - self._start_at))

    def maybe_raise(self) -> None:
        """Raise `KafkaTimeoutError` if the time has passed."""
        if self.expired:
            raise KafkaTimeoutError(*(() if self._error_message is None else (self._error_message,)))

    def __str__(self) -> str:
        return f"Timer({self.timeout_ms} ms remaining)"


class WeakMethod:
    """A weak reference to a bound method, which can be called while its object exists.

    Arguments:
        object_dot_method: a bound method.
    """

    def __init__(self, object_dot_method: MethodType) -> None:
        self.target = weakref.ref(object_dot_method.__self__)
        self.method = weakref.ref(object_dot_method.__func__)
        self._target_id = id(self.target())
        self._method_id = id(self.method())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the method. Raises `ReferenceError` if its object no longer exists."""
        method, target = self.method(), self.target()
        if method is None or target is None:
            raise ReferenceError("the object of this method no longer exists")
        return method(target, *args, **kwargs)

    def __hash__(self) -> int:
        return hash(self.target) ^ hash(self.method)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, WeakMethod):
            return False
        return (self._target_id, self._method_id) == (other._target_id, other._method_id)


class Dict(dict[Any, Any]):
    """A dict that supports weak references."""


def try_method_on_system_exit(obj: object, method: str, *args: Any, **kwargs: Any) -> None:
    """Call a method of an object at exit, if the object still exists and has the method."""

    def call(proxy: Any) -> None:
        with contextlib.suppress(ReferenceError, AttributeError):
            getattr(proxy, method)(*args, **kwargs)

    atexit.register(call, weakref.proxy(obj))


_P = ParamSpec("_P")
_R = TypeVar("_R")


class _HasLock(Protocol):
    _lock: Any


_Locked = TypeVar("_Locked", bound=_HasLock)


def synchronized(func: Callable[Concatenate[_Locked, _P], _R]) -> Callable[Concatenate[_Locked, _P], _R]:
    """Decorate a method to run with the lock ``self._lock`` held."""

    @functools.wraps(func)
    def locked(self: _Locked, /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        with self._lock:
            return func(self, *args, **kwargs)

    return locked


class classproperty(Generic[_R]):  # noqa: N801  # kafka-python's name
    """A read-only property of a class."""

    def __init__(self, f: Callable[[Any], _R]) -> None:
        self.f = f

    def __get__(self, obj: object, owner: type) -> _R:
        return self.f(owner)


MAX_INT = 1 << 31
TO_SIGNED = 1 << 32


def crc32(data: bytes) -> int:
    """Return the CRC-32 of data as a signed number, as in old messages."""
    unsigned = zlib.crc32(data)
    return unsigned - TO_SIGNED if unsigned >= MAX_INT else unsigned


def write_int_string(s: bytes | None) -> bytes:
    """Prefix a byte string with its length in four bytes; None has length -1. Raises `TypeError` for other types."""
    return _write(">i", s)


def write_short_string(s: bytes | None) -> bytes:
    """Prefix a byte string with its length in two bytes; None has length -1.

    Raises `TypeError` for other types, and `struct.error` for more than 32,767 bytes.
    """
    return _write(">h", s)


def read_int_string(data: bytes, cur: int) -> tuple[bytes | None, int]:
    """Read a string written by `write_int_string` at a position; return the string and the position after it.

    Raises `BufferUnderflowError` if the data ends too early.
    """
    return _read(">i", data, cur)


def read_short_string(data: bytes, cur: int) -> tuple[bytes | None, int]:
    """Read a string written by `write_short_string`; otherwise like `read_int_string`."""
    return _read(">h", data, cur)


def relative_unpack(fmt: str, data: bytes, cur: int) -> tuple[tuple[Any, ...], int]:
    """Unpack a `struct` format at a position; return the values and the position after them.

    Raises `BufferUnderflowError` if the data ends too early.
    """
    end = cur + struct.calcsize(fmt)
    if len(data) < end:
        raise BufferUnderflowError(f"Not enough data left: {end} bytes are needed, but there are {len(data)}")
    return struct.unpack(fmt, data[cur:end]), end


def kafka_bytestring(s: str | bytes) -> bytes:
    """Return bytes unchanged, or text encoded as UTF-8. Raises `TypeError` for other types."""
    if isinstance(s, bytes):
        return s
    if isinstance(s, str):
        return s.encode()
    raise TypeError(s)


def _write(length: str, s: bytes | None) -> bytes:
    if s is None:
        return struct.pack(length, -1)
    if not isinstance(s, bytes):
        raise TypeError(f'Expected "{type(s)}" to be bytes\ndata={s!r}')
    return struct.pack(length, len(s)) + s


def _read(length: str, data: bytes, cur: int) -> tuple[bytes | None, int]:
    (size,), start = relative_unpack(length, data, cur)
    if size == -1:
        return None, start
    end = start + size
    if size < 0 or len(data) < end:
        raise BufferUnderflowError(f"Not enough data left: a string of {size} bytes starts at {start} of {len(data)}")
    return data[start:end], end
