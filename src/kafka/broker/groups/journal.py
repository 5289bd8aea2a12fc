"""The file of committed offsets. Entries are appended; the file is rewritten when most of them are out of date.

An entry is a length, a CRC and JSON: one commit is one write, done before it is answered. A torn entry at the end, left
by a process that was killed, is cut off; damage before whole entries is passed over, and the damaged file kept. The
journal plays the part of Kafka's topic __consumer_offsets.
"""

import errno
import json
import logging
import os
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from struct import Struct
from typing import Any, Final

from kafka.broker.groups.group import CommittedOffset
from kafka.broker.log.files import keep_damaged, replace_file, sync_folder

log = logging.getLogger(__name__)

Offsets = Mapping[tuple[str, int], CommittedOffset]

_HEAD: Final = Struct(">II")
_FIRST_BYTES: Final = b'{"group":'
_SMALLEST_REWRITE: Final = 4 * 1024 * 1024
_WASTEFUL: Final = 4


class OffsetJournal:
    """The journal in `path`; with `sync` each commit is synced to the disk before it is answered."""

    def __init__(self, path: Path, sync: bool) -> None:
        self._path = path
        self._sync = sync
        self._fd = -1
        self._size = 0
        self._synced_size = 0
        self._failed = False
        self._size_when_rewritten = 0

    def load(self) -> dict[str, dict[tuple[str, int], CommittedOffset]]:
        """Open the file and return the offsets in it by group; called once, before anything else."""
        found: dict[str, dict[tuple[str, int], CommittedOffset]] = {}
        data = self._path.read_bytes() if self._path.exists() else b""
        expected, damaged = 0, 0
        for start, end, entry in _entries(data):
            damaged += start - expected
            self._size = expected = end
            offsets = found.setdefault(entry["group"], {})
            for topic, partition, *committed in entry["offsets"]:
                if committed:
                    offsets[topic, partition] = CommittedOffset(*committed)
                else:
                    offsets.pop((topic, partition), None)
        groups = {group: offsets for group, offsets in found.items() if offsets}
        if damaged:
            log.error(
                "%s is damaged: %d bytes before whole entries are passed over, what was committed there is lost. "
                "The file is kept as %s",
                self._path,
                damaged,
                keep_damaged(self._path).name,
            )
            self._replace(groups)
            return groups
        self._fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        if self._size < len(data):
            log.warning("%s: cut %d bytes that are no whole entry", self._path, len(data) - self._size)
            os.ftruncate(self._fd, self._size)
        self._synced_size = self._size
        if self._sync:
            sync_folder(self._path.parent)
        return groups

    def commit(self, group: str, offsets: Offsets) -> None:
        """Append the offsets that a group commits."""
        self._append(_entry(group, offsets))

    def delete(self, group: str, partitions: list[tuple[str, int]]) -> None:
        """Append that a group's offsets for these partitions are gone."""
        if partitions:
            self._append(_pack({"group": group, "offsets": [list(one) for one in partitions]}))

    def _append(self, entry: bytes) -> None:
        if self._failed:
            raise OSError(f"{self._path} failed before; it is not used until the broker is started again")
        try:
            written = os.pwrite(self._fd, entry, self._size)
            if written != len(entry):
                raise OSError(errno.ENOSPC, f"only {written} of {len(entry)} bytes could be written", str(self._path))
            if self._sync:
                os.fsync(self._fd)
                self._synced_size = self._size + len(entry)
        except OSError as error:
            self._undo(error)
            raise
        self._size += len(entry)

    def _undo(self, error: OSError) -> None:
        """Take back a write that failed. Only a full disk leaves no doubt about what is stored."""
        try:
            os.ftruncate(self._fd, self._size)
        except OSError:
            self._failed = True
        self._failed |= error.errno not in (errno.ENOSPC, errno.EDQUOT)

    @property
    def is_wasteful(self) -> bool:
        """Whether it has grown to a multiple of what it was when it held nothing out of date."""
        return self._size > max(_SMALLEST_REWRITE, _WASTEFUL * self._size_when_rewritten)

    def rewrite(self, groups: Mapping[str, Offsets]) -> None:
        """Replace the file by one that holds just these offsets."""
        if not self._failed:
            self._replace(groups)

    def _replace(self, groups: Mapping[str, Offsets]) -> None:
        data = b"".join(_entry(group, offsets) for group, offsets in groups.items() if offsets)
        replace_file(self._path, data, sync_name=self._sync)
        self.close()
        self._fd = os.open(self._path, os.O_RDWR | os.O_CLOEXEC)
        self._size = self._synced_size = self._size_when_rewritten = len(data)

    def discard_unsynced(self) -> None:
        """Throw away what a failure of the machine could take; the journal is not to be used afterwards."""
        if self._fd >= 0:
            os.ftruncate(self._fd, min(self._size, self._synced_size))

    def close(self) -> None:
        """Close the file."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def _entry(group: str, offsets: Offsets) -> bytes:
    rows = [
        [topic, partition, one.offset, one.leader_epoch, one.metadata] for (topic, partition), one in offsets.items()
    ]
    return _pack({"group": group, "offsets": rows})


def _pack(content: object) -> bytes:
    body = json.dumps(content, separators=(",", ":")).encode()
    return _HEAD.pack(len(body), zlib.crc32(body)) + body


def _entries(data: bytes) -> Iterator[tuple[int, int, Any]]:
    """The whole entries in `data`, each with where it begins and ends; what is between them is damaged."""
    position = 0
    while position + _HEAD.size <= len(data):
        entry = _entry_at(data, position)
        if entry is None:
            # The next place where an entry can begin: each is an object whose first key is the group.
            mark = data.find(_FIRST_BYTES, position + _HEAD.size + 1)
            if mark < 0:
                return
            position = mark - _HEAD.size
            continue
        end, content = entry
        yield position, end, content
        position = end


def _entry_at(data: bytes, position: int) -> tuple[int, Any] | None:
    length, checksum = _HEAD.unpack_from(data, position)
    end = position + _HEAD.size + length
    body = data[position + _HEAD.size : end]
    # No entry is empty, but a tail of zeros, as file systems leave it, would pass for empty ones.
    if not body or len(body) < length or zlib.crc32(body) != checksum:
        return None
    return end, json.loads(body)
