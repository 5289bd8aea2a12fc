"""Produce (key 0).

Versions served: 0 to 13, with topic ids from 13 on.
Behaviour: the broker validates checksums, records, sizes and timestamps, and writes a batch before it acknowledges it.
The acks values 0, 1 and all differ only in whether a response is sent. From version 3 on a request contains exactly one
magic 2 batch per partition. Its records are validated but not changed, so batches keep their codec unless the topic's
`compression.type` specifies another one; they are then recompressed. Versions 0 to 2 send magic 0 and 1, which the
broker converts to magic 2. If an idempotent producer sends a batch again, the response contains the original offset. A
missing topic is not created; only a metadata request creates topics.
A transactional batch is rejected unless its partition belongs to the transaction. From version 12 on, writing a batch
adds its partition to the transaction, as producers with transaction version 2 expect (KIP-890).
Known gaps: none.
"""

import struct

from kafka.broker.broker import Broker, RequestContext
from kafka.broker.error_codes import ConnectionFault, ErrorCode, RequestFailed, refused_write
from kafka.broker.format_conversion import recompressed, to_magic_2
from kafka.broker.log.batch_head import BatchHead, read_head
from kafka.broker.topic_configs import NO_LIMIT_MS, TopicSettings
from kafka.broker.topic_store import Topic
from kafka.errors import CorruptRecordError, InvalidRecordError
from kafka.record import BatchHeader, Compression, batch_headers, check_batch, decode_batches, validate_batch
from kafka.record.codecs import CODECS
from kafka.record.layout import crc32c
from kafka.wire import RecordBytes
from kafka.wire.api.produce import (
    BatchIndexAndErrorMessage,
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)

_BATCHES_SINCE = 3
_ABORTABLE_SINCE = 11
_TOPIC_IDS_SINCE = 13


def produce(broker: Broker, request: ProduceRequest, context: RequestContext) -> ProduceResponse | None:
    """Append produced batches to their partitions."""
    now_ms = broker.now_ms()
    answers = []
    for data in request.topic_data:
        answers.append(
            TopicProduceResponse(
                name=data.name,
                topic_id=data.topic_id,
                partition_responses=[
                    _produced(broker, request, data, partition, context.version, now_ms)
                    for partition in data.partition_data
                ],
            )
        )
    if request.acks == 0:
        failed = [one for answer in answers for one in answer.partition_responses if one.error_code]
        if failed:
            # As in Kafka: with acks=0 there is no other way to inform the client.
            raise ConnectionFault(f"a record sent with acks=0 was refused: {failed[0].error_message}")
        return None
    return ProduceResponse(responses=answers)


def _produced(
    broker: Broker,
    request: ProduceRequest,
    data: TopicProduceData,
    partition: PartitionProduceData,
    version: int,
    now_ms: int,
) -> PartitionProduceResponse:
    answer = PartitionProduceResponse(index=partition.index, base_offset=-1)
    try:
        _check_request(request)
        topic = broker.topics.by_id(data.topic_id) if version >= _TOPIC_IDS_SINCE else broker.topics.get(data.name)
        log = topic.log(partition.index)
        if topic.is_internal:
            raise RequestFailed(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Cannot append to internal topic {topic.name}")
        batch, header = _one_batch(partition.records, version)
        if header.is_transactional:
            place = topic.name, partition.index
            _join_transaction(broker, request.transactional_id, place, read_head(batch), version)
        check_header(topic, header)
        check_records(topic, batch, header, now_ms)
        batch, header = _with_codec_of(topic, batch, header)
        append_time = now_ms if topic.settings.log_append_time else None
        answer.base_offset = log.append(batch, header, now_ms, append_time)
        if append_time is not None:
            answer.log_append_time_ms = append_time
        answer.log_start_offset = log.start_offset
    except RecordsRefused as error:
        answer.error_code, answer.error_message = error.code, str(error)
        answer.record_errors = [
            BatchIndexAndErrorMessage(batch_index=row, batch_index_error_message=text)
            for row, text in error.rows.items()
        ]
    except RequestFailed as error:
        answer.error_code, answer.error_message = error.code, str(error)
    except InvalidRecordError as error:
        answer.error_code, answer.error_message = ErrorCode.INVALID_RECORD, str(error)
    except CorruptRecordError as error:
        answer.error_code, answer.error_message = ErrorCode.CORRUPT_MESSAGE, str(error)
    return answer


def _check_request(request: ProduceRequest) -> None:
    if request.acks not in (-1, 0, 1):
        raise RequestFailed(ErrorCode.INVALID_REQUIRED_ACKS, f"acks must be -1, 0 or 1, not {request.acks}")


def _one_batch(given: RecordBytes | None, version: int) -> tuple[memoryview, BatchHeader]:
    """Return the magic 2 batch to append, in writable memory."""
    if not given:
        raise RequestFailed(ErrorCode.INVALID_RECORD, "the request has no records for the partition")
    records = memoryview(given)
    headers = list(batch_headers(records))
    if not headers or headers[-1].position + headers[-1].size != len(records):
        raise RequestFailed(
            ErrorCode.CORRUPT_MESSAGE, f"the {len(records)} bytes of records end with an incomplete batch"
        )
    if version < _BATCHES_SINCE and headers[0].magic < 2:
        for header in headers:
            check_batch(records, header)
        records = memoryview(to_magic_2(records))
        headers = list(batch_headers(records))
    elif len(headers) != 1 or headers[0].magic != 2:
        raise RequestFailed(
            ErrorCode.INVALID_RECORD,
            f"Produce version {version} requires exactly one batch of magic 2 per partition, "
            f"got {len(headers)} of magic {headers[0].magic}",
        )
    else:
        check_batch(records, headers[0])
    codec = CODECS.get(headers[0].codec)
    if codec is not None and version < codec.oldest_produce:
        raise RequestFailed(
            ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
            f"{codec.kind.option} requires Produce version {codec.oldest_produce} or later",
        )
    return (records if not records.readonly else memoryview(bytearray(records))), headers[0]


def _with_codec_of(topic: Topic, batch: memoryview, header: BatchHeader) -> tuple[memoryview, BatchHeader]:
    """Return the batch with the topic's codec; if the producer used another codec, recompress it into new memory."""
    settings = topic.settings
    if settings.codec is None or settings.codec == header.codec:
        return batch, header
    batch = memoryview(recompressed(batch, header, Compression(settings.codec), settings.codec_level))
    (header,) = batch_headers(batch)
    check_size(topic, header)
    return batch, header


def _join_transaction(
    broker: Broker, transactional_id: str | None, partition: tuple[str, int], head: BatchHead, version: int
) -> None:
    """Check that the transaction includes the batch's partition, or add the partition; raises `RequestFailed`."""
    from kafka.broker.transactions.transaction_coordinator import Producer

    if transactional_id is None:
        raise RequestFailed(
            ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, "a transactional batch requires a transactional id"
        )
    producers = broker.topics.get(partition[0]).log(partition[1]).producers
    if head.producer_id < 0 or producers.has_transaction(head.producer_id, head.producer_epoch):
        return
    producers.begin(head, at_zero=version > _ABORTABLE_SINCE)
    producer = Producer(head.producer_id, head.producer_epoch)
    try:
        if version > _ABORTABLE_SINCE:
            of_transactions = broker.settings.transaction_version
            broker.transactions.add_partitions(transactional_id, producer, [partition], of_transactions)
        else:
            broker.transactions.check_partition(transactional_id, producer, partition)
    except RequestFailed as error:
        raise refused_write(error, version, _ABORTABLE_SINCE, ErrorCode.NOT_ENOUGH_REPLICAS) from error


_NO_TIMESTAMP = -1
_MAX_TIMESTAMP_AT = 35
_CRC_AT, _CRC_FROM = 17, 21
_INT64 = struct.Struct(">q")
_UINT32 = struct.Struct(">I")


class RecordsRefused(RequestFailed):
    """Raised if a batch is rejected because of some of its records.

    Arguments:
        code: the error code.
        message: the message for the batch.
        rows: the messages for individual records, by record number.
    """

    def __init__(self, code: ErrorCode, message: str, rows: dict[int, str]) -> None:
        super().__init__(code, message)
        self.rows = rows


def check_header(topic: Topic, header: BatchHeader) -> None:
    """Validate a batch header; raises `RequestFailed`."""
    check_size(topic, header)
    if header.is_control:
        raise RequestFailed(ErrorCode.INVALID_RECORD, "clients may not write control batches")
    spanned = header.last_offset - header.base_offset + 1
    if header.count <= 0 or header.count != spanned:
        raise RequestFailed(
            ErrorCode.INVALID_RECORD, f"the batch claims to have {header.count} records, but spans {spanned} offsets"
        )
    if header.producer_id >= 0 and (header.base_sequence < 0 or header.producer_epoch < 0):
        raise RequestFailed(ErrorCode.INVALID_RECORD, "an idempotent producer's batch needs a sequence and an epoch")


def check_size(topic: Topic, header: BatchHeader) -> None:
    """Raise `RequestFailed` if a batch is larger than the topic allows."""
    most = topic.settings.max_message_bytes
    if header.size > most:
        raise RequestFailed(
            ErrorCode.MESSAGE_TOO_LARGE,
            f"the batch of {header.size} bytes is larger than max.message.bytes={most}",
        )


def check_records(topic: Topic, batch: memoryview, header: BatchHeader, now_ms: int) -> None:
    """Check that consumers can read every record, and correct the maximum timestamp in the header.

    Raises `RecordsRefused` for invalid records, and `InvalidRecordError` or `CorruptRecordError` for bytes that are not
    records.
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
