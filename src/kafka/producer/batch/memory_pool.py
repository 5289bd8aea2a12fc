"""The memory that all unsent records of a producer share, and the callers that wait for some to be freed."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

from kafka.net import interruptible


class Reservation:
    """Bytes of a pool that are set apart for one batch. Whoever has it gives back what no batch has taken over.

    Attributes:
        held: how many bytes; 0 before they are reserved, and once a batch has them.
    """

    __slots__ = ("held",)

    def __init__(self) -> None:
        self.held = 0


class MemoryPool:
    """A count of bytes; the batches' buffers themselves are ordinary objects.

    Methods need the lock, but for `block`, which takes it.

    Arguments:
        total: `buffer_memory`.
        lock: `RecordBuffer.lock`.
    """

    def __init__(self, total: int, lock: threading.Lock) -> None:
        self.total = total
        self.free = total
        self.held = 0
        """Bytes, among those not free, of batches that are done and whose callbacks have not run yet: a slow callback
        holds up those who send, not the loop."""
        self._lock = lock
        self._blocking: dict[threading.Lock, None] = {}
        """A lock a thread that waits, which is released when it is to look again."""
        self._futures: set[asyncio.Future[None]] = set()

    @property
    def contended(self) -> bool:
        """Whether somebody waits for memory."""
        return bool(self._blocking or self._futures)

    def reserve(self, amount: int, in_callback: bool = False, into: Reservation | None = None) -> bool:
        """Take bytes; more than there are in all can be had as long as nobody else has any.

        Arguments:
            in_callback: for a record that a callback sends, which must not wait for callbacks.
            into: is told of them in the same moment: no interrupt comes in between.
        """
        free = self.free + self.held if in_callback else self.free
        if amount > free and free < self.total:
            return False
        self.free -= amount
        if into is not None:
            into.held += amount
        return True

    def give_back(self, reservation: Reservation) -> None:
        """Give back what nothing has taken over."""
        self.free += reservation.held
        reservation.held = 0
        self.wake()

    def hold(self, amount: int) -> None:
        """The callbacks of a batch of so many bytes are still to run."""
        self.held += amount
        self.wake()

    def release(self, amount: int, held: bool = False) -> None:
        """Give bytes back, and let those who wait look again."""
        self.free += amount
        if held:
            self.held -= amount
        self.wake()

    def wake(self) -> None:
        """Let everybody who waits look again. On the loop, where coroutines wait."""
        for news in list(self._blocking):
            if news.locked():
                news.release()
        futures, self._futures = self._futures, set()
        for future in futures:
            if not future.done():
                future.set_result(None)

    def block(
        self,
        amount: int,
        timeout: float,
        give_up: Callable[[], bool],
        reserved: Reservation,
        in_callback: bool = False,
    ) -> bool:
        """Block the thread until the bytes are reserved; False if `give_up` says so, or the time (seconds) is up."""
        news = threading.Lock()
        news.acquire()

        def look() -> bool:
            with self._lock:
                return give_up() or self.reserve(amount, in_callback, reserved)

        try:
            self._blocking[news] = None
            return interruptible.wait_until(look, news, timeout) and not give_up()
        finally:
            self._blocking.pop(news, None)

    def waiter(self) -> asyncio.Future[None]:
        """A future, for a coroutine on the producer's loop, that is done when something was given back."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._futures.add(future)
        return future
