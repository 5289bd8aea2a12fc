"""Pauses between retries: exponential backoff with jitter (KIP-580)."""

import random

from kafka._loop_services import loop_random
from kafka.cluster.current_failures import CurrentFailures

_JITTER = 0.2
_LEAST_MS = 1


class Backoff:
    """Pauses that double from ``first_ms`` to ``max_ms``, each randomly lengthened or shortened by up to a fifth.

    Arguments:
        first_ms, max_ms: pauses in milliseconds; at least 1, because retrying an immediate failure without a pause
            would occupy a whole processor.
        rng: source of the jitter; a seeded generator makes the pauses reproducible.
        current_failures: the failures that are retried with these pauses, for the client's `health()`.
    """

    __slots__ = ("_first_s", "_max_s", "_rng", "current_failures")

    def __init__(
        self,
        first_ms: float,
        max_ms: float,
        rng: random.Random | None = None,
        current_failures: CurrentFailures | None = None,
    ) -> None:
        self.current_failures = current_failures if current_failures is not None else CurrentFailures()
        self._first_s = max(first_ms, _LEAST_MS) / 1000
        self._max_s = max(self._first_s, max_ms / 1000)
        self._rng = rng if rng is not None else loop_random()

    def seconds(self, failures: int) -> float:
        """Return the pause in seconds after this many consecutive failures; 0 if there are none."""
        if failures <= 0:
            return 0.0
        pause = min(self._first_s * 2.0 ** min(failures - 1, 32), self._max_s)
        return pause * self._rng.uniform(1 - _JITTER, 1 + _JITTER)
