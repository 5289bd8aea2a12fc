"""Keeps the cyclic collector from running while a great many objects are made, none of them garbage.

It would go through all of them again and again, each time for longer, and hold up every thread meanwhile.
"""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from kafka.net.fork import after_fork


class _Pauses:
    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        self.lock = threading.RLock()  # a finalizer may run within it
        self.running = 0
        self.was_on = False


_pauses = _Pauses()


@contextmanager
def no_collections() -> Iterator[None]:
    """Begin no collection in this process until the block is left; for a fraction of a second at most."""
    with _pauses.lock:
        if not _pauses.running:
            _pauses.was_on = gc.isenabled()
        _pauses.running += 1  # before the collector is off: a child forked in between has it switched on again
        if _pauses.running == 1:
            gc.disable()
    try:
        yield
    finally:
        with _pauses.lock:
            if _pauses.running == 1 and _pauses.was_on:
                gc.enable()
            _pauses.running -= 1


def _in_child() -> None:
    """The threads that paused it are gone."""
    if _pauses.running and _pauses.was_on:
        gc.enable()
    _pauses.forget()


after_fork(_in_child)
