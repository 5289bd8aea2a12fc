"""The memory that all unsent records of a producer share, and the callers that wait for some to be freed."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
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

    There are no calls within the lock, as in `RecordBuffer`: a signal's handler may wait for memory too.

    Arguments:
        total: `buffer_memory`.
        lock: `RecordBuffer.lock`.
    """

    def __init__(self, total: int, lock: threading.RLock) -> None:
        self.total = total
        self.free = total
        self.held = 0
        """Bytes, among those not free, of batches that are done and whose callbacks have not run yet: a slow callback
        holds up those who send, not the loop."""
        self._lock = lock
        self._blocking: dict[threading.Lock, None] = {}
        """A lock a thread that waits, which is released when it is to look again."""
        self._waiting: deque[tuple[int, Reservation, asyncio.Future[None]]] = deque()
        """The coroutines that wait, and what they wait for, in the order in which they began to."""

    @property
    def contended(self) -> bool:
        """Whether somebody waits for memory."""
        return bool(self._blocking or self._waiting)

    def reserve(self, amount: int, in_callback: bool = False, into: Reservation | None = None) -> bool:
        """Take bytes; more than there are in all can be had as long as nobody else has any.

        Arguments:
            in_callback: for a record that a callback sends, which must not wait for callbacks.
            into: is told of them in the same moment: no interrupt comes in between.
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
        """Give back what nothing has taken over."""
        with self._lock:
            self.free += reservation.held
            reservation.held = 0
        self.wake()

    def hold(self, amount: int) -> None:
        """The callbacks of a batch of so many bytes are still to run."""
        with self._lock:
            self.held += amount
        self.wake()

    def release(self, amount: int, held: bool = False) -> None:
        """Give bytes back, and let those who wait look again."""
        with self._lock:
            self.free += amount
            if held:
                self.held -= amount
        self.wake()

    def wake(self) -> None:
        """Let the threads that wait look again, and give the coroutines what there is. On the loop, if any wait."""
        for news in list(self._blocking):
            with contextlib.suppress(RuntimeError):  # it was released before
                news.release()
        while self._waiting:
            amount, reserved, granted = self._waiting[0]
            if not granted.done():
                if not self.reserve(amount, into=reserved):
                    return
                granted.set_result(None)
            self._waiting.popleft()

    def end_waiting(self) -> None:
        """Let everybody who waits go on, without memory. On the loop, if coroutines wait."""
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
        """Block the thread until the bytes are reserved; False if `give_up` says so, or the time (seconds) is up."""
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
        """A future, for a coroutine on the producer's loop, that is done when the bytes are reserved for it.

        Whoever does not wait for it any more cancels it and calls `wake`, for the sake of those behind.
        """
        granted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((amount, reserved, granted))
        return granted
