"""Locks of files that the system releases when their process ends, on POSIX systems and on Windows.

A running stream and a running replay hold such locks (`kafka.pipelines.start_checks`), the status of a pipeline looks
whether somebody holds one, and the embedded broker locks its folder. A further system is added in `_lock`.

A forked child inherits the open files of its parent, and a lock is held as long as one process has its file open.
Therefore, the child closes these files, and only the parent holds its locks.
"""

from __future__ import annotations

import contextlib
import os
import platform
import re
import sys
import time
import weakref
from pathlib import Path
from types import TracebackType

_PAUSE_S = 0.005
"""Pause before the next attempt, while somebody looks whether the file is locked."""
_ATTEMPTS = 10
"""On Windows, which does not tell those who look from holders: maximum number of attempts to lock a file."""
_HOLDER = re.compile(rb"\n(\d+) (\S+)\n")
"""The content of a locked file: the process that holds the lock, and its host."""

_held: weakref.WeakSet[FileLock] = weakref.WeakSet()
"""The locks of this process, which a forked child gives up; also those that are released."""


class FileLock:
    """The lock of a file, held by one holder at a time. A context manager, whose end releases the lock.

    Create it with `take`.

    Attributes:
        path: the file.
    """

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor
        _held.add(self)

    @classmethod
    def take(cls, path: Path) -> FileLock | None:
        """Lock a file, which is created.

        Returns None if another process, or another part of this process, holds the lock. Raises `OSError`.
        """
        while True:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)  # not inherited by child processes
            try:
                if not _take(descriptor):
                    os.close(descriptor)
                    return None
                if _is_at(path, descriptor):
                    _name_holder(descriptor)
                    return cls(path, descriptor)
            except BaseException:
                os.close(descriptor)
                raise
            os.close(descriptor)  # the holder before has removed the file, and somebody may lock a new one

    def release(self, *, remove: bool = False) -> None:
        """Release the lock. Does nothing the second time.

        Arguments:
            remove: whether to remove the file. On Windows, it remains if somebody else has opened it.
        """
        if self._descriptor < 0:
            return
        if remove and sys.platform != "win32":  # while the lock is held, so that this is not the file of the next one
            self.path.unlink(missing_ok=True)
        descriptor, self._descriptor = self._descriptor, -1
        try:
            _unlock(descriptor)  # also for a child that is being forked, and has the file open
        finally:
            os.close(descriptor)
        if remove and sys.platform == "win32":  # where open files cannot be removed
            with contextlib.suppress(OSError):
                self.path.unlink()

    def give_up(self) -> None:
        """In a forked child, close the inherited file without releasing the parent's lock."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def __enter__(self) -> FileLock:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def is_locked(path: Path) -> bool | None:
    """Return whether somebody holds the lock of a file; None if the file does not exist or cannot be read.

    This does not disturb anybody who takes the lock at the same time.
    """
    try:
        return is_held(path)
    except OSError:
        return None


def is_held(path: Path) -> bool:
    """Return whether somebody holds the lock of a file, like `is_locked`.

    Raises `FileNotFoundError` if the file does not exist, so that its lock is free, and another `OSError` if it cannot
    be read, so that the answer is unknown.
    """
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))  # a named pipe would block
    try:
        return not (_take(descriptor) if sys.platform == "win32" else _lock(descriptor, shared=True))
    finally:
        os.close(descriptor)


def holder(path: Path) -> str | None:
    """Return who holds the lock of a file, such as "process 123 on host7"; None if it is free or that is unknown."""
    if not is_locked(path):
        return None
    try:
        with path.open("rb", buffering=0) as file:
            file.seek(1)  # on Windows, the first byte cannot be read while another process has locked it
            found = _HOLDER.fullmatch(b"\n" + file.read(1_000))
    except OSError:
        return None
    host = "" if found is None else found[2].decode(errors="replace")
    return f"process {found[1].decode()} on {host}" if found is not None and host.isprintable() else None


def _name_holder(descriptor: int) -> None:
    """Write this process into a locked file that is empty or names an earlier holder.

    On a full disk, the file remains empty.
    """
    with contextlib.suppress(OSError):
        os.lseek(descriptor, 0, os.SEEK_SET)
        before = os.read(descriptor, 1_000)
        if before and not _HOLDER.fullmatch(before):
            return
        os.ftruncate(descriptor, 0)
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, f"\n{os.getpid()} {platform.node() or 'localhost'}\n".encode())


def _take(descriptor: int) -> bool:
    """Lock an open file, unless its lock is held. A look by `is_locked` does not count as holding it."""
    attempts = 0
    while not _lock(descriptor):
        attempts += 1
        # On POSIX systems, those who look share their lock with others; a holder does not.
        is_held = attempts >= _ATTEMPTS if sys.platform == "win32" else not _lock(descriptor, shared=True)
        if is_held:
            return False
        _unlock(descriptor)
        time.sleep(_PAUSE_S)
    return True


def _lock(descriptor: int, shared: bool = False) -> bool:
    """Lock an open file if that is possible at once. Windows knows exclusive locks only."""
    if sys.platform == "win32":
        import msvcrt

        os.lseek(descriptor, 0, os.SEEK_SET)  # the lock is one of the byte at this position
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
    else:
        import fcntl

        try:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):  # the latter on NFS
            return False
    return True


def _unlock(descriptor: int) -> None:
    if sys.platform != "win32":
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_UN)


def _is_at(path: Path, descriptor: int) -> bool:
    """Return whether an open file is still the one at a path."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _in_child() -> None:
    for lock in list(_held):
        lock.give_up()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
