"""Progress reports: a progress bar in the terminal or a notebook, calls of a function, or nothing."""

from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from rich.progress import Progress

Tell = Callable[[int, int], object]
"""A function that is called with the number of completed items and the total."""


class ProgressReport:
    """Reports the progress of an operation.

    Arguments:
        given: True shows a progress bar with Rich; a function is called after each step; False reports nothing.
        total: the total, such as the number of offsets to read or rows to send.
        what: the label of the bar, such as "reading".

    Raises `ImportError` if a bar is requested but Rich is not installed, and `TypeError` for any other value of
    `given`.
    """

    def __init__(self, given: bool | Tell, total: int, what: str) -> None:
        self._total = total
        self._tell: Tell | None = None
        self._bar: Progress | None = None
        if given is True:
            self._bar, self._tell = _bar(total, what)
        elif callable(given):
            self._tell = given
        elif given is not False:
            raise TypeError(f"expected progress to be True, False or a function, got {type(given).__name__}: {given!r}")

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def reached(self, done: int) -> None:
        """Report the number of items completed so far."""
        if self._tell is not None:
            self._tell(done, self._total)


def _bar(total: int, what: str) -> "tuple[Progress, Tell]":
    try:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
    except ImportError as error:
        raise ImportError(f"a progress bar needs rich ({error}): pip install rich") from error
    columns: tuple[Any, ...] = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    progress = Progress(*columns)
    task = progress.add_task(what, total=total)
    return progress, lambda done, _: progress.update(task, completed=done)
