"""Durable file writes, and the pool of open log files, which keeps the broker from running out of descriptors."""

import errno
import logging
import os
import sys
from collections import OrderedDict
from pathlib import Path

log = logging.getLogger(__name__)

_TOO_MANY = (errno.EMFILE, errno.ENFILE)


class FilePool:
    """Open file descriptors by path. Beyond `limit`, the pool closes the least recently used ones.

    If the process runs out of descriptors, because connections and the rest of the program need some as well, the pool
    closes half of its files, and the number of remaining files becomes the new limit.

    A descriptor is valid until the next call to `open`: use it at once, and do not keep it.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._open: OrderedDict[Path, int] = OrderedDict()

    def open(self, path: Path) -> int:
        """Return a descriptor for reading and writing `path`; create the file and its folder if necessary."""
        fd = self._open.get(path)
        if fd is not None:
            self._open.move_to_end(path)
            return fd
        fd = self._open_file(path)
        self._open[path] = fd
        self._close_beyond(self._limit)
        return fd

    def _open_file(self, path: Path) -> int:
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
        while True:
            try:
                return os.open(path, flags, 0o644)
            except FileNotFoundError:
                path.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                if error.errno not in _TOO_MANY or not self._open:
                    raise
                self._limit = max(1, len(self._open) // 2)
                self._close_beyond(self._limit if len(self._open) > 1 else 0)
                log.warning("%s: keeping at most %d log files open from now on", error.strerror, self._limit)

    def _close_beyond(self, count: int) -> None:
        while len(self._open) > count:
            _, oldest = self._open.popitem(last=False)
            os.close(oldest)

    def forget(self, path: Path) -> None:
        """Close a file that will be removed or renamed."""
        fd = self._open.pop(path, None)
        if fd is not None:
            os.close(fd)

    def close(self) -> None:
        """Close all files."""
        while self._open:
            os.close(self._open.popitem()[1])


def most_files(wanted: int) -> int:
    """Return the maximum number of open log files: `wanted`, but at most half of the available descriptors."""
    limit = descriptor_limit()
    return wanted if limit is None else max(1, min(wanted, limit // 2))


def descriptor_limit() -> int | None:
    """Return the maximum number of file descriptors for this process; None if there is no limit."""
    if sys.platform == "win32":
        return None
    import resource  # not available on all systems that import this module

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft == resource.RLIM_INFINITY else soft


def sync_folder(folder: Path) -> None:
    """Make the names of the files in `folder` durable."""
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def sync_folders(folder: Path, top: Path) -> None:
    """Make the names of the files in `folder` durable, and the names of `folder` and its parents up to `top`."""
    sync_folder(folder)
    while folder != top and folder != folder.parent:
        folder = folder.parent
        sync_folder(folder)


def replace_file(path: Path, data: bytes, sync: bool = True, sync_name: bool = False, is_secret: bool = False) -> None:
    """Write `data` to `path` atomically: after a crash the file has either the old or the new content.

    Without `sync` this guarantee covers only crashes of the process; after a power failure the file may be empty. With
    `sync_name` the new content is durable when the function returns. With `is_secret` only the owner can read the file.
    """
    temporary = path.with_name(path.name + ".tmp")
    with temporary.open("wb") as file:
        if is_secret:
            os.fchmod(file.fileno(), 0o600)
        file.write(data)
        if sync or sync_name:
            file.flush()
            os.fsync(file.fileno())
    os.replace(temporary, path)
    if sync_name:
        sync_folder(path.parent)


def keep_damaged(path: Path) -> Path:
    """Rename a damaged file to an unused name, and return the new path."""
    number = 0
    while True:
        kept = path.with_name(f"{path.name}.damaged-{number}")
        if not kept.exists():
            path.rename(kept)
            return kept
        number += 1
