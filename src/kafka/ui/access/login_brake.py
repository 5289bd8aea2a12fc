"""Slows down guessing of passwords: after some failures, attempts have to wait, each time twice as long.

Failures are counted per address and per name, so that neither one machine with many names nor many machines with one
name can guess quickly. A name has more attempts than an address, because otherwise anyone could lock a user out.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import NamedTuple

_FREE = {"address": 5, "name": 20}
"""Number of failures after which attempts have to wait."""
_FIRST_S = 2.0
_LONGEST_S = 900.0
_FORGOTTEN_S = 3600.0
"""Seconds after the last failure until failures are forgotten."""
_LONGEST_NAME = 200
_MOST = 10_000
"""Maximum number of addresses and names to remember."""


class _Failures(NamedTuple):
    times: int
    last: float
    until: float


class LoginBrake:
    """Counts failed logins.

    Arguments:
        clock: returns the time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures: OrderedDict[tuple[str, str], _Failures] = OrderedDict()

    def wait_s(self, address: str, name: str) -> float:
        """Return how long the next attempt has to wait, in seconds; 0 if it may be made now."""
        now = self._clock()
        kept = [self._failures.get(each) for each in _keys(address, name)]
        return max(0.0, *(each.until - now for each in kept if each is not None), 0.0)

    def failed(self, address: str, name: str) -> None:
        """Count a failed attempt."""
        now = self._clock()
        for key in _keys(address, name):
            before = self._failures.pop(key, None)
            if before is None or now - before.last > _FORGOTTEN_S:
                before = _Failures(0, now, now)
            times = before.times + 1
            over = min(times - _FREE[key[0]], 20)
            pause = min(_LONGEST_S, _FIRST_S * 2**over) if over >= 0 else 0.0
            self._failures[key] = _Failures(times, now, now + pause)
        while len(self._failures) > _MOST:
            self._failures.popitem(last=False)

    def succeeded(self, name: str) -> None:
        """Forget the failures of a name. Those of the address stay: logging in must not help to guess further."""
        self._failures.pop(("name", name[:_LONGEST_NAME]), None)


def _keys(address: str, name: str) -> Iterable[tuple[str, str]]:
    return [("address", address), *([("name", name[:_LONGEST_NAME])] if name else [])]
