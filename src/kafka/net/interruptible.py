"""Waiting for other threads in a way that an interrupt (Ctrl-C) ends, and that no interrupt breaks.

`threading.Condition`, and with it `threading.Event` and futures, is Python code: an interrupt that comes while a thread
enters it leaves it locked for ever, and the next who needs it, such as the loop of all clients, hangs. So threads wait
for bare locks here, which are got and released in one step.

Waits are made in slices. On Windows an interrupt is noticed only when a wait is over, so that they are short there.
Elsewhere a signal ends the wait; but one that comes in the instant before the wait begins, after Python has looked for
signals, is noticed with the end of the slice.
"""

import os
import threading
import time
from collections.abc import Callable
from typing import Protocol

from kafka.net.loop_lock import let_go, take_again

SLICE_S = 0.1 if os.name == "nt" else 1.0
"""How long a slice is."""


def acquire(lock: threading.Lock, timeout_s: float) -> bool:
    """Wait for a lock; whether it was got within ``timeout_s`` seconds. The loop gets meanwhile what it needs."""
    held = let_go()
    try:
        return _acquire(lock, timeout_s)
    finally:
        if held:
            take_again(held)


def _acquire(lock: threading.Lock, timeout_s: float) -> bool:
    if lock.acquire(timeout=max(0.0, min(SLICE_S, timeout_s))):
        return True
    deadline = time.monotonic() + timeout_s - SLICE_S
    while (left := deadline - time.monotonic()) > 0:
        if lock.acquire(timeout=min(SLICE_S, left)):
            return True
    return False


def wait_until(condition: Callable[[], bool], changed: threading.Lock, timeout_s: float) -> bool:
    """Wait until a condition holds, looking whenever ``changed`` is released; False if it does not in ``timeout_s``."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        if not acquire(changed, deadline - time.monotonic()):
            return False
    return True


class Waiter(Protocol):
    """A lock that is held, or what behaves like one."""

    def release(self) -> None:
        """Let whoever waits go on."""


class Latch:
    """Something that happens once, and that threads wait for; see the module for why it is no `threading.Event`."""

    __slots__ = ("_waiting", "is_set")

    def __init__(self) -> None:
        self.is_set = False
        self._waiting: dict[Waiter, None] = {}

    def set(self) -> None:
        """It has happened: let everybody go on."""
        self.is_set = True
        for waiter in list(self._waiting):
            if self._waiting.pop(waiter, self) is None:
                waiter.release()

    def add(self, waiter: Waiter) -> None:
        """Release ``waiter``, which is hashed by identity, when it happens; at once if it has."""
        self._waiting[waiter] = None
        if self.is_set:
            self.set()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Block until it has happened; False if ``timeout_s`` seconds (None: any time) are over first."""
        waiter = threading.Lock()
        waiter.acquire()
        try:
            self.add(waiter)
            acquire(waiter, float("inf") if timeout_s is None else timeout_s)
        finally:
            self._waiting.pop(waiter, None)
        return self.is_set
