"""Logs a cause that repeats in one line now and then, instead of in a line each time."""

import asyncio
import logging
from collections.abc import Mapping

_MAX_CAUSES = 256
LONGEST_S = 240.0
"""How far apart two lines of a cause that goes on are at most, in seconds."""


class LogLimiter:
    """Logs the first event of a cause at once, and later ones together, with their number, more and more rarely.

    Arguments:
        log: where to.
        every_s: how far apart the first two lines of one cause are at least, in seconds; doubled up to `LONGEST_S`
            with each further line, as long as the cause goes on.
    """

    def __init__(self, log: logging.Logger, every_s: float = 30.0) -> None:
        self._log = log
        self._every_s = every_s
        self._causes: dict[str, tuple[float, int, float]] = {}

    def warning(self, cause: str, text: str) -> None:
        """As `say`, as a warning."""
        self.say(logging.WARNING, cause, text)

    def say(
        self,
        level: int,
        cause: str,
        text: str,
        unexpected: BaseException | None = None,
        fields: Mapping[str, object] | None = None,
    ) -> None:
        """Something went wrong.

        Arguments:
            cause: what counts as the same.
            text: what to say.
            unexpected: an exception whose traceback is shown.
            fields: attributes of the log record, for structured logs.
        """
        now = asyncio.get_running_loop().time()
        next_line, unsaid, gap_s = self._causes.get(cause, (now, 0, self._every_s / 2))
        if now < next_line:
            self._causes[cause] = (next_line, unsaid + 1, gap_s)
            return
        if now - next_line > LONGEST_S:
            gap_s = self._every_s / 2  # it was quiet meanwhile: this is another time
        if cause not in self._causes and len(self._causes) >= _MAX_CAUSES:
            self._causes.pop(next(iter(self._causes)))
        gap_s = min(2 * gap_s, max(LONGEST_S, self._every_s))
        self._causes[cause] = (now + gap_s, 0, gap_s)
        more = f" (and {unsaid} times more since the last line about it)" if unsaid else ""
        self._log.log(level, "%s%s", text, more, exc_info=unexpected, extra=fields)

    def over(self, cause: str, text: str, fields: Mapping[str, object] | None = None) -> None:
        """The problem logged for ``cause`` is resolved: log that, once."""
        if self.forget(cause):
            self._log.info("%s", text, extra=fields)

    def forget(self, cause: str) -> bool:
        """What was logged for ``cause`` has ended; whether anything was."""
        return self._causes.pop(cause, None) is not None
