"""Lets one thread at a time poll a consumer. Two threads would split its records between them at random."""

import threading
from types import TracebackType

from kafka.errors import IllegalStateError


class SingleCaller:
    """A context manager around what only one thread may do at a time; the same thread may enter again.

    Java: ``ConcurrentModificationException``. `close` and `wakeup` stay outside.
    """

    __slots__ = ("_holder", "_lock")

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._holder = 0

    def __enter__(self) -> None:
        """Raises `IllegalStateError` while another thread is inside."""
        if not self._lock.acquire(blocking=False):
            raise IllegalStateError(
                f"thread {threading.current_thread().name!r} polls a consumer that thread {_name(self._holder)!r} is "
                "polling; a consumer belongs to one thread at a time"
            )
        self._holder = threading.get_ident()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()


def _name(ident: int) -> str:
    """The name of a thread; it may have ended in the meantime."""
    return next((thread.name for thread in threading.enumerate() if thread.ident == ident), f"number {ident}")
