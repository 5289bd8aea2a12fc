"""The progress of a pipeline in the terminal: a line for each micro-batch, and totals at the end.

In a terminal, each line replaces the last one. Elsewhere, such as in a log file, lines are appended at a bounded rate,
and a line covers all micro-batches since the line before.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from typing import TextIO

from kafka.display.html_tables import visible
from kafka.display.page_elements import count, rate
from kafka.display.time_axis import duration_text
from kafka.pipelines.events import Event
from kafka.pipelines.run_history import Totals

_IN_TERMINAL_S = 0.1
_MOST_RULES = 3
"""Maximum number of rules that a line names; these are the rules that most rows fail."""
_MOST_NAME = 40


class Progress:
    """Prints the progress of a run.

    Arguments:
        stream: where to print, such as `sys.stderr`.
        is_terminal: whether lines are replaced; None to find out from `stream`.
        interval_s: minimum time between two lines that are appended, in seconds.
        clock: returns the time in seconds.
        width: returns the number of columns of the terminal.
    """

    def __init__(
        self,
        stream: TextIO,
        *,
        is_terminal: bool | None = None,
        interval_s: float = 5.0,
        clock: Callable[[], float] = time.monotonic,
        width: Callable[[], int] = lambda: shutil.get_terminal_size().columns,
    ) -> None:
        self._stream = stream
        self._is_terminal = stream.isatty() if is_terminal is None else is_terminal
        self._interval_s = min(interval_s, _IN_TERMINAL_S) if self._is_terminal else interval_s
        self._clock = clock
        self._width = width
        self._printed_at = float("-inf")
        self._first: Event | None = None
        self._last: Event | None = None
        self._pending = Totals()
        self._shown = ""
        self.totals = Totals()

    def add(self, event: Event) -> None:
        """Report an event of the run."""
        if event.kind == "start":
            self._permanent(f"{_name(event.pipeline)}: {_what(event)} started")
        elif event.kind == "batch":
            self.totals.add(event)
            self._pending.add(event)
            self._first, self._last = self._first or event, event
            if self._clock() - self._printed_at >= self._interval_s:
                self._flush()
        else:
            if event.kind == "failure":
                self._flush()
                self._permanent(f"{_name(event.pipeline)}: failed: {_first_line(event.cause or '')}")
            self.end()

    def end(self) -> None:
        """Print what has not been printed yet, and the totals. Does nothing if there were no micro-batches since.

        In a terminal, what follows begins on a line of its own.
        """
        self._flush()
        if self.totals.batches:
            self._permanent(totals_text(self.totals))
            self.totals = Totals()
        elif self._shown:
            self._shown = ""
            self._stream.write("\n")
            self._stream.flush()

    def _flush(self) -> None:
        if self._first is None or self._last is None:
            return
        text = batch_text(self._first, self._last, self._pending)
        if self._is_terminal:
            shown = text[: max(1, self._width() - 1)]
            self._stream.write(f"\r{shown}\x1b[K")
            self._shown = shown
        else:
            self._stream.write(text + "\n")
        self._stream.flush()
        self._printed_at = self._clock()
        self._first = self._last = None
        self._pending = Totals()

    def _permanent(self, text: str) -> None:
        """Print a line that stays. In a terminal, the last line of progress stays above it."""
        self._stream.write(("\n" if self._shown else "") + text + "\n")
        self._shown = ""
        self._stream.flush()


def batch_text(first: Event, last: Event, totals: Totals) -> str:
    """Format the line for micro-batches.

    Arguments:
        first: the first micro-batch.
        last: the last micro-batch, which may be the same.
        totals: the totals of these and the micro-batches between them.
    """
    number = f"batch {first.batch}" if first is last else f"batches {first.batch} to {last.batch}"
    lags = [each.lag for each in last.sources.values()]
    lag = None if None in lags or not lags else sum(each for each in lags if each is not None)
    parts = [
        f"{_what(last)} {number}" if last.run != "stream" else number,
        f"{count(totals.rows)} rows",
        rate(totals.rate, " rows/s") if totals.rate is not None else "",
        f"lag {count(lag)}" if lag is not None else "",
        f"{count(totals.late)} late" if totals.late else "",
        failures_text(totals),
    ]
    return ", ".join(filter(None, parts))


def failures_text(totals: Totals, most: int = _MOST_RULES) -> str:
    """Format the numbers of rejected rows, and of rows that fail each rule; "" if there are none.

    Arguments:
        totals: the totals.
        most: maximum number of rules to name.
    """
    failed: dict[str, int] = {}
    for source in totals.sources.values():
        for rule, number in source.rules.items():
            failed[rule] = failed.get(rule, 0) + number
    rules = sorted(((number, rule) for rule, number in failed.items() if number), key=lambda each: -each[0])
    names = ", ".join(f"{_name(rule)} {count(number)}" for number, rule in rules[:most])
    if len(rules) > most:
        names += f", and {len(rules) - most} more"
    outcomes = ", ".join(
        filter(
            None,
            [
                f"{count(totals.dead)} dead letters" if totals.dead else "",
                f"{count(totals.dropped)} dropped" if totals.dropped else "",
            ],
        )
    )
    if not names:
        return outcomes
    return f"{outcomes or 'kept'} ({names})"


def totals_text(totals: Totals) -> str:
    """Format the totals of a run."""
    parts = [
        f"total: {count(totals.batches)} batch{'' if totals.batches == 1 else 'es'}, {count(totals.rows)} rows in",
        f"{count(totals.out)} out" if totals.out is not None else "",
        f"{rate(totals.rate, ' rows/s')} in {duration_text(totals.busy)} of processing" if totals.rate else "",
        f"{count(totals.late)} late" if totals.late else "",
        failures_text(totals, most=100),
    ]
    return ", ".join(filter(None, parts))


def _what(event: Event) -> str:
    return f"{event.run} {event.number}" if event.number else event.run


def _name(text: str) -> str:
    """Shorten a name, and replace control characters, which could change the terminal."""
    found = visible(text).replace("\n", " ").replace("\t", " ")
    return found if len(found) <= _MOST_NAME else f"{found[: _MOST_NAME - 1]}…"


def _first_line(text: str) -> str:
    return visible(text.strip().partition("\n")[0]).replace("\t", " ")
