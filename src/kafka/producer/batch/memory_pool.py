"""The memory that all unsent records of a producer share, and the callers that wait for some to be freed."""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Callable


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
        self._freed = threading.Condition(lock)
        self._blocking = 0
        self._futures: set[asyncio.Future[None]] = set()

    @property
    def contended(self) -> bool:
        """Whether somebody waits for memory."""
        return self._blocking > 0 or bool(self._futures)

    def reserve(self, amount: int, in_callback: bool = False) -> bool:
        """Take bytes; more than there are in all can be had as long as nobody else has any.

        Arguments:
            in_callback: for a record that a callback sends, which must not wait for callbacks.
        """
        free = self.free + self.held if in_callback else self.free
        if amount > free and free < self.total:
            return False
        self.free -= amount
        return True

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
        if self._blocking:
            self._freed.notify_all()
        futures, self._futures = self._futures, set()
        for future in futures:
            if not future.done():
                future.set_result(None)

    def block(self, amount: int, timeout: float, give_up: Callable[[], bool], in_callback: bool = False) -> bool:
        """Block the thread until the bytes are reserved; False if `give_up` says so, or the time (seconds) is up."""
        with self._freed:
            got = False

            def look() -> bool:
                nonlocal got
                got = not give_up() and self.reserve(amount, in_callback)
                return got or give_up()

            self._blocking += 1
            try:
                self._freed.wait_for(look, None if timeout == math.inf else timeout)
            except BaseException:  # an interrupt, for which nobody will use what was reserved
                if got:
                    self.release(amount)
                raise
            finally:
                self._blocking -= 1
            return got

    def waiter(self) -> asyncio.Future[None]:
        """A future, for a coroutine on the producer's loop, that is done when something was given back."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._futures.add(future)
        return future
