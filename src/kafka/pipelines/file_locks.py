"""Locks of files that the system releases when their process ends, on POSIX systems and on Windows.

A running stream and a running replay hold such locks (`kafka.pipelines.start_checks`), and the status of a pipeline
looks whether somebody holds one. A further system is added in `_take`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import IO, Any


def take(file: IO[Any]) -> bool:
    """Lock an open file against all others until it is closed.

    Returns False if another process, or another open file of this process, holds a lock of it.
    """
    return _take(file, shared=False)


def is_locked(path: Path) -> bool | None:
    """Return whether a process holds the lock of a file; None if the file does not exist or cannot be read."""
    try:
        with path.open() as file:
            return not _take(file, shared=True)
    except OSError:
        return None


def _take(file: IO[Any], shared: bool) -> bool:
    """Lock an open file if that is possible at once. Windows knows exclusive locks only."""
    if sys.platform == "win32":
        import msvcrt

        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
    else:
        import fcntl

        try:
            fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True
