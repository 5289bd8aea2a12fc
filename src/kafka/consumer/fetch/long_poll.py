"""How long a fetch may wait for data at the broker, and when one that waits is cut short. It reads no clock itself.

A broker answers one request at a time on each connection. If a partition is added while a long poll is under way, it
would have to wait for the end of that poll. So the poll is given up, and all partitions are asked for on a second
connection.
"""

CHANNELS = ("fetch", "fetch-2")
"""The connections, apart from the one for everything else. The second is opened when it is needed first."""

_ANSWERED_BY_S = 0.05
"""A fetch is taken for a long poll if it has no answer after twice the quickest answer so far, and at the latest after
this."""
_ANSWERED_FROM_S = 0.003
"""Twice the quickest answer counts as no less than this."""
_SHORT_WAIT_MS = 5
_SHORT_WAIT_PART = 100
"""While one connection waits for the end of a long poll that was cut short, none can be cut short on the other; so they
are short by themselves: `_SHORT_WAIT_MS`, or that part of ``fetch_max_wait_ms`` if it is more."""
_SLACK_S = 0.005
"""How much longer than it was allowed to a broker may take to answer a long poll."""


class LongPolls:
    """See the module. Times are the loop's, in seconds.

    Arguments:
        max_wait_ms: ``fetch_max_wait_ms``.
    """

    def __init__(self, max_wait_ms: int) -> None:
        self._short_ms = max(_SHORT_WAIT_MS, max_wait_ms // _SHORT_WAIT_PART)
        self._channel = 0
        self._free_at = [0.0, 0.0]
        self._sent_at = 0.0
        self._wait_ms = 0
        self._quickest_s = _ANSWERED_BY_S

    @property
    def channel(self) -> str:
        """Where the next fetch is sent."""
        return CHANNELS[self._channel]

    def spare(self, now: float) -> str | None:
        """The other channel; None while the end of a long poll is awaited there."""
        other = 1 - self._channel
        return CHANNELS[other] if self._free_at[other] <= now else None

    def opened(self, took_s: float) -> None:
        """A connection was opened, which takes two exchanges or more."""
        self._quickest_s = min(self._quickest_s, took_s / 2)

    def send(self, now: float, max_wait_ms: int) -> int:
        """A fetch is sent that may wait ``max_wait_ms``; how long it does wait at most."""
        self._sent_at = now
        self._wait_ms = max_wait_ms if self.spare(now) is not None else min(max_wait_ms, self._short_ms)
        return self._wait_ms

    def answered(self, now: float) -> None:
        """The answer has come."""
        self._quickest_s = min(self._quickest_s, now - self._sent_at)

    def cut_at(self) -> float | None:
        """When the fetch on its way can be taken for a long poll, and be cut short; None: its end is near enough."""
        if self._wait_ms <= self._short_ms:
            return None
        return self._sent_at + min(max(2 * self._quickest_s, _ANSWERED_FROM_S), _ANSWERED_BY_S)

    def cut(self) -> None:
        """The fetch on its way has been cut short: the next one goes the other way."""
        self._free_at[self._channel] = self._sent_at + self._wait_ms / 1000 + _SLACK_S
        self._channel = 1 - self._channel
