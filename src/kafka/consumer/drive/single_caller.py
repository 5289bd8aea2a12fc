"""Lets one thread at a time poll a consumer. Two threads would split its records between them at random.

Nor does a thread poll within a `poll()` of its own: a deserializer, a signal's handler or a finalizer that did would
get the records that are being handed out, or others before them. Listeners and callbacks may: nothing is handed out
then.
"""

import threading
from collections.abc import Callable

from kafka.errors import IllegalStateError

_WITHOUT_WAITING = (False,)


class SingleCaller:
    """A context manager around what only one thread may do at a time.

    Java: ``ConcurrentModificationException``. `close` and `wakeup` stay outside.

    An interrupt as the block begins or ends leaves nobody inside: leaving is the lock's own function, written in C, and
    entering knows at any moment whether it has the lock.

    Attributes:
        is_polling: whether the thread inside may not enter again. Set inside, by assignments that no interrupt comes
            between.
    """

    __slots__ = ("__exit__", "_holder", "_lock", "is_polling")

    __exit__: Callable[..., None]

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._holder = 0
        self.is_polling = False
        self.__exit__ = self._lock.__exit__

    @property
    def is_polling_here(self) -> bool:
        """Whether this thread is the one that is polling."""
        return self.is_polling and self._holder == threading.get_ident()

    def __enter__(self) -> None:
        """Raises `IllegalStateError` while another thread is inside, or this one is in the middle of a `poll()`."""
        taken: list[bool] = []
        try:
            taken.extend(map(self._lock.acquire, _WITHOUT_WAITING))  # in C as a whole: an interrupt comes after it
            if not taken[0]:
                raise IllegalStateError(
                    f"thread {threading.current_thread().name!r} polls a consumer that thread {_name(self._holder)!r} "
                    "is polling; a consumer belongs to one thread at a time"
                )
            if self.is_polling:
                raise IllegalStateError(
                    "a consumer was polled from within its own poll(), by a deserializer, a signal handler or a "
                    "finalizer: record there what to do, and do it after poll() has returned"
                )
            self._holder = threading.get_ident()
        except BaseException:
            if taken and taken[0]:
                self._lock.release()
            raise


def _name(ident: int) -> str:
    """The name of a thread; it may have ended in the meantime."""
    return next((thread.name for thread in threading.enumerate() if thread.ident == ident), f"number {ident}")
