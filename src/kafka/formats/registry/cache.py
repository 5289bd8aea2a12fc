"""What a registry answered before, by what was asked."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class Cache(Generic[T]):
    """The answers used last, for a limited time or for good. Any thread may use it.

    Arguments:
        capacity: the most that are kept.
        ttl_s: for how many seconds one is kept; None: for good.
        clock: seconds.
    """

    def __init__(self, capacity: int, ttl_s: float | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._capacity = max(1, capacity)
        self._ttl_s = ttl_s
        self._clock = clock
        self._lock = threading.RLock()
        self._kept: OrderedDict[Hashable, tuple[float, T]] = OrderedDict()

    def get(self, key: Hashable) -> T | None:
        """What is kept, None for nothing."""
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                return None
            if self._ttl_s is not None and self._clock() - found[0] >= self._ttl_s:
                del self._kept[key]
                return None
            self._kept.move_to_end(key)
            return found[1]

    def put(self, key: Hashable, value: T) -> None:
        """Keep an answer, and forget the one not used for longest where there are too many."""
        with self._lock:
            self._kept[key] = (self._clock(), value)
            self._kept.move_to_end(key)
            while len(self._kept) > self._capacity:
                self._kept.popitem(last=False)

    def forget(self, which: Callable[[Hashable], bool] | None = None) -> None:
        """Forget the answers whose key is `which`; all of them without it."""
        with self._lock:
            for key in [each for each in self._kept if which is None or which(each)]:
                del self._kept[key]
