"""Schemas that cannot be used, remembered for a while."""

import time
from collections.abc import Callable
from typing import ClassVar

from kafka.formats.header_ids import SchemaName

_MEMORY_S = 5.0
"""Seconds after its first use for which such a schema is not asked for again."""


class UnusableSchemas:
    """Why schemas cannot be used, until a while after the first use: they may be registered later.

    Not safe to use from several threads.

    Arguments:
        clock: in seconds.
    """

    many: ClassVar[int] = 100
    """If more than these of a batch cannot be used, the values are probably of another format."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._were_many = False
        self._new: dict[SchemaName, str] = {}
        self._used: dict[SchemaName, tuple[str, float]] = {}  # with the time to forget each, earliest first

    def __contains__(self, name: SchemaName) -> bool:
        return name in self._new or name in self._used

    def add(self, name: SchemaName, cause: str) -> bool:
        """Remember why a schema cannot be used; True, once, if more than `many` wait for their first use."""
        self._new[name] = cause
        is_first_of_many = len(self._new) > self.many and not self._were_many
        self._were_many = self._were_many or is_first_of_many
        return is_first_of_many

    def cause(self, name: SchemaName) -> str:
        """Why a schema cannot be used; raises KeyError if nothing is known."""
        if name in self._new:
            self._used[name] = (self._new.pop(name), self._clock() + _MEMORY_S)
        return self._used[name][0]

    def forget_old(self) -> None:
        """Forget the schemas whose time is over."""
        now = self._clock()
        while self._used:
            name = next(iter(self._used))
            if self._used[name][1] > now:
                return
            del self._used[name]
