"""The story of a simulation: lines with their virtual time."""

import asyncio
import hashlib
import logging
import threading


class Story(logging.Handler):
    """Collects lines; as a handler of `logging` it also records the logs of clients and brokers.

    Arguments:
        loop: its clock provides the time of each line.
        echo: whether to print each line at once.

    Attributes:
        lines: all of them, oldest first.
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
        """Record a log record, except from other threads, whose clients are not part of the simulation."""
        if threading.get_ident() != self._thread:
            return
        text = record.getMessage()
        if record.exc_info and record.exc_info[1] is not None:
            text += f" [{record.exc_info[1]!r}]"
        self.tell(record.levelname.lower(), f"{record.name}: {text}")

    def digest(self) -> str:
        """Return a short digest of the story."""
        return hashlib.sha256("\n".join(self.lines).encode()).hexdigest()[:16]
