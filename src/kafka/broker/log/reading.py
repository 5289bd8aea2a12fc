"""Reading from the segments of a log, by offset and by time."""

from bisect import bisect_right
from collections.abc import Sequence

from kafka.broker.log.aborted import AbortedTransaction, aborted_between
from kafka.broker.log.segment import NO_TIMESTAMP, Segment
from kafka.record import decode_batches


def read(segments: Sequence[Segment], offset: int, max_bytes: int, at_least_one: bool) -> bytes:
    """Whole batches from the one that holds `offset` on, which the log has."""
    segment = segments[_number_of(segments, offset)]
    position = segment.position_of(offset)
    return segment.read(position, segment.end_of_read(position, max_bytes, at_least_one))


def read_until(
    segments: Sequence[Segment], offset: int, stop: int, max_bytes: int, at_least_one: bool
) -> tuple[bytes, list[AbortedTransaction]]:
    """As `read`, up to the batch that begins at `stop`, and the aborted transactions that are within what is read."""
    number = _number_of(segments, offset)
    segment = segments[number]
    position = segment.position_of(offset)
    size = segment.position_of(stop) if stop < segment.next_offset else segment.size
    end = segment.end_of_read(position, max_bytes, at_least_one, size)
    indexes = (one.aborted for one in segments[number:])
    return segment.read(position, end), list(aborted_between(indexes, offset, segment.offset_at(end)))


def _number_of(segments: Sequence[Segment], offset: int) -> int:
    """The number of the segment that holds `offset`."""
    number = bisect_right(segments, offset, key=_base_offset) - 1
    if offset >= segments[number].next_offset:
        # A tail of this segment was lost and cut off while it was recovered.
        number += 1
    return number


def _base_offset(segment: Segment) -> int:
    return segment.base_offset


def offset_of_time(segments: Sequence[Segment], start_offset: int, timestamp: int) -> tuple[int, int] | None:
    """Timestamp and offset of the first record from `start_offset` on at or after `timestamp` (ms), if there is one."""
    for segment in segments:
        if segment.max_timestamp < timestamp or segment.next_offset <= start_offset:
            continue
        for position, head in segment.heads(segment.index.position_of_time(timestamp)):
            if head.max_timestamp < timestamp or head.last_offset < start_offset:
                continue
            if head.is_control:
                return head.max_timestamp, head.base_offset
            found = _first_since(segment.read(position, position + head.size), start_offset, timestamp)
            if found is not None:
                return found
    return None


def offset_of_max_timestamp(segments: Sequence[Segment], start_offset: int) -> tuple[int, int] | None:
    """Timestamp and offset of the record with the largest timestamp (KIP-734); None where there is none."""
    newest = max((segment.max_timestamp for segment in segments), default=NO_TIMESTAMP)
    return None if newest == NO_TIMESTAMP else offset_of_time(segments, start_offset, newest)


def _first_since(batch: bytes, start_offset: int, timestamp: int) -> tuple[int, int] | None:
    columns = decode_batches(batch, check_crcs=False, start_offset=start_offset)
    for when, offset in zip(columns.timestamps, columns.offsets, strict=True):
        if when >= timestamp:
            return when, offset
    return None
