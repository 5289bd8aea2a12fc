"""The event loop of an asyncio client: its clock, and the errors of a client whose loop no longer runs."""

import asyncio
import time
import weakref
from collections.abc import Callable, Coroutine
from types import BuiltinFunctionType
from typing import Any, ClassVar, TypeVar

from kafka.errors import IllegalStateError
from kafka.net.fork import after_fork, forked_client_error, keep_alive

T = TypeVar("T")


def clock_of(loop: asyncio.AbstractEventLoop) -> Callable[[], float]:
    """Return the function that reads the loop's clock, in seconds.

    asyncio's own loops read `time.monotonic` in a Python function. Code on the path of each request calls the clock
    directly instead. Loops with a clock of their own, such as simulated ones, keep it. So do loops in a program that
    has replaced `time.monotonic`, which asyncio may or may not use.
    """
    ordinary = type(loop).time is asyncio.BaseEventLoop.time and "time" not in vars(loop)
    return time.monotonic if ordinary and isinstance(time.monotonic, BuiltinFunctionType) else loop.time


class OwnLoop:
    """The running loop, and whether it can still serve its client. Must be created on that loop.

    A forked child has a copy of the loop that does not run and uses the parent's selector.
    """

    _all: ClassVar["weakref.WeakSet[OwnLoop]"] = weakref.WeakSet()

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.was_left_by_fork = False
        """Whether this is a forked child whose parent owns the loop."""
        self._all.add(self)

    def check(self) -> None:
        """Raise `ForkedClientError` or `IllegalStateError` if a call on the loop would never end."""
        if self.was_left_by_fork:
            raise forked_client_error("client")
        if self.loop.is_closed():
            raise IllegalStateError(
                "the event loop that this client was started on is closed, for example because asyncio.run() has "
                "ended; create and start a client on the running loop"
            )

    def checked(self, coroutine: Coroutine[Any, Any, T]) -> Coroutine[Any, Any, T]:
        """Return the coroutine for the caller to await. If `check` raises, close the coroutine to avoid a warning."""
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
            keep_alive(own.loop)  # the loop's finalizer would remove its wake-up channel from the parent's selector


after_fork(OwnLoop._after_fork)
