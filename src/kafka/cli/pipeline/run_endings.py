"""How ``kafka pipeline run``, ``replay``, ``backfill`` and ``test`` end: by Ctrl-C and SIGTERM, and with errors.

The first signal asks for a stop at the end of the current micro-batch or slice, the second one interrupts it, and the
third one ends the process. While Spark starts, the first signal lets it finish, because an interrupted call would leave
the connection to the JVM unusable; the second one ends the process. Errors are reported in one line, without the name
of the exception's class.
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
    """Handles the signals inside a ``with`` block. At first, Spark is starting; see `run_steps`.

    Arguments:
        stop: asks for a stop as soon as Spark has started. Called in another thread.

    Attributes:
        status: the exit status for the first signal; None if there was none.
    """

    def __init__(self, stop: Callable[[], object]) -> None:
        self._stop = stop
        self._abort: Callable[[], object] | None = None
        self._step = "the start of Spark"
        self._raises = False
        self._count = 0
        self._before: dict[int, Any] = {}
        self.status: int | None = None

    def __enter__(self) -> Self:
        self._before = self._handle()
        return self

    def _handle(self) -> dict[int, Any]:
        """Set the handlers, and return those before."""
        if threading.current_thread() is not threading.main_thread():
            return {}
        return {each: signal.signal(each, self._signalled) for each in (signal.SIGINT, signal.SIGTERM)}

    def keep(self) -> None:
        """Set the handlers again: PySpark sets one of its own when it creates a context."""
        self._handle()

    def __exit__(self, *_: object) -> None:
        for each, handler in self._before.items():
            signal.signal(each, handler)

    def run_steps(
        self, stop: Callable[[], object], abort: Callable[[], object] | None, step: str, *, raises: bool = False
    ) -> None:
        """Say that Spark has started, and how its steps are stopped from now on.

        Arguments:
            stop: asks for a stop between two steps. Called in another thread, now if there was a signal.
            abort: interrupts the current step. Called in another thread. None: the second signal ends the process.
            step: what is not interrupted by the first signal, such as ``micro-batch``.
            raises: whether the second signal raises `KeyboardInterrupt`, too, to leave a call that does not return
                early.
        """
        self._raises, self._step, self._abort, self._stop = raises, f"the current {step}", abort, stop
        if self._count:
            self._begin(stop, "signal")

    def end(self) -> None:
        """End the command with the status for the signal, if there was one."""
        if self.status is not None:
            raise click.exceptions.Exit(self.status)

    def _signalled(self, number: int, frame: FrameType | None) -> None:
        self._count += 1
        self.status = self.status or (INTERRUPTED if number == signal.SIGINT else TERMINATED)
        if self._count == 1:
            self._begin(self._stop, "signal")
            note(f"stopping after {self._step}; press Ctrl-C again to interrupt it")
        elif self._count == 2 and self._abort is not None:
            self._begin(self._abort, "abort")
            note(f"interrupting {self._step}")
            if self._raises:
                raise KeyboardInterrupt
        else:
            os._exit(self.status)

    @staticmethod
    def _begin(action: Callable[[], object], name: str) -> None:
        threading.Thread(target=action, name=f"kafka-pipeline-{name}", daemon=True).start()


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
