"""Repairs the standard streams of a command, in whatever state the caller has left them."""

import codecs
import contextlib
import io
import os
import sys
from typing import TextIO

_STREAMS = (("stdin", "r", os.O_WRONLY), ("stdout", "w", os.O_RDONLY), ("stderr", "w", os.O_WRONLY))
"""Name and mode of each, and the flag to open a replacement if it is closed."""

Status = int | str | None


def begin_in_utf_8() -> None:
    """Restart in Python's UTF-8 mode if the system's encoding is ASCII: in the C locale with PYTHONUTF8=0.

    There, arguments, variables and file names beyond ASCII cannot be decoded to text that could be sent to a broker.
    """
    if sys.flags.utf8_mode or codecs.lookup(sys.getfilesystemencoding()).name != "ascii" or not sys.executable:
        return
    os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])


def have_streams() -> None:
    """Make sure that all three streams exist, and that standard output writes everything.

    If the caller has closed a stream, Python has none, and the next connection would get its descriptor. The
    replacement fails on reading and writing, except standard error. With PYTHONUNBUFFERED a partial write to a pipe or
    a disk is not an error, and the rest would be lost.
    """
    for number, (name, mode, access) in enumerate(_STREAMS):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, access)
            if nowhere != number:
                os.dup2(nowhere, number)
                os.close(nowhere)
            setattr(sys, name, os.fdopen(number, mode, closefd=False))
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")  # characters missing in its encoding, as in a pipe on Windows
    if isinstance(getattr(sys.stdout, "buffer", None), io.RawIOBase):
        buffered = os.fdopen(sys.stdout.fileno(), "wb", closefd=False)
        sys.stdout = io.TextIOWrapper(buffered, sys.stdout.encoding, sys.stdout.errors, line_buffering=True)


def flushed(status: Status) -> Status:
    """Flush the output; return the exit status of the command.

    A command that could not write its output has failed. Nothing is left for the interpreter to flush, which would try
    again and exit with its own status.
    """
    try:
        sys.stdout.flush()
    except OSError as error:
        if not status and not isinstance(error, BrokenPipeError):
            _complain(f"Error: cannot write to standard output: {error.strerror or error}")
        _give_up(sys.stdout)
        status = status or 1
    try:
        sys.stderr.flush()
    except OSError:  # there is no way to report it
        _give_up(sys.stderr)
    return status


def _complain(line: str) -> None:
    with contextlib.suppress(OSError):
        print(line, file=sys.stderr)


def _give_up(stream: TextIO) -> None:
    """Discard what is left in a stream."""
    with contextlib.suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
        stream.flush()
