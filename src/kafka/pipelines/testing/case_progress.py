"""Reports what a test case does at the moment, and stops it from another thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kafka.pipelines.run import RunningPipeline
    from kafka.pipelines.testing.case_files import Case


class CaseStoppedError(Exception):
    """A test case was stopped, so that it has no result."""


class CaseProgress:
    """The steps of test cases, which run one after the other.

    Arguments:
        on_step: called with the case and the name of a step when the step begins.

    Attributes:
        stopping: set once somebody has called `stop`.
    """

    def __init__(self, on_step: Callable[[Case, str], object] = lambda case, step: None) -> None:
        self.stopping = threading.Event()
        self._on_step = on_step
        self._running: RunningPipeline | None = None

    def begin(self, case: Case, step: str) -> None:
        """Report a step. Raises `CaseStoppedError` if somebody has called `stop`."""
        self.check()
        self._on_step(case, step)

    def check(self) -> None:
        """Raise `CaseStoppedError` if somebody has called `stop`."""
        if self.stopping.is_set():
            raise CaseStoppedError

    def watch(self, running: RunningPipeline) -> None:
        """Let `stop` interrupt a pipeline, also if it was called before."""
        self._running = running
        if self.stopping.is_set():
            running.stop(now=True)

    def stop(self) -> None:
        """Interrupt the current case, and let no other one begin. Thread-safe."""
        self.stopping.set()
        if self._running is not None:
            self._running.stop(now=True)
