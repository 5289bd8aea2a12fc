"""How ``kafka pipeline run``, ``replay`` and ``backfill`` end: by Ctrl-C and SIGTERM, and with errors.

The first signal asks for a stop at the end of the current micro-batch or slice, the second one interrupts it, and the
third one ends the process. Errors are reported in one line, without the name of the exception's class.
"""

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, Self

import click

from kafka.cli.command_output import note
from kafka.cli.failures import INTERRUPTED, TERMINATED


class StopSignals:
    """Handles the signals inside a ``with`` block.

    Arguments:
        stop: asks for a stop between two steps. Called in another thread.
        abort: interrupts the current step. Called in another thread.
        step: what is not interrupted by the first signal, such as ``micro-batch``.
        raises: whether the second signal raises `KeyboardInterrupt`, too, to leave a call that does not return early.

    Attributes:
        status: the exit status for the first signal; None if there was none.
    """

    def __init__(
        self, stop: Callable[[], object], abort: Callable[[], object], step: str, *, raises: bool = False
    ) -> None:
        self._stop = stop
        self._abort = abort
        self._step = step
        self._raises = raises
        self._count = 0
        self._before: dict[int, Any] = {}
        self.status: int | None = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = {each: signal.signal(each, self._signalled) for each in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *_: object) -> None:
        for each, handler in self._before.items():
            signal.signal(each, handler)

    def end(self) -> None:
        """End the command with the status for the signal, if there was one."""
        if self.status is not None:
            raise click.exceptions.Exit(self.status)

    def _signalled(self, number: int, frame: FrameType | None) -> None:
        self._count += 1
        self.status = self.status or (INTERRUPTED if number == signal.SIGINT else TERMINATED)
        if self._count == 1:
            threading.Thread(target=self._stop, name="kafka-pipeline-signal", daemon=True).start()
            note(f"stopping after the current {self._step}; press Ctrl-C again to interrupt it")
        elif self._count == 2:
            threading.Thread(target=self._abort, name="kafka-pipeline-abort", daemon=True).start()
            note(f"interrupting the current {self._step}")
            if self._raises:
                raise KeyboardInterrupt
        else:
            os._exit(self.status)


@contextlib.contextmanager
def failed_run() -> Iterator[None]:
    """Turn the errors of a run into messages; the command ends with the exit status 1.

    Errors of configuration and of connections pass, because they have exit statuses of their own.
    """
    from kafka.errors import IllegalStateError, UnknownTopicOrPartitionError
    from kafka.pipelines.run_results import PipelineFailedError

    try:
        yield
    except (PipelineFailedError, IllegalStateError, UnknownTopicOrPartitionError) as error:
        raise click.ClickException(str(error)) from error
