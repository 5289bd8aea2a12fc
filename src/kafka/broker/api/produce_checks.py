"""What a produced batch has to be like: its header, its size, its records and their timestamps."""

import struct

from kafka.broker.codes import ErrorCode, RequestFailed
from kafka.broker.topic_configs import NO_LIMIT_MS, TopicSettings
from kafka.broker.topics import Topic
from kafka.record import BatchHeader, decode_batches, validate_batch
from kafka.record.checksum import crc32c

_NO_TIMESTAMP = -1
_MAX_TIMESTAMP_AT = 35
_CRC_AT, _CRC_FROM = 17, 21
_INT64 = struct.Struct(">q")
_UINT32 = struct.Struct(">I")


class RecordsRefused(RequestFailed):
    """A batch that is refused for some of its records.

    Arguments: the code, the text for the batch, and what is wrong with which of its records.
    """

    def __init__(self, code: ErrorCode, message: str, rows: dict[int, str]) -> None:
        super().__init__(code, message)
        self.rows = rows


def check_header(topic: Topic, header: BatchHeader) -> None:
    """Check what the header says; raises `RequestFailed`."""
    check_size(topic, header)
    if header.is_control:
        raise RequestFailed(ErrorCode.INVALID_RECORD, "clients may not write control batches")
    spanned = header.last_offset - header.base_offset + 1
    if header.count <= 0 or header.count != spanned:
        raise RequestFailed(
            ErrorCode.INVALID_RECORD, f"the batch says it has {header.count} records, but spans {spanned} offsets"
        )
    if header.producer_id >= 0 and (header.base_sequence < 0 or header.producer_epoch < 0):
        raise RequestFailed(ErrorCode.INVALID_RECORD, "an idempotent producer's batch needs a sequence and an epoch")


def check_size(topic: Topic, header: BatchHeader) -> None:
    """Raises `RequestFailed` where a batch is larger than the topic takes."""
    most = topic.settings.max_message_bytes
    if header.size > most:
        raise RequestFailed(
            ErrorCode.MESSAGE_TOO_LARGE,
            f"the batch of {header.size} bytes is larger than max.message.bytes={most}",
        )


def check_records(topic: Topic, batch: memoryview, header: BatchHeader, now_ms: int) -> None:
    """Read every record, so that no consumer meets one that cannot be read; correct the header's largest timestamp.

    Raises `RecordsRefused`, and `InvalidRecordError` and `CorruptRecordError` for bytes that are no records.
    """
    settings = topic.settings
    found = validate_batch(batch, header)
    if settings.compacted and found.has_null_keys:
        _refuse_null_keys(batch)
    if settings.log_append_time:
        return
    newest = found.max_timestamp
    if newest > now_ms + settings.timestamp_after_max_ms or settings.timestamp_before_max_ms < NO_LIMIT_MS:
        _check_timestamps(settings, batch, now_ms)
    if newest != header.max_timestamp:
        _INT64.pack_into(batch, _MAX_TIMESTAMP_AT, newest)
        _UINT32.pack_into(batch, _CRC_AT, crc32c(batch[_CRC_FROM : header.size]))


def _check_timestamps(settings: TopicSettings, batch: memoryview, now_ms: int) -> None:
    oldest, newest = now_ms - settings.timestamp_before_max_ms, now_ms + settings.timestamp_after_max_ms
    wrong = {
        row: f"Timestamp {timestamp} of message with offset {row} is out of range. "
        f"The timestamp should be within [{oldest}, {newest}]"
        for row, timestamp in enumerate(decode_batches(batch, check_crcs=False).timestamps)
        if timestamp != _NO_TIMESTAMP and not oldest <= timestamp <= newest
    }
    if wrong:
        raise RecordsRefused(
            ErrorCode.INVALID_TIMESTAMP, "One or more records have been rejected due to invalid timestamp", wrong
        )


def _refuse_null_keys(batch: memoryview) -> None:
    text = "Compacted topic cannot accept message without key"
    columns = decode_batches(batch, check_crcs=False)
    rows = {row: text for row in range(len(columns)) if columns.key(row) is None}
    raise RecordsRefused(ErrorCode.INVALID_RECORD, text, rows)
