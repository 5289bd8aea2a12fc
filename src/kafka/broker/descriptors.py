"""Limits on file descriptors: connections leave some free for log files and for modules that are imported late.

Otherwise anyone who reaches the port could stop the broker by opening connections.
"""

import logging
import sys
from typing import Final

log = logging.getLogger(__name__)

_RESERVED: Final = 128
_BETWEEN_WARNINGS_S: Final = 60.0


class DescriptorReserve:
    """Decides which connections are too many by their descriptor, as the system assigns the lowest free number.

    Arguments:
        limit: the maximum number of descriptors; None: the process's own limit, if any.
    """

    def __init__(self, limit: int | None = None) -> None:
        limit = _soft_limit() if limit is None else limit
        self._end = None if limit is None else limit - min(_RESERVED, limit // 4)
        self._silent_until: float | None = None

    def may_keep(self, descriptor: int, now: float) -> bool:
        """Whether a connection may keep the descriptor; if not, log a warning now and then."""
        if self._end is None or descriptor < self._end:
            return True
        if self._silent_until is None or now >= self._silent_until:
            self._silent_until = now + _BETWEEN_WARNINGS_S
            log.warning(
                "new connections are closed: %d file descriptors are in use, more are kept for log files; raise the "
                "limit (ulimit -n) if you expect this many clients",
                descriptor,
            )
        return False


def most_files(wanted: int) -> int:
    """Return how many log files may be open: `wanted`, but at most half of the descriptors."""
    limit = _soft_limit()
    return wanted if limit is None else max(1, min(wanted, limit // 2))


def _soft_limit() -> int | None:
    if sys.platform == "win32":
        return None
    import resource  # missing on some systems that import this module

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft == resource.RLIM_INFINITY else soft
