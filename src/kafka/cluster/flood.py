"""One log line for a cause that repeats, instead of one each time."""

import asyncio
import logging

_MAX_CAUSES = 256


class FloodGate:
    """Logs the first event of a cause at once, and later ones together, with their number.

    Arguments:
        log: where to.
        every_s: how far apart two lines of one cause are at least, in seconds.
    """

    def __init__(self, log: logging.Logger, every_s: float = 30.0) -> None:
        self._log = log
        self._every_s = every_s
        self._causes: dict[str, tuple[float, int]] = {}

    def warning(self, cause: str, text: str) -> None:
        """Something went wrong: ``cause`` tells what counts as the same, ``text`` is what to say."""
        now = asyncio.get_running_loop().time()
        next_line, unsaid = self._causes.get(cause, (now, 0))
        if now < next_line:
            self._causes[cause] = (next_line, unsaid + 1)
            return
        if cause not in self._causes and len(self._causes) >= _MAX_CAUSES:
            self._causes.pop(next(iter(self._causes)))
        self._causes[cause] = (now + self._every_s, 0)
        if unsaid:
            self._log.warning("%s (and %d times more since the last line about it)", text, unsaid)
        else:
            self._log.warning("%s", text)

    def over(self, cause: str, text: str) -> None:
        """What was logged for ``cause`` has ended well: say so, once."""
        if self._causes.pop(cause, None) is not None:
            self._log.info("%s", text)
