"""What happened in a simulation, line by line, each with its virtual time."""

import asyncio
import hashlib
import logging
import threading


class Story(logging.Handler):
    """Collects lines; as a handler of `logging` it also takes down what clients and brokers log.

    Arguments:
        loop: whose clock dates the lines.
        echo: print each line as it comes.

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
        """Take down a log record; not of other threads, whose clients have no part in the simulation."""
        if threading.get_ident() != self._thread:
            return
        text = record.getMessage()
        if record.exc_info and record.exc_info[1] is not None:
            text += f" [{record.exc_info[1]!r}]"
        self.tell(record.levelname.lower(), f"{record.name}: {text}")

    def digest(self) -> str:
        """A short text that is the same for the same story."""
        return hashlib.sha256("\n".join(self.lines).encode()).hexdigest()[:16]
