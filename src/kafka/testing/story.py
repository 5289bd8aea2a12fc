"""The event log of a simulation, with virtual time."""

import asyncio
import hashlib
import logging
import threading


class Story(logging.Handler):
    """Collects the lines of the event log. As a `logging` handler it also collects the logs of clients and brokers.

    Arguments:
        loop: the loop whose clock provides the time of each line.
        echo: whether to print each line at once.

    Attributes:
        lines: all lines, oldest first.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, echo: bool = False) -> None:
        super().__init__(logging.INFO)
        self._loop = loop
        self._echo = echo
        self._thread = threading.get_ident()
        self.lines: list[str] = []

    def tell(self, who: str, what: str) -> None:
        """Add a line."""
        line = f"{self._loop.time():12.6f} {who:<14} {what}"
        self.lines.append(line)
        if self._echo:
            print(line, flush=True)

    def emit(self, record: logging.LogRecord) -> None:
        """Add a log record, unless it comes from another thread: clients there are not part of the simulation."""
        if threading.get_ident() != self._thread:
            return
        text = record.getMessage()
        if record.exc_info and record.exc_info[1] is not None:
            text += f" [{record.exc_info[1]!r}]"
        self.tell(record.levelname.lower(), f"{record.name}: {text}")

    def digest(self) -> str:
        """Return a short digest of all lines."""
        return hashlib.sha256("\n".join(self.lines).encode()).hexdigest()[:16]
