"""Recovery of a partition when it is opened: reads the checkpoints of its segments, and the log after them.

A killed process can leave an incomplete batch at the end of the last segment. Acknowledged batches were written
completely, so it is safe to truncate the segment after the last complete batch that has a correct checksum.
"""

import json
import logging
import os
import struct
import zlib
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kafka.broker.disk_files import FilePool, replace_file
from kafka.broker.log.batch_head import HEAD_SIZE, MAGIC, BatchHead, Marker, read_head, read_marker
from kafka.broker.log.producers import ProducerStates
from kafka.broker.log.segment import AbortedTransaction, Segment, SparseIndex
from kafka.errors import KafkaError
from kafka.record import batch_headers, check_batch

log = logging.getLogger(__name__)

_WINDOW: Final = 4 * 1024 * 1024
_HEAD: Final = struct.Struct(">8sIII")
_MARK: Final = b"kcolidx3"
_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")


@dataclass(slots=True)
class Checkpoint:
    """The state after the first `size` bytes of a segment: its indexes, and the producer states.

    It is stored in a file next to the log file, so that a restart reads only the data that was appended since the last
    checkpoint. It is written when a segment is full and when the broker stops cleanly. It is used only if its checksum
    is correct, the log file is at least as long, and the machine has not been restarted since (unsynced pages survive a
    crash of the process, but not of the machine). Otherwise the log is read from the start.
    """

    size: int
    next_offset: int
    max_timestamp: int
    written_ms: int
    index: SparseIndex
    producers: ProducerStates
    aborted: list[AbortedTransaction]


def boot_id() -> str:
    """Return the id of the machine's current boot; empty if it is unknown, in which case no checkpoint is used."""
    try:
        return _BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def save_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
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


def load_checkpoint(path: Path, log_size: int) -> Checkpoint | None:
    """Read the checkpoint for a segment of `log_size` bytes; return None if there is no usable checkpoint."""
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


def recover(folder: Path, files: FilePool, index_interval: int) -> tuple[list[Segment], ProducerStates]:
    """Open all segments in `folder`; return them in order, with the producer states at the end of the log."""
    segments: list[Segment] = []
    producers = ProducerStates()
    for path in sorted(folder.glob("*.log")):
        if not path.stem.isdigit():
            continue
        segment = Segment(folder, int(path.stem), files, index_interval)
        producers = _recover_segment(segment, producers)
        segments.append(segment)
    return segments, producers


def _recover_segment(segment: Segment, producers: ProducerStates) -> ProducerStates:
    fd = segment.fd
    status = os.fstat(fd)
    file_size = status.st_size
    segment.written_ms = status.st_mtime_ns // 1_000_000
    known = load_checkpoint(segment.checkpoint_path, file_size)
    if known is not None:
        segment.size, segment.next_offset = known.size, known.next_offset
        segment.max_timestamp, segment.index = known.max_timestamp, known.index
        segment.written_ms = known.written_ms
        producers = known.producers
        segment.aborted = known.aborted
    for head, batch in whole_batches(fd, segment.size, file_size, segment.next_offset):
        segment.note(head, segment.written_ms)
        if head.is_control:
            note_marker(segment, producers, head, read_marker(batch))
        elif head.producer_id >= 0:
            producers.note(head)
    if segment.size < file_size:
        log.warning(
            "%s: cut off %d bytes of an incomplete or damaged batch; the log ends at offset %d",
            segment.path,
            file_size - segment.size,
            segment.next_offset,
        )
        os.ftruncate(fd, segment.size)
    segment.synced_size = segment.size
    return producers


def note_marker(segment: Segment, producers: ProducerStates, head: BatchHead, marker: Marker) -> None:
    """Apply a transaction marker. The segment must already contain its batch."""
    start = producers.note_marker(head, marker)
    if start is not None and not marker.committed:
        first_open = producers.first_open_offset
        stable = segment.next_offset if first_open is None else first_open
        segment.aborted.append(AbortedTransaction(head.producer_id, start, head.base_offset, stable))


def whole_batches(fd: int, position: int, size: int, next_offset: int) -> Iterator[tuple[BatchHead, memoryview]]:
    """Yield the batches from `position` on and their heads, up to the first incomplete, damaged or out-of-order one."""
    window, start = memoryview(b""), position
    while position + HEAD_SIZE <= size:
        at = position - start
        if at + HEAD_SIZE > len(window):
            window, start, at = memoryview(os.pread(fd, _WINDOW, position)), position, 0
        head = read_head(window, at)
        if head.magic != MAGIC or head.size < HEAD_SIZE or position + head.size > size:
            return
        if head.base_offset < next_offset or head.last_offset < head.base_offset:
            return
        if at + head.size > len(window):
            window, start, at = memoryview(os.pread(fd, max(head.size, _WINDOW), position)), position, 0
        batch = window[at : at + head.size]
        if not _is_sound(batch):
            return
        yield head, batch
        next_offset = head.last_offset + 1
        position += head.size


def _is_sound(batch: memoryview) -> bool:
    try:
        for header in batch_headers(batch):
            check_batch(batch, header)
    except KafkaError:
        return False
    return True
