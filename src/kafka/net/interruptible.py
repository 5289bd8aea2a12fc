"""Waiting for other threads where Ctrl-C does not end it: on Windows it is noticed only when the wait is over.

There it is waited in short slices. Elsewhere a signal ends the wait, and one wait is enough.
"""

import concurrent.futures
import os
import threading
import time
from typing import Any

IN_SLICES = os.name == "nt"
"""Whether this system needs it."""
_SLICE_S = 0.1


def acquire(lock: threading.Lock, timeout_s: float) -> bool:
    """Wait for a lock, in slices; whether it was got within ``timeout_s`` seconds."""
    deadline = time.monotonic() + timeout_s
    while not lock.acquire(timeout=max(0.0, min(_SLICE_S, deadline - time.monotonic()))):
        if time.monotonic() >= deadline:
            return False
    return True


def wait(future: "concurrent.futures.Future[Any]", timeout_s: float | None) -> None:
    """Wait, in slices, until a future is done or ``timeout_s`` seconds (None: any time) have passed."""
    deadline = float("inf") if timeout_s is None else time.monotonic() + timeout_s
    while not future.done() and (left := deadline - time.monotonic()) > 0:
        concurrent.futures.wait((future,), min(_SLICE_S, left))
