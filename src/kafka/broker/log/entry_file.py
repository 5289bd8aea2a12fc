"""An append-only file in which coordinators store their state. An entry is a length, a CRC and a JSON object.

Each entry is one write. A torn entry at the end, left by a killed process, is cut off. Damage before intact entries is
skipped, and the damaged file is kept.
"""

import errno
import json
import logging
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from struct import Struct
from typing import Any, Final

from kafka.broker.disk_files import keep_damaged, replace_file, sync_folder

log = logging.getLogger(__name__)

_HEAD: Final = Struct(">II")
_WASTEFUL: Final = 4


class EntryFile:
    """The entries in `path`. With `sync` each entry is synced to disk before `append` returns.

    `first_key` must be the first key of every entry; it is used to find the next entry after damaged data.
    """

    def __init__(self, path: Path, sync: bool, first_key: str) -> None:
        self._path = path
        self._sync = sync
        self._mark = f'{{"{first_key}":'.encode()
        self._fd = -1
        self._size = 0
        self._synced_size = 0
        self._failed = False
        self._size_when_rewritten = 0
        self._damaged = 0

    def load(self) -> Iterator[Any]:
        """Open the file and yield its entries. Call it once, before other methods, and consume all entries."""
        data = self._path.read_bytes() if self._path.exists() else b""
        expected = 0
        for start, end, entry in _entries(data, self._mark):
            self._damaged += start - expected
            self._size = expected = end
            yield entry
        self._fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        if self._size < len(data) and not self._damaged:
            log.warning("%s: cut off %d bytes of an incomplete entry", self._path, len(data) - self._size)
            os.ftruncate(self._fd, self._size)
        self._synced_size = self._size
        if self._sync:
            sync_folder(self._path.parent)

    def replace_if_damaged(self, entries: Iterable[Mapping[str, Any]]) -> None:
        """If `load` has skipped damaged data, rename the file and continue with a new one containing these entries."""
        if self._damaged:
            log.error(
                "%s is damaged: skipped %d damaged bytes, whose content is lost. The file is kept as %s",
                self._path,
                self._damaged,
                keep_damaged(self._path).name,
            )
            self._replace(entries)

    def append(self, entry: Mapping[str, Any]) -> None:
        """Append an entry. If this raises OSError, the file does not contain the entry."""
        if self._failed:
            raise OSError(f"{self._path} has failed, and is not used until the broker is restarted")
        data = _pack(entry)
        try:
            written = os.pwrite(self._fd, data, self._size)
            if written != len(data):
                raise OSError(errno.ENOSPC, f"only {written} of {len(data)} bytes could be written", str(self._path))
            if self._sync:
                os.fsync(self._fd)
                self._synced_size = self._size + len(data)
        except OSError as error:
            self._undo(error)
            raise
        self._size += len(data)

    def _undo(self, error: OSError) -> None:
        """Undo a failed write.

        Unless the disk was full, the file is no longer used, as it is uncertain which bytes are stored.
        """
        try:
            os.ftruncate(self._fd, self._size)
        except OSError:
            self._failed = True
        self._failed |= error.errno not in (errno.ENOSPC, errno.EDQUOT)

    def is_wasteful(self, smallest: int) -> bool:
        """Return whether the file exceeds both `smallest` bytes and a multiple of its size at the last rewrite."""
        return self._size > max(smallest, _WASTEFUL * self._size_when_rewritten)

    def rewrite(self, entries: Iterable[Mapping[str, Any]]) -> None:
        """Replace the file with one that contains only these entries."""
        if not self._failed:
            self._replace(entries)

    def _replace(self, entries: Iterable[Mapping[str, Any]]) -> None:
        data = b"".join(map(_pack, entries))
        replace_file(self._path, data, sync_name=self._sync)
        self.close()
        self._fd = os.open(self._path, os.O_RDWR | os.O_CLOEXEC)
        self._size = self._synced_size = self._size_when_rewritten = len(data)

    def discard_unsynced(self) -> None:
        """Discard data that a machine failure could lose. Do not use the file afterwards."""
        if self._fd >= 0:
            os.ftruncate(self._fd, min(self._size, self._synced_size))

    def close(self) -> None:
        """Close the file."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def _pack(content: object) -> bytes:
    body = json.dumps(content, separators=(",", ":")).encode()
    return _HEAD.pack(len(body), zlib.crc32(body)) + body


def _entries(data: bytes, mark: bytes) -> Iterator[tuple[int, int, Any]]:
    """Yield the intact entries in `data`, each with its start and end. The bytes between them are damaged."""
    position = 0
    while position + _HEAD.size <= len(data):
        entry = _entry_at(data, position)
        if entry is None:
            # The next position at which an entry can start.
            found = data.find(mark, position + _HEAD.size + 1)
            if found < 0:
                return
            position = found - _HEAD.size
            continue
        end, content = entry
        yield position, end, content
        position = end


def _entry_at(data: bytes, position: int) -> tuple[int, Any] | None:
    length, checksum = _HEAD.unpack_from(data, position)
    end = position + _HEAD.size + length
    body = data[position + _HEAD.size : end]
    # No entry is empty. Zeros, which file systems may leave at the end, would look like empty entries.
    if not body or len(body) < length or zlib.crc32(body) != checksum:
        return None
    return end, json.loads(body)
