"""The event loop that an asyncio client runs on, and the end of the client where that loop does not run."""

import asyncio
import weakref
from collections.abc import Coroutine
from typing import Any, ClassVar, TypeVar

from kafka.errors import IllegalStateError
from kafka.net.fork import after_fork, forked_client_error, keep_alive

T = TypeVar("T")


class OwnLoop:
    """The running loop, and whether it can still serve what was started on it. Create it on that loop.

    A forked child has a copy of the loop, which does not run there, and whose selector is the parent's.
    """

    _all: ClassVar["weakref.WeakSet[OwnLoop]"] = weakref.WeakSet()

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.was_left_by_fork = False
        """Whether this is a forked child, and the loop its parent's."""
        self._all.add(self)

    def check(self) -> None:
        """Raise `ForkedClientError` or `IllegalStateError` if a call would never end."""
        if self.was_left_by_fork:
            raise forked_client_error("client")
        if self.loop.is_closed():
            raise IllegalStateError(
                "the event loop that this client was started on is closed, as by asyncio.run() at its end; create "
                "and start a client on the running loop"
            )

    def checked(self, coroutine: Coroutine[Any, Any, T]) -> Coroutine[Any, Any, T]:
        """Return the coroutine, to be awaited. If `check` raises, close it, which avoids a warning from Python."""
        try:
            self.check()
        except BaseException:
            coroutine.close()
            raise
        return coroutine

    @classmethod
    def _after_fork(cls) -> None:
        for own in list(cls._all):
            own.was_left_by_fork = True
            keep_alive(own.loop)  # it would take its wake-up channel out of the parent's selector


after_fork(OwnLoop._after_fork)
