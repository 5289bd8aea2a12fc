"""A segment's checkpoint: its indexes and the producers' states at some size of the log file.

It is a file next to the log file. With a checkpoint, a restart reads only what was appended since. It is written when a
segment is full and when the broker stops cleanly. It is used only if its checksum is correct, the log file is at least
as long, and the machine has not been restarted since (unsynced pages are lost with the machine, not with the process);
otherwise the log is read.
"""

import json
import struct
import zlib
from array import array
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kafka.broker.log.files import replace_file
from kafka.broker.log.producers import ProducerStates
from kafka.broker.log.segment import AbortedTransaction, SparseIndex

_HEAD: Final = struct.Struct(">8sIII")
_MARK: Final = b"kcolidx3"
_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")


@dataclass(slots=True)
class Checkpoint:
    """The state after the first `size` bytes of a segment."""

    size: int
    next_offset: int
    max_timestamp: int
    written_ms: int
    index: SparseIndex
    producers: ProducerStates
    aborted: list[AbortedTransaction]


def boot_id() -> str:
    """Return the id of the machine's current boot; empty if unknown, and then no checkpoint is used."""
    try:
        return _BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def save(path: Path, checkpoint: Checkpoint) -> None:
    """Write the checkpoint to `path`, atomically replacing an older one."""
    index = checkpoint.index
    facts = json.dumps(
        {
            "boot": boot_id(),
            "size": checkpoint.size,
            "next_offset": checkpoint.next_offset,
            "max_timestamp": checkpoint.max_timestamp,
            "written_ms": checkpoint.written_ms,
            "interval": index.interval,
            "producers": checkpoint.producers.to_rows(),
            "aborted": checkpoint.aborted,
        }
    ).encode()
    columns = b"".join(one.tobytes() for one in (index.offsets, index.positions, index.earlier_timestamps))
    head = _HEAD.pack(_MARK, len(facts), len(index), zlib.crc32(columns, zlib.crc32(facts)))
    replace_file(path, head + facts + columns, sync=False)


def load(path: Path, log_size: int) -> Checkpoint | None:
    """Read the checkpoint of a segment of `log_size` bytes; None if there is no usable one."""
    try:
        data = path.read_bytes()
        mark, facts_size, entries, checksum = _HEAD.unpack_from(data)
    except (OSError, struct.error):
        return None
    body = memoryview(data)[_HEAD.size :]
    if mark != _MARK or len(body) != facts_size + entries * 24 or zlib.crc32(body) != checksum:
        return None
    facts = json.loads(bytes(body[:facts_size]))
    if not facts["boot"] or facts["boot"] != boot_id() or facts["size"] > log_size:
        return None
    index = SparseIndex(facts["interval"])
    columns = []
    for number in range(3):
        column = array("q")
        start = facts_size + number * entries * 8
        column.frombytes(body[start : start + entries * 8])
        columns.append(column)
    index.restore(*columns)
    producers = ProducerStates.from_rows(facts["producers"])
    aborted = [AbortedTransaction(*row) for row in facts["aborted"]]
    return Checkpoint(
        facts["size"], facts["next_offset"], facts["max_timestamp"], facts["written_ms"], index, producers, aborted
    )
