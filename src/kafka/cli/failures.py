"""How a command ends: the message on standard error, and the exit status."""

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
"""The command failed; the message states the reason. Also used if the output has lost its reader."""
WRONG_USE = 2
"""A command, an option, a setting or a settings file is wrong."""
UNREACHABLE = 3
"""No broker or schema registry could be reached, or the command timed out: a later attempt may succeed."""
ABOVE_LIMIT = 4
"""`kafka groups lag --above` found a lag above the limit."""
NOT_THERE = 4
"""The subject of `kafka schemas check` does not exist."""
INTERRUPTED = 130
TERMINATED = 143
_OURS = ("kafka", "kafka_columnar", "pyspark_kafka_columnar")
_EXTRAS = {
    "pyarrow": "arrow",
    "pydantic": "pipelines",
    "sqlglot": "pipelines",
    "authlib": "ui-oidc",
    "itsdangerous": "ui",
    "starlette": "ui",
    "uvicorn": "ui",
    "yaml": "pipelines",
}
"""The extra that installs a library, if it is not "demo"."""


@contextlib.contextmanager
def ending() -> Iterator[None]:
    """Let SIGTERM end a command as Ctrl-C does, so that consumers leave their groups and files are completed."""
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
    """Print a one-line error message on standard error, and return the exit status.

    An error that indicates a bug in this program is raised again, so that its traceback is shown.
    """
    if isinstance(error, RuntimeError) and isinstance(error.__cause__, SystemExit | KeyboardInterrupt):
        error = error.__cause__  # Python 3.11 wraps a signal's exception that is raised while a class is created
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else FAILED
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    if isinstance(error, click.Abort):  # the user declined, or pressed Ctrl-C
        return INTERRUPTED if isinstance(error.__cause__ or error.__context__, KeyboardInterrupt) else FAILED
    if isinstance(error, click.UsageError):
        with contextlib.suppress(OSError):  # standard error may be closed, or on a full disk
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
    """Return whether the output has lost its reader, even while it is closed; False for lost network connections."""
    while error is not None:
        if isinstance(error, BrokenPipeError) or (isinstance(error, OSError) and error.errno == errno.EPIPE):
            return True
        error = None if error.__suppress_context__ else error.__context__  # the error's own text explains its cause
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
        if error.errno in (errno.ENOSPC, errno.EBADF):
            return f"cannot write to standard output: {error.strerror}", FAILED
        return error.strerror or str(error), FAILED
    if home in ("pyspark", "py4j"):
        return f"Spark failed: {error}", FAILED
    if home == "pyarrow":
        return str(error), FAILED
    raise error


def _not_installed(error: ModuleNotFoundError) -> str:
    """Return the message for a missing library. If the module belongs to this package, raise the error again."""
    name = (error.name or "").partition(".")[0]
    if name in ("", *_OURS):
        raise error
    if name in sys.stdlib_module_names:
        return (
            f"cannot import Python's own module {name!r}: the installation of Python is incomplete, or this user may "
            f"not read {sys.base_prefix}"
        )
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
    """Protects blocks from Ctrl-C and SIGTERM, so that they complete their writes. A second signal interrupts them.

    Enter it once with ``with``, and use `block` for each protected block inside.
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
        """Delay interrupts until the end of the block, and raise them then."""
        self._held = True
        try:
            yield
        finally:
            self._held = False
        if self._pending is not None:
            end, self._pending = self._pending, None
            raise end
