"""Limits how often a recurring cause is logged."""

import asyncio
import logging
from collections.abc import Mapping

_MAX_CAUSES = 256
LONGEST_S = 240.0
"""Maximum interval in seconds between two log lines for a continuing cause."""


class LogLimiter:
    """Logs the first event for a cause immediately, then groups later events into increasingly rare lines with a count.

    Arguments:
        log: the logger.
        every_s: minimum interval in seconds between the first two lines for a cause; the interval doubles up to
            `LONGEST_S` with each further line while the cause continues.
    """

    def __init__(self, log: logging.Logger, every_s: float = 30.0) -> None:
        self._log = log
        self._every_s = every_s
        self._causes: dict[str, tuple[float, int, float]] = {}

    def warning(self, cause: str, text: str) -> None:
        """Log an event as a warning; see `say`."""
        self.say(logging.WARNING, cause, text)

    def say(
        self,
        level: int,
        cause: str,
        text: str,
        unexpected: BaseException | None = None,
        fields: Mapping[str, object] | None = None,
    ) -> None:
        """Log an event, or count it for a later line.

        Arguments:
            level: the level of the log record.
            cause: events with the same cause are logged together.
            text: the message.
            unexpected: an exception whose traceback is logged.
            fields: attributes of the log record, for structured logs.
        """
        now = asyncio.get_running_loop().time()
        next_line, unsaid, gap_s = self._causes.get(cause, (now, 0, self._every_s / 2))
        if now < next_line:
            self._causes[cause] = (next_line, unsaid + 1, gap_s)
            return
        if now - next_line > LONGEST_S:
            gap_s = self._every_s / 2  # an event after a quiet period counts as a new occurrence
        if cause not in self._causes and len(self._causes) >= _MAX_CAUSES:
            self._causes.pop(next(iter(self._causes)))
        gap_s = min(2 * gap_s, max(LONGEST_S, self._every_s))
        self._causes[cause] = (now + gap_s, 0, gap_s)
        more = f" (and {unsaid} times more since the last line about it)" if unsaid else ""
        self._log.log(level, "%s%s", text, more, exc_info=unexpected, extra=fields)

    def over(self, cause: str, text: str, fields: Mapping[str, object] | None = None) -> None:
        """Log once that the problem logged for ``cause`` is resolved."""
        if self.forget(cause):
            self._log.info("%s", text, extra=fields)

    def forget(self, cause: str) -> bool:
        """Forget a cause that has ended. Returns whether anything was logged for it."""
        return self._causes.pop(cause, None) is not None
