"""The memory shared by all unsent records of a producer, and the callers waiting for free memory."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Callable

from kafka.net import interruptible


class Reservation:
    """Bytes of a pool that are reserved for one batch. The holder returns the bytes that no batch has taken over.

    Attributes:
        held: number of bytes; 0 before they are reserved, and after a batch has taken them over.
    """

    __slots__ = ("held",)

    def __init__(self) -> None:
        self.held = 0


class MemoryPool:
    """Accounts for the bytes of buffered records; the batches' buffers themselves are ordinary objects.

    Code that holds the lock calls no functions, as in `RecordBuffer`, because a signal handler may wait for memory,
    too.

    Arguments:
        total: `buffer_memory`.
        lock: `RecordBuffer.lock`.
    """

    def __init__(self, total: int, lock: threading.RLock) -> None:
        self.total = total
        self.free = total
        self.held = 0
        """Bytes of finished batches whose callbacks have not run yet. They do not count as free: a slow callback then
        blocks callers of `send`, but not the loop.
        """
        self._lock = lock
        self._blocking: dict[threading.Lock, None] = {}
        """One lock for each waiting thread, released when the thread should check again."""
        self._waiting: deque[tuple[int, Reservation, asyncio.Future[None]]] = deque()
        """The waiting coroutines and the amounts that they need, oldest first."""

    @property
    def contended(self) -> bool:
        """Whether a caller is waiting for memory."""
        return bool(self._blocking or self._waiting)

    def reserve(self, amount: int, in_callback: bool = False, into: Reservation | None = None) -> bool:
        """Reserve bytes and return whether that was possible.

        A request above the total succeeds if nothing is reserved.

        Arguments:
            in_callback: whether a callback sends the record; a callback must not wait for other callbacks.
            into: records the reserved bytes atomically, so that an interrupt cannot lose them.
        """
        with self._lock:
            free = self.free + self.held if in_callback else self.free
            if amount > free and free < self.total:
                return False
            self.free -= amount
            if into is not None:
                into.held += amount
        return True

    def give_back(self, reservation: Reservation) -> None:
        """Return the bytes that no batch has taken over."""
        with self._lock:
            self.free += reservation.held
            reservation.held = 0
        self.wake()

    def hold(self, amount: int) -> None:
        """Count `amount` bytes of a finished batch whose callbacks have not run yet."""
        with self._lock:
            self.held += amount
        self.wake()

    def release(self, amount: int, held: bool = False) -> None:
        """Return bytes to the pool, and wake the waiters."""
        with self._lock:
            self.free += amount
            if held:
                self.held -= amount
        if self._blocking or self._waiting:
            self.wake()

    def wake(self) -> None:
        """Wake waiting threads, and grant free memory to coroutines. Must run on the loop if coroutines are waiting."""
        for news in list(self._blocking):
            with contextlib.suppress(RuntimeError):  # already released
                news.release()
        while self._waiting:
            amount, reserved, granted = self._waiting[0]
            if not granted.done():
                if not self.reserve(amount, into=reserved):
                    return
                granted.set_result(None)
            self._waiting.popleft()

    def end_waiting(self) -> None:
        """Release all waiters without memory. Must run on the loop if coroutines are waiting."""
        while self._waiting:
            granted = self._waiting.popleft()[2]
            if not granted.done():
                granted.set_result(None)
        self.wake()

    def block(
        self,
        amount: int,
        timeout: float,
        give_up: Callable[[], bool],
        reserved: Reservation,
        in_callback: bool = False,
    ) -> bool:
        """Block until the bytes are reserved.

        Return False if `give_up` returns True or `timeout` (in seconds) expires.
        """
        news = threading.Lock()
        news.acquire()

        def look() -> bool:
            return give_up() or self.reserve(amount, in_callback, reserved)

        try:
            self._blocking[news] = None
            return interruptible.wait_until(look, news, timeout) and not give_up()
        finally:
            self._blocking.pop(news, None)

    def waiter(self, amount: int, reserved: Reservation) -> asyncio.Future[None]:
        """Return a future, for a coroutine on the producer's loop, that completes when the bytes are reserved.

        A caller that stops waiting must cancel the future and call `wake`, so that later waiters can proceed.
        """
        granted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((amount, reserved, granted))
        return granted
