"""How the file descriptors are shared out: connections leave some free, for log files and modules that are loaded late.

Where clients could take them all, whoever reaches the port could stop the broker.
"""

import logging
import sys
from typing import Final

log = logging.getLogger(__name__)

_RESERVED: Final = 128
_BETWEEN_WARNINGS_S: Final = 60.0


class DescriptorReserve:
    """Says which connections are too many, by the number of a descriptor: the system gives the lowest that is free.

    Arguments:
        limit: the most descriptors of the process; None: there is no limit.
    """

    def __init__(self, limit: int | None = None) -> None:
        limit = _soft_limit() if limit is None else limit
        self._end = None if limit is None else limit - min(_RESERVED, limit // 4)
        self._silent_until: float | None = None

    def may_keep(self, descriptor: int, now: float) -> bool:
        """Whether a connection may have it; False, and a line in the log now and then: it is one of the reserve."""
        if self._end is None or descriptor < self._end:
            return True
        if self._silent_until is None or now >= self._silent_until:
            self._silent_until = now + _BETWEEN_WARNINGS_S
            log.warning(
                "new connections are closed: %d file descriptors are in use, more are kept for log files; raise the "
                "limit (ulimit -n) where so many clients are expected",
                descriptor,
            )
        return False


def most_files(wanted: int) -> int:
    """How many log files may be open, of those `wanted`: half of the descriptors at most are theirs."""
    limit = _soft_limit()
    return wanted if limit is None else max(1, min(wanted, limit // 2))


def _soft_limit() -> int | None:
    if sys.platform == "win32":
        return None
    import resource  # not there on every system that this module is imported on

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft == resource.RLIM_INFINITY else soft
