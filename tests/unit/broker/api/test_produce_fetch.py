"""Produce and Fetch over the wire: errors, long polls, sessions, old versions, and topic ids."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from uuid import UUID

import pytest
from crc32c import crc32c

from kafka.broker import EmbeddedBroker
from kafka.broker.error_codes import ErrorCode
from kafka.broker.log.partition import PartitionLog
from kafka.record import BatchBuilder, Compression, TimestampType, batch_headers, decode_batches
from kafka.wire.api.delete_topics import DeleteTopicsRequest, DeleteTopicState
from kafka.wire.api.fetch import FetchRequest, ForgottenTopic
from kafka.wire.api.metadata import MetadataRequest
from unit.broker.batches import make_batch
from unit.broker.requests import create, fetch_request, fetched, produce_request, produced, values
from unit.broker.wireclient import WireClient


@pytest.fixture
async def broker() -> AsyncIterator[EmbeddedBroker]:
    async with EmbeddedBroker() as running:
        yield running


@pytest.fixture
async def client(broker: EmbeddedBroker) -> AsyncIterator[WireClient]:
    async with WireClient(broker) as connected:
        yield connected


async def put(client: WireClient, topic: str, *texts: bytes, partition: int = 0) -> int:
    answer = produced(await client.call(produce_request(topic, make_batch(list(texts)), partition=partition), 9))
    assert answer.error_code == 0
    return answer.base_offset


async def refusal(client: WireClient, records: object, version: int = 9, **how: int) -> ErrorCode:
    answer = produced(await client.call(produce_request("t", records, **how), version))  # type: ignore[arg-type]
    assert answer.base_offset == -1
    return ErrorCode(answer.error_code)


# -- produce ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("codec", list(Compression))
async def test_batches_are_stored_unchanged(client: WireClient, codec: Compression) -> None:
    await create(client, "t")
    await put(client, "t", b"before")
    batch = bytes(make_batch([b"a", b"b"] * 20, codec=codec))
    await client.call(produce_request("t", batch), 9)
    found = bytes(fetched(await client.call(fetch_request("t", 1), 11)).records or b"")
    assert found[:8] == (1).to_bytes(8, "big")
    assert found[16:] == batch[16:], "all but base offset, length and leader epoch"
    assert found[8:12] == batch[8:12]


async def test_damaged_or_invalid_batches_are_rejected(client: WireClient) -> None:
    await create(client, "t", max_message_bytes="3000")
    good = bytes(make_batch([b"a", b"b"]))
    bent = bytearray(good)
    bent[-2] ^= 4
    assert await refusal(client, bent) is ErrorCode.CORRUPT_MESSAGE
    assert await refusal(client, good[:-1]) is ErrorCode.CORRUPT_MESSAGE
    assert await refusal(client, b"\0" * 80) is ErrorCode.CORRUPT_MESSAGE
    assert await refusal(client, good + good) is ErrorCode.INVALID_RECORD
    assert await refusal(client, None) is ErrorCode.INVALID_RECORD
    assert await refusal(client, make_batch([b"x" * 4000])) is ErrorCode.MESSAGE_TOO_LARGE
    assert await refusal(client, good, partition=5) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert await refusal(client, good, acks=7) is ErrorCode.INVALID_REQUIRED_ACKS
    assert (await client.call(fetch_request("t"), 11)).responses[0].partitions[0].high_watermark == 0


async def test_a_record_count_that_does_not_match_is_rejected(client: WireClient) -> None:
    await create(client, "t")
    builder = BatchBuilder(2, size_limit=1000)
    builder.append(1, None, b"v", ())
    batch = bytearray(builder.build())
    batch[57:61] = (2).to_bytes(4, "big")
    batch[17:21] = crc32c(batch[21:]).to_bytes(4, "big")
    assert await refusal(client, batch) is ErrorCode.INVALID_RECORD


async def test_unreadable_records_are_rejected(client: WireClient) -> None:
    await create(client, "t")
    garbage = bytearray(make_batch([b"a", b"b"]))
    garbage[61:] = b"\xff" * (len(garbage) - 61)
    garbage[17:21] = crc32c(garbage[21:]).to_bytes(4, "big")
    assert await refusal(client, garbage) is ErrorCode.INVALID_RECORD
    assert (await client.call(fetch_request("t"), 11)).responses[0].partitions[0].high_watermark == 0


async def test_a_wrong_largest_timestamp_is_corrected(client: WireClient) -> None:
    await create(client, "t")
    lying = bytearray(make_batch([b"a", b"b"], timestamp=1000))
    lying[35:43] = (5000).to_bytes(8, "big")
    lying[17:21] = crc32c(lying[21:]).to_bytes(4, "big")
    assert produced(await client.call(produce_request("t", lying), 9)).error_code == 0
    records = bytes(fetched(await client.call(fetch_request("t"), 11)).records or b"")
    (header,) = batch_headers(records)
    assert header.max_timestamp == 1001
    assert len(decode_batches(records, check_crcs=True)) == 2


async def test_a_transactional_batch_requires_a_transactional_id(client: WireClient) -> None:
    await create(client, "t")
    batch = make_batch([b"v"], producer=(1, 0, 0), transactional=True)
    assert await refusal(client, batch) is ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


async def test_a_timestamp_far_in_the_future_is_rejected(client: WireClient) -> None:
    await create(client, "t")
    nanoseconds = time.time_ns()
    assert await refusal(client, make_batch([b"a"], timestamp=nanoseconds)) is ErrorCode.INVALID_TIMESTAMP


async def test_a_compacted_topic_rejects_records_without_keys(client: WireClient) -> None:
    await create(client, "t", cleanup_policy="compact")
    builder = BatchBuilder(2, size_limit=1000)
    builder.append(1, b"k", b"v", ())
    builder.append(1, None, b"v", ())
    answer = produced(await client.call(produce_request("t", builder.build()), 9))
    assert answer.error_code == ErrorCode.INVALID_RECORD
    assert [one.batch_index for one in answer.record_errors] == [1]
    await put(client, "t", b"with a key")


async def test_log_append_time_replaces_timestamps_and_is_returned(client: WireClient) -> None:
    await create(client, "t", message_timestamp_type="LogAppendTime")
    answer = produced(await client.call(produce_request("t", make_batch([b"a", b"b"], timestamp=5)), 9))
    assert abs(answer.log_append_time_ms - time.time() * 1000) < 60_000
    columns = decode_batches(fetched(await client.call(fetch_request("t"), 11)).records or b"")
    assert set(columns.timestamps) == {answer.log_append_time_ms}
    assert columns.timestamp_type(0) == TimestampType.LOG_APPEND_TIME


async def test_acks_0_sends_no_response_and_an_error_closes_the_connection(
    broker: EmbeddedBroker, client: WireClient
) -> None:
    await create(client, "t")
    await client.send(produce_request("t", make_batch([b"a"]), acks=0), 9)
    assert values(fetched(await client.call(fetch_request("t"), 11))) == [b"a"]
    async with WireClient(broker) as careless:
        await careless.send(produce_request("t", make_batch([b"a"]), acks=0, partition=9), 9)
        assert await careless.is_closed()


async def test_producing_does_not_create_a_topic(client: WireClient) -> None:
    for topic in ("fresh", "no good"):
        answer = produced(await client.call(produce_request(topic, make_batch([b"a"])), 9))
        assert answer.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert not (await client.call(MetadataRequest(topics=None), 12)).topics


async def test_a_repeated_batch_gets_the_same_response(client: WireClient) -> None:
    await create(client, "t")
    for _ in range(3):
        request = produce_request("t", make_batch([b"a", b"b"], producer=(4, 0, 0)))
        answer = produced(await client.call(request, 9))
        assert (answer.error_code, answer.base_offset) == (0, 0)
    assert await put(client, "t", b"next") == 2


@pytest.mark.parametrize(("version", "magic"), [(0, 0), (1, 0), (2, 0), (2, 1)])
@pytest.mark.parametrize("codec", [Compression.NONE, Compression.GZIP, Compression.SNAPPY])
async def test_old_messages_are_converted_for_old_and_new_clients(
    client: WireClient, version: int, magic: int, codec: Compression
) -> None:
    await create(client, "t")
    builder = BatchBuilder(magic, codec, size_limit=10_000)
    for number in range(5):
        builder.append(100 + number, b"k", b"%d" % number, ())
    request = produce_request("t", builder.build())
    assert [produced(await client.call(request, version)).base_offset for _ in range(2)] == [0, 5]
    expected = [b"0", b"1", b"2", b"3", b"4"]
    for fetch_version, read_magic in ((0, 0), (1, 0), (2, 1), (3, 1), (4, 2), (12, 2)):
        records = fetched(await client.call(fetch_request("t"), fetch_version)).records or b""
        assert {one.magic for one in batch_headers(records)} == {read_magic}
        columns = decode_batches(records)
        assert [columns.value(row) for row in range(10)] == expected * 2
        assert list(columns.offsets) == list(range(10))
        if magic and read_magic:
            assert list(columns.timestamps) == [100, 101, 102, 103, 104] * 2


async def test_new_produce_versions_reject_old_messages(client: WireClient) -> None:
    await create(client, "t")
    builder = BatchBuilder(1, size_limit=1000)
    builder.append(1, None, b"v", ())
    assert await refusal(client, builder.build(), version=3) is ErrorCode.INVALID_RECORD


@pytest.mark.parametrize(
    ("kept", "codec", "version"),
    [("producer", "zstd", 3), ("producer", "zstd", 0), ("zstd", "gzip", 3), ("zstd", "gzip", 9)],
)
async def test_old_fetch_versions_get_an_error_for_zstd(
    client: WireClient, kept: str, codec: str, version: int
) -> None:
    await create(client, "t", compression_type=kept)
    batch = make_batch([b"v" * 100], codec=Compression[codec.upper()])
    assert produced(await client.call(produce_request("t", batch), 9)).error_code == 0
    answer = fetched(await client.call(fetch_request("t"), version))
    assert (answer.error_code, answer.records) == (ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, b"")
    assert values(fetched(await client.call(fetch_request("t"), 10))) == [b"v" * 100]


async def test_old_fetch_versions_get_records_before_the_first_zstd_batch(client: WireClient) -> None:
    await create(client, "t")
    for value, codec in ((b"a", Compression.LZ4), (b"b", Compression.ZSTD), (b"c", Compression.NONE)):
        batch = make_batch([value], codec=codec)
        assert produced(await client.call(produce_request("t", batch), 9)).error_code == 0
    assert values(fetched(await client.call(fetch_request("t"), 3))) == [b"a"]
    answer = fetched(await client.call(fetch_request("t", 1), 3))
    assert answer.error_code == ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    assert values(fetched(await client.call(fetch_request("t"), 4))) == [b"a", b"b", b"c"]


@pytest.mark.parametrize("level", ["-1", "1", "9"])
async def test_batches_are_stored_with_the_topics_codec_and_level(client: WireClient, level: str) -> None:
    await create(client, "t", compression_type="gzip", compression_gzip_level=level)
    batch = make_batch([b"a", b"b"], producer=(7, 0, 0), codec=Compression.SNAPPY)
    assert produced(await client.call(produce_request("t", batch), 9)).error_code == 0
    answer = fetched(await client.call(fetch_request("t"), 12))
    (header,) = batch_headers(answer.records or b"")
    assert (header.codec, header.producer_id, header.base_sequence, header.count) == (Compression.GZIP, 7, 0, 2)
    assert values(answer) == [b"a", b"b"]


async def test_a_batch_too_large_after_recompression_is_rejected(client: WireClient) -> None:
    await create(client, "t", compression_type="uncompressed", max_message_bytes="1000")
    assert await refusal(client, make_batch([b"v" * 2000], codec=Compression.GZIP)) is ErrorCode.MESSAGE_TOO_LARGE


async def test_zstd_requires_version_7(client: WireClient) -> None:
    await create(client, "t")
    batch = make_batch([b"a"], codec=Compression.ZSTD)
    assert await refusal(client, batch, version=6) is ErrorCode.UNSUPPORTED_COMPRESSION_TYPE


# -- fetch ------------------------------------------------------------------------------------------------------------


async def test_fetch_errors_are_returned_at_once(client: WireClient) -> None:
    await create(client, "t")
    answer = fetched(await client.call(fetch_request("t", 7, max_wait_ms=60_000), 11))
    assert answer.error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    answer = fetched(await client.call(fetch_request("other", max_wait_ms=60_000), 11))
    assert answer.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


async def test_a_long_poll_ends_when_enough_bytes_are_available(broker: EmbeddedBroker, client: WireClient) -> None:
    await create(client, "t", partitions=2)
    await create(client, "other")
    size = len(make_batch([b"x" * 100]))
    async with WireClient(broker) as consumer:
        request = fetch_request("t", partitions=2, min_bytes=2 * size, max_wait_ms=60_000)
        number = await consumer.send(request, 11)
        poll = asyncio.ensure_future(consumer.receive(FetchRequest, 11, number))
        await put(client, "t", b"x" * 100)
        # If the poll had enough bytes, it would have been answered before this response.
        await put(client, "other", b"x" * 500)
        assert not poll.done()
        await put(client, "t", b"x" * 100, partition=1)
        response = await poll
        assert [len(one.records or b"") for one in response.responses[0].partitions] == [size, size]


async def test_a_long_poll_ends_on_timeout(client: WireClient) -> None:
    await create(client, "t")
    answer = fetched(await client.call(fetch_request("t", max_wait_ms=20), 11))
    assert (answer.error_code, answer.records) == (0, b"")


async def test_a_long_poll_ends_when_its_topic_is_deleted(broker: EmbeddedBroker, client: WireClient) -> None:
    await create(client, "t")
    await create(client, "other")
    async with WireClient(broker) as consumer:
        number = await consumer.send(fetch_request("t", max_wait_ms=60_000), 11)
        # A response on another connection arrives after the poll has begun to wait.
        await put(client, "other", b"x")
        await client.call(DeleteTopicsRequest(topics=[DeleteTopicState(name="t")]), 6)
        answer = fetched(await consumer.receive(FetchRequest, 11, number))
        assert answer.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


async def test_a_long_poll_ends_when_its_log_cannot_be_read(
    broker: EmbeddedBroker, client: WireClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    await create(client, "t")
    await create(client, "other")
    async with WireClient(broker) as consumer:
        number = await consumer.send(fetch_request("t", max_wait_ms=60_000), 11)
        await put(client, "other", b"x")  # the poll waits when this response arrives

        def fail(*_: object) -> bytes:
            raise OSError("the disk is gone")

        monkeypatch.setattr(PartitionLog, "read", fail)
        await put(client, "t", b"x")
        answer = fetched(await consumer.receive(FetchRequest, 11, number))
        assert answer.error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert "the disk is gone" in caplog.text


async def test_version_13_identifies_topics_by_id(client: WireClient) -> None:
    topic_id = await create(client, "t")
    answer = produced(await client.call(produce_request(topic_id, make_batch([b"a"])), 13))
    assert answer.error_code == 0
    for version in (13, 17, 18):
        assert values(fetched(await client.call(fetch_request(topic_id), version))) == [b"a"]
    nothing = UUID(int=77)
    assert fetched(await client.call(fetch_request(nothing), 17)).error_code == ErrorCode.UNKNOWN_TOPIC_ID
    answer = produced(await client.call(produce_request(nothing, make_batch([b"a"])), 13))
    assert answer.error_code == ErrorCode.UNKNOWN_TOPIC_ID


async def test_a_response_has_at_most_max_bytes_but_at_least_one_batch(client: WireClient) -> None:
    await create(client, "t", partitions=3)
    for partition in range(3):
        await put(client, "t", b"x" * 1000, partition=partition)
    request = fetch_request("t", partitions=3)
    for limit, full in ((1, 1), (2500, 2), (10_000, 3)):
        request.max_bytes = limit
        response = await client.call(request, 11)
        sizes = [len(one.records or b"") for one in response.responses[0].partitions]
        assert [size > 0 for size in sizes] == [True] * full + [False] * (3 - full)


# -- sessions ---------------------------------------------------------------------------------------------------------


async def test_a_session_returns_only_changes(client: WireClient) -> None:
    await create(client, "t", partitions=3)
    await put(client, "t", b"a")
    full = await client.call(fetch_request("t", partitions=3, session_epoch=0), 12)
    assert full.session_id
    assert len(full.responses[0].partitions) == 3

    def next_request(epoch: int) -> FetchRequest:
        return FetchRequest(max_bytes=1 << 20, session_id=full.session_id, session_epoch=epoch)

    request = next_request(1)
    request.topics = fetch_request("t", 1).topics
    assert not (await client.call(request, 12)).responses
    await put(client, "t", b"b", partition=2)
    (topic,) = (await client.call(next_request(2), 12)).responses
    assert [one.partition_index for one in topic.partitions] == [2]
    assert values(topic.partitions[0]) == [b"b"]
    forget = next_request(3)
    forget.forgotten_topics_data = [ForgottenTopic(topic="t", partitions=[2])]
    assert not (await client.call(forget, 12)).responses
    again = await client.call(next_request(3), 12)
    assert again.error_code == ErrorCode.INVALID_FETCH_SESSION_EPOCH
    both = next_request(4)
    both.topics = fetch_request("t", 0, partitions=3).topics
    both.forgotten_topics_data = [ForgottenTopic(topic="t", partitions=[2])]
    (topic,) = (await client.call(both, 12)).responses
    assert [one.partition_index for one in topic.partitions] == [0], "2 is fetched, but forgotten"
    await client.call(FetchRequest(session_id=full.session_id, session_epoch=-1), 12)
    gone = await client.call(next_request(5), 12)
    assert gone.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


async def test_in_a_session_no_partition_starves(client: WireClient) -> None:
    await create(client, "t", partitions=3)
    for partition in range(3):
        await put(client, "t", b"x" * 1000, partition=partition)
    request = fetch_request("t", partitions=3, session_epoch=0)
    request.max_bytes = 1
    response = await client.call(request, 12)
    served = [one.partition_index for one in response.responses[0].partitions if one.records]
    for epoch in (1, 2):
        more = FetchRequest(max_bytes=1, session_id=response.session_id, session_epoch=epoch)
        (topic,) = (await client.call(more, 12)).responses
        served += [one.partition_index for one in topic.partitions if one.records]
    assert served == [0, 1, 2]


async def test_an_error_in_a_session_is_repeated(client: WireClient) -> None:
    response = await client.call(fetch_request("missing", session_epoch=0), 12)
    assert fetched(response).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    more = FetchRequest(max_bytes=1, session_id=response.session_id, session_epoch=1, max_wait_ms=60_000)
    assert fetched(await client.call(more, 12)).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
