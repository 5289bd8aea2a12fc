"""Cached answers of a registry, by request."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class Cache(Generic[T]):
    """The most recently used answers, kept with or without a time limit. Thread-safe.

    Arguments:
        capacity: the maximum number of answers.
        ttl_s: lifetime of an answer in seconds; None: unlimited.
        clock: returns seconds.
    """

    def __init__(self, capacity: int, ttl_s: float | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._capacity = max(1, capacity)
        self._ttl_s = ttl_s
        self._clock = clock
        self._lock = threading.RLock()
        self._kept: OrderedDict[Hashable, tuple[float, T]] = OrderedDict()

    def get(self, key: Hashable) -> T | None:
        """The answer for a key, or None."""
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
        """Keep an answer, and drop the least recently used one if there are too many."""
        with self._lock:
            self._kept[key] = (self._clock(), value)
            self._kept.move_to_end(key)
            while len(self._kept) > self._capacity:
                self._kept.popitem(last=False)

    def forget(self, which: Callable[[Hashable], bool] | None = None) -> None:
        """Forget the answers whose keys `which` selects, or all."""
        with self._lock:
            for key in [each for each in self._kept if which is None or which(each)]:
                del self._kept[key]
