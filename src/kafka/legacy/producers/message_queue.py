"""The queue between callers and the thread of a producer that sends in the background."""

from __future__ import annotations

import contextlib
import queue
import threading
from typing import Any

from kafka.net import interruptible


class MessageQueue(queue.SimpleQueue[Any]):
    """A queue of limited length. It is put into and taken out of in one step each, with no lock held by Python code.

    So the handler of a signal, and a finalizer, may put something into it, whatever they interrupt: a `queue.Queue`
    would wait for a lock that their own thread holds.

    Arguments:
        maxsize: how many entries it has before it is full; 0: any number.
    """

    def __init__(self, maxsize: int) -> None:
        self.maxsize = maxsize
        self._room = threading.Lock()
        self._room.acquire()

    def full(self) -> bool:
        """Whether there is no room."""
        return 0 < self.maxsize <= self.qsize()

    def tell_room(self) -> None:
        """Wake who waits for room: something was taken out."""
        if self._room.locked():
            with contextlib.suppress(RuntimeError):  # another thread was quicker
                self._room.release()

    def wait_for_room(self, timeout_s: float) -> None:
        """Wait until something was taken out; at most so many seconds."""
        interruptible.acquire(self._room, timeout_s)
