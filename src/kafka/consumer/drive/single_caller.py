"""Lets one thread at a time poll a consumer. Two threads would split its records between them at random."""

import threading
from collections.abc import Callable

from kafka.errors import IllegalStateError

_WITHOUT_WAITING = (False,)


class SingleCaller:
    """A context manager around what only one thread may do at a time; the same thread may enter again.

    Java: ``ConcurrentModificationException``. `close` and `wakeup` stay outside.

    An interrupt as the block begins or ends leaves nobody inside: leaving is the lock's own function, written in C, and
    entering knows at any moment whether it has the lock.
    """

    __slots__ = ("__exit__", "_holder", "_lock")

    __exit__: Callable[..., None]

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._holder = 0
        self.__exit__ = self._lock.__exit__

    def __enter__(self) -> None:
        """Raises `IllegalStateError` while another thread is inside."""
        taken: list[bool] = []
        try:
            taken.extend(map(self._lock.acquire, _WITHOUT_WAITING))  # in C as a whole: an interrupt comes after it
            if not taken[0]:
                raise IllegalStateError(
                    f"thread {threading.current_thread().name!r} polls a consumer that thread {_name(self._holder)!r} "
                    "is polling; a consumer belongs to one thread at a time"
                )
            self._holder = threading.get_ident()
        except BaseException:
            if taken and taken[0]:
                self._lock.release()
            raise


def _name(ident: int) -> str:
    """The name of a thread; it may have ended in the meantime."""
    return next((thread.name for thread in threading.enumerate() if thread.ident == ident), f"number {ident}")
