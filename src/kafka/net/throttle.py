"""Whether a response asks this client to send nothing for a while (KIP-219)."""

import logging
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kafka.wire import Request

log = logging.getLogger(__name__)

_LINE_EVERY_S = 30.0
_SINCE = {
    0: 6,
    1: 8,
    2: 3,
    3: 6,
    8: 4,
    9: 4,
    10: 2,
    11: 3,
    12: 2,
    13: 2,
    14: 2,
    15: 2,
    16: 2,
    18: 2,
    19: 3,
    20: 2,
    **dict.fromkeys((21, 22, 24, 25, 26, 27, 28, 29, 30, 31, 33, 34, 35, 37, 38, 39, 40, 41, 42), 1),
    23: 3,
    32: 2,
    36: 1,
}
"""API key to the first version after which the client has to wait. Before it, a broker waited itself and then answered.
APIs that are not listed came later than KIP-219."""


def throttle_s(request: "type[Request[Any]]", version: int, asked_ms: int) -> float:
    """For how many seconds nothing may be sent to a broker whose response has this ``throttle_time_ms``."""
    if asked_ms <= 0 or version < _SINCE.get(request.API_KEY, 0):
        return 0.0
    return asked_ms / 1000


class ThrottleLog:
    """Tells of the throttling of one connection: at once, and then rarely."""

    __slots__ = ("_told_at",)

    def __init__(self) -> None:
        self._told_at = -math.inf

    def tell(self, now: float, broker: str, request: str, seconds: float) -> None:
        """A broker has asked for a pause; ``now`` is the loop's time in seconds."""
        again = now < self._told_at + _LINE_EVERY_S
        level = logging.DEBUG if again else logging.WARNING
        log.log(level, "%s throttles this client: %g s after a %s, because of its quota", broker, seconds, request)
        if not again:
            self._told_at = now
