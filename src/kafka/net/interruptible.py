"""Functions that wait for other threads. An interrupt (Ctrl-C) ends the wait without leaving a lock held.

`threading.Condition`, and with it `threading.Event` and futures, are Python code: an interrupt that arrives while a
thread enters a condition leaves the condition locked forever, and the next thread that needs the condition hangs. That
may be the thread of the loop that all clients share. So the functions here wait for bare locks, which are acquired and
released in one step.

These functions wait in slices. On Windows, an interrupt is noticed only when a wait is over, so slices are short there.
On other systems, a signal ends the wait. But a signal that arrives just before the wait begins, after Python has
checked for signals, is noticed at the end of the slice.

`loop_lock` creates locks that the loop also acquires, and that a thread may hold when it runs a signal handler or a
finalizer. Such a function may wait for the loop, as `close()` does, while the loop waits for the lock: a deadlock for
all clients of the process. So threads release these locks while they wait. The locks are re-entrant: wherever a handler
may run, the data that the locks guard must be safe to change.
"""

import os
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

from kafka.net.fork import after_fork

_Held: TypeAlias = list[tuple[Any, Any]]

_locks: "dict[weakref.ref[threading.RLock], None]" = {}


def loop_lock() -> threading.RLock:
    """Return a new re-entrant lock.

    The lock is free in a forked child, because the thread that held it may not exist there.
    """
    lock = threading.RLock()
    _locks[weakref.ref(lock, _forget)] = None
    return lock


def release_for_loop() -> _Held:
    """Release the loop locks that this thread holds, and return them for `reacquire`."""
    held: _Held = []
    for reference in list(_locks):  # copied in one step, because other threads may create locks
        lock: Any = reference()  # threading's own conditions also call these methods
        if lock is not None and lock._is_owned():
            held.append((lock, lock._release_save()))
    return held


def reacquire(held: _Held) -> None:
    """Reacquire the locks that `release_for_loop` has released, as many times as they were held."""
    for lock, state in held:
        lock._acquire_restore(state)


def _forget(reference: "weakref.ref[threading.RLock]") -> None:
    _locks.pop(reference, None)


def _in_child() -> None:
    for reference in list(_locks):
        lock: Any = reference()
        if lock is not None and not lock._is_owned():
            lock._at_fork_reinit()


after_fork(_in_child)


SLICE_S = 0.1 if os.name == "nt" else 1.0
"""The length of a slice in seconds."""


def acquire(lock: threading.Lock, timeout_s: float) -> bool:
    """Wait for a lock; return whether it was acquired within ``timeout_s`` seconds.

    Loop locks are released during the wait.
    """
    held = release_for_loop()
    try:
        return _acquire(lock, timeout_s)
    finally:
        if held:
            reacquire(held)


def _acquire(lock: threading.Lock, timeout_s: float) -> bool:
    if lock.acquire(timeout=max(0.0, min(SLICE_S, timeout_s))):
        return True
    deadline = time.monotonic() + timeout_s - SLICE_S
    while (left := deadline - time.monotonic()) > 0:
        if lock.acquire(timeout=min(SLICE_S, left)):
            return True
    return False


def wait_until(condition: Callable[[], bool], changed: threading.Lock, timeout_s: float) -> bool:
    """Wait until a condition is true; return False after ``timeout_s`` seconds.

    The condition is checked whenever ``changed`` is released.
    """
    deadline = time.monotonic() + timeout_s
    while not condition():
        if not acquire(changed, deadline - time.monotonic()):
            return False
    return True


class Waiter(Protocol):
    """A lock that is held, or an object that behaves like one."""

    def release(self) -> None:
        """Wake the waiter."""


class Latch:
    """An event that happens once, and that threads can wait for.

    The module's docstring explains why this is not a `threading.Event`.
    """

    __slots__ = ("_waiting", "is_set")

    def __init__(self) -> None:
        self.is_set = False
        self._waiting: dict[Waiter, None] = {}

    def set(self, release: Callable[[Any], object] | None = None) -> None:
        """Set the latch, and wake all waiters.

        Arguments:
            release: how to wake a waiter; None: by its method `release`.
        """
        self.is_set = True
        for waiter in list(self._waiting):
            if self._waiting.pop(waiter, self) is None:
                if release is None:
                    waiter.release()
                else:
                    release(waiter)

    def add(self, waiter: Waiter) -> None:
        """Release ``waiter`` when the latch is set, immediately if it already is. Waiters are hashed by identity."""
        self._waiting[waiter] = None
        if self.is_set:
            self.set()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Block until the latch is set; return False after ``timeout_s`` seconds (None: no limit)."""
        waiter = threading.Lock()
        waiter.acquire()
        try:
            self.add(waiter)
            acquire(waiter, float("inf") if timeout_s is None else timeout_s)
        finally:
            self._waiting.pop(waiter, None)
        return self.is_set
