"""The standard streams of a command, whatever the caller has made of them."""

import codecs
import contextlib
import io
import os
import sys
from typing import TextIO

_STREAMS = (("stdin", "r", os.O_WRONLY), ("stdout", "w", os.O_RDONLY), ("stderr", "w", os.O_WRONLY))
"""Name and mode of each, and what opens its place where it is closed."""

Status = int | str | None


def begin_in_utf_8() -> None:
    """Begin again in Python's UTF-8 mode where all text of the system is ASCII: in the C locale with PYTHONUTF8=0.

    Arguments, variables and names of files beyond ASCII have no text there that could be sent to a broker.
    """
    if sys.flags.utf8_mode or codecs.lookup(sys.getfilesystemencoding()).name != "ascii" or not sys.executable:
        return
    os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])


def have_streams() -> None:
    """Have all three, and an output that writes all it is given.

    Where the caller has closed one, Python has none, and the next connection would get its number. Reading or writing
    fails then, but for standard error. With PYTHONUNBUFFERED a write to a pipe or a disk that ends in the middle is no
    error, and the rest is lost.
    """
    for number, (name, mode, access) in enumerate(_STREAMS):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, access)
            if nowhere != number:
                os.dup2(nowhere, number)
                os.close(nowhere)
            setattr(sys, name, os.fdopen(number, mode, closefd=False))
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")  # a name that its encoding lacks, as on Windows in a pipe
    if isinstance(getattr(sys.stdout, "buffer", None), io.RawIOBase):
        buffered = os.fdopen(sys.stdout.fileno(), "wb", closefd=False)
        sys.stdout = io.TextIOWrapper(buffered, sys.stdout.encoding, sys.stdout.errors, line_buffering=True)


def flushed(status: Status) -> Status:
    """The status with which a command ends, once what it has printed is written.

    A command that could not write what it had to say has failed. Nothing is left for the interpreter, which would try
    again, and end with a status of its own.
    """
    try:
        sys.stdout.flush()
    except OSError as error:
        if not status and not isinstance(error, BrokenPipeError):
            _complain(f"Error: {error.strerror or error}")
        _give_up(sys.stdout)
        status = status or 1
    try:
        sys.stderr.flush()
    except OSError:  # there is no telling anybody
        _give_up(sys.stderr)
    return status


def _complain(line: str) -> None:
    with contextlib.suppress(OSError):
        print(line, file=sys.stderr)


def _give_up(stream: TextIO) -> None:
    """Have what is left in a stream go where nobody waits for it."""
    with contextlib.suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
        stream.flush()
