"""How a command ends: what is said on standard error, and the exit status."""

import contextlib
import errno
import os
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any, NoReturn, Self

import click

from kafka.cli.command_output import printable

FAILED = 1
"""Something was not done; the message says why. Also used if the reader of the output is gone."""
WRONG_USE = 2
"""A command, an option, a setting or a file of settings is wrong."""
UNREACHABLE = 3
"""No broker or schema registry was reached, or the time was up: the same command may work later."""
INTERRUPTED = 130
TERMINATED = 143
_OURS = ("kafka", "kafka_columnar", "pyspark_kafka_columnar")
_EXTRAS = {"pyarrow": "arrow", "starlette": "ui", "uvicorn": "ui"}
"""The extra that installs a library, if it is not `demo`."""


@contextlib.contextmanager
def ending() -> Iterator[None]:
    """SIGTERM ends a command as Ctrl-C does: consumers leave their groups, files are whole."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def terminate(number: int, frame: FrameType | None) -> NoReturn:
        raise SystemExit(TERMINATED)

    before = signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def exit_status(error: BaseException) -> int:
    """Say what went wrong on one line of standard error, and give the exit status.

    A fault of this program is raised again, as its traceback is what is needed then.
    """
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else FAILED
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    if isinstance(error, click.Abort):  # a question was answered with no, or by Ctrl-C
        return INTERRUPTED if isinstance(error.__cause__ or error.__context__, KeyboardInterrupt) else FAILED
    if isinstance(error, click.UsageError):
        with contextlib.suppress(OSError):  # standard error may be closed, or a full disk
            error.show()
        return WRONG_USE
    if _is_broken_pipe(error):
        _nobody_reads()
        return FAILED
    text, status = _told(error)
    with contextlib.suppress(OSError):
        print(f"Error: {printable(' '.join(text.split()))}", file=sys.stderr)
    return status


def _is_broken_pipe(error: BaseException | None) -> bool:
    """Whether the output's reader was gone, or the error came while such output was closed; not a lost connection."""
    while error is not None:
        if isinstance(error, BrokenPipeError) or (isinstance(error, OSError) and error.errno == errno.EPIPE):
            return True
        error = None if error.__suppress_context__ else error.__context__  # what has a cause is told by its own text
    return False


def _told(error: BaseException) -> tuple[str, int]:
    from kafka.errors import (
        IllegalArgumentError,
        KafkaConfigurationError,
        KafkaConnectionError,
        KafkaError,
        KafkaTimeoutError,
        error_text,
    )

    if isinstance(error, click.ClickException):
        return error.format_message(), error.exit_code
    if isinstance(error, KafkaConfigurationError | IllegalArgumentError):
        return str(error), WRONG_USE
    if isinstance(error, KafkaConnectionError | KafkaTimeoutError):
        return str(error), UNREACHABLE
    if isinstance(error, KafkaError) and type(error).__name__ == "SchemaRegistryConnectionError":
        return f"{error}; use --registry URL or KAFKA_SCHEMA_REGISTRY_URL to name the schema registry", UNREACHABLE
    if isinstance(error, KafkaError):
        text = error_text(error)
        return text if type(error).__name__ in text else f"{text} ({type(error).__name__})", FAILED
    home = type(error).__module__.partition(".")[0]
    if home == "kafka" and type(error).__name__ == "SparkRequirementError":
        return str(error), FAILED
    if isinstance(error, ModuleNotFoundError):
        return _not_installed(error), FAILED
    if isinstance(error, ImportError) and (error.name or "").partition(".")[0] not in _OURS:
        return f"cannot import a library that this command needs: {error}", FAILED
    if isinstance(error, OSError):
        if error.filename is not None and error.strerror:
            return f"{error.filename}: {error.strerror}", FAILED
        return error.strerror or str(error), FAILED
    if home in ("pyspark", "py4j"):
        return f"Spark failed: {error}", FAILED
    if home == "pyarrow":
        return str(error), FAILED
    raise error


def _not_installed(error: ModuleNotFoundError) -> str:
    """The line about a missing library; a missing module of our own is raised as it is."""
    name = (error.name or "").partition(".")[0]
    if name in ("", *_OURS):
        raise error
    extra = _EXTRAS.get(name, "demo")
    return (
        f"this command needs {name!r}, which is not installed; install it with: pip install 'kafka-columnar[{extra}]'"
    )


def _nobody_reads() -> None:
    """Redirect standard output to the null device, so that the interpreter can flush the rest without an error."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


class Uninterrupted:
    """Blocks that neither Ctrl-C nor SIGTERM ends in the middle: what is written in one is whole. A second one does.

    Used as ``with``, once for the time in which it holds, and by `block` for each block within.
    """

    def __init__(self) -> None:
        self._held = False
        self._pending: BaseException | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = {each: signal.signal(each, self._signalled) for each in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *_: object) -> None:
        for each, handler in self._before.items():
            signal.signal(each, handler)

    def _signalled(self, number: int, frame: FrameType | None) -> None:
        end = KeyboardInterrupt() if number == signal.SIGINT else SystemExit(TERMINATED)
        if not self._held or self._pending is not None:
            raise end
        self._pending = end

    @contextlib.contextmanager
    def block(self) -> Iterator[None]:
        """Delay interrupts until the block has ended, and raise them then."""
        self._held = True
        try:
            yield
        finally:
            self._held = False
        if self._pending is not None:
            end, self._pending = self._pending, None
            raise end
