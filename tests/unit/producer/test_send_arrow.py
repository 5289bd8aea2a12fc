"""Arrow tables become records without an object a row, in the same queues that send() fills."""

from __future__ import annotations

import asyncio
import random
import threading
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from kafka.errors import (
    KafkaTimeoutError,
    MessageSizeTooLargeError,
    NotLeaderForPartitionError,
    TopicAuthorizationFailedError,
)
from kafka.net import helper_threads
from kafka.partitioner import murmur2
from kafka.producer.arrow_encoder import ArrowEncoder, as_arrow
from kafka.producer.arrow_future import OffsetRange
from kafka.record import arrow_schema
from unit.producer.fake_producer import producing
from unit.producer.producing_cluster import Fault, ProducingCluster

# Encoding runs in a real thread, for which a virtual clock would not wait: these run in real time, and need little.


async def test_rows_arrive_in_order_by_key_and_the_result_has_their_offsets() -> None:
    cluster = ProducingCluster({"t": 2})
    async with producing(cluster) as producer:
        await producer.core.find_topic("t")
        keys = [f"k{i % 7}" for i in range(1_000)]
        table = pa.table({"key": keys, "value": [f"{i}" for i in range(1_000)]})
        result = await (await producer.send_arrow("t", table))
        assert result.rows == 1_000
        for p in (0, 1):
            wanted = [b"%d" % i for i in range(1_000) if (murmur2(keys[i].encode()) & 0x7FFFFFFF) % 2 == p]
            assert cluster.log(p).values == wanted
            assert result.offsets[("t", p)] == [OffsetRange(0, len(wanted))]  # type: ignore[index]


@pytest.mark.slow
@pytest.mark.parametrize("codec", ["zstd", "lz4", None])
async def test_rows_that_several_threads_encode_stay_in_their_order(
    codec: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(helper_threads, "processors", lambda: 3)
    encoders: set[str] = set()
    encode = ArrowEncoder.encode

    def noting(self: ArrowEncoder, start: int, stop: int) -> object:
        encoders.add(threading.current_thread().name)
        return encode(self, start, stop)

    monkeypatch.setattr(ArrowEncoder, "encode", noting)
    cluster = ProducingCluster({"t": 2})
    noise = random.Random(7)
    values = [b"%06d" % i + noise.randbytes(1_000) for i in range(10_000)]
    async with producing(cluster, compression_type=codec, buffer_memory=1 << 25) as producer:
        await producer.core.find_topic("t")
        table = pa.table({"key": [f"k{i % 7}" for i in range(10_000)], "value": values})
        result = await (await producer.send_arrow("t", table))
        assert result.rows == 10_000
    stored = [cluster.log(p).values for p in (0, 1)]
    assert all(each == sorted(each, key=lambda value: value or b"") for each in stored)
    assert sorted(value or b"" for each in stored for value in each) == values
    assert ("kafka-helper" in encoders) == (codec == "zstd")


async def test_rows_without_keys_go_to_each_partition_in_turn_across_chunks() -> None:
    cluster = ProducingCluster({"t": 3})
    async with producing(cluster, buffer_memory=64 * 1024, max_request_size=16 * 1024, batch_size=4096) as producer:
        await producer.core.find_topic("t")
        table = pa.table({"value": [b"%04d" % i + b"x" * 60 for i in range(3_000)]})
        await (await producer.send_arrow("t", table))
    firsts = {int((cluster.log(p).values[0] or b"")[:4]) for p in range(3)}
    assert firsts == {0, 1, 2}
    for p in range(3):
        numbers = [int((value or b"")[:4]) for value in cluster.log(p).values]
        assert numbers == list(range(numbers[0], 3_000, 3))


async def test_rows_and_single_records_share_order_and_sequence() -> None:
    cluster = ProducingCluster({"t": 1})
    async with producing(cluster, linger_ms=5) as producer:
        await (await producer.send(b"first"))
        await producer.send(b"before")
        batch = pa.record_batch({"value": [b"x", None, b"y"], "key": [b"a", b"b", b"c"]})
        future = await producer.send_arrow("t", batch)
        await producer.send(b"after")
        await producer.core.flush()
        assert future.is_done
        assert future.get() == future.value
    assert cluster.log(0).values == [b"first", b"before", b"x", None, b"y", b"after"]
    assert [entry[:3] for entry in cluster.log(0).batches] == [(1000, 0, n) for n in (0, 1, 2, 5)]


@pytest.mark.slow
async def test_memory_stays_bounded_and_faults_lose_nothing() -> None:
    cluster = ProducingCluster({"t": 2})
    async with producing(cluster, buffer_memory=200_000, max_request_size=50_000) as producer:
        await producer.core.find_topic("t")
        cluster.faults.extend(
            [Fault(), Fault(lost="answer"), Fault(error=NotLeaderForPartitionError), Fault(lost="request")]
        )
        table = pa.table({"value": [b"%06d" % i + b"x" * 94 for i in range(10_000)]})
        sending = asyncio.create_task(producer.send_arrow("t", table))
        while not sending.done():
            assert producer.core.buffer.memory.free >= 0
            await asyncio.sleep(0)
        result = await (await sending)
        assert result.rows == 10_000
        assert producer.core.buffer.memory.free == producer.core.buffer.memory.total
    values = [value[:6] for p in (0, 1) for value in cluster.log(p).values if value]
    assert sorted(values) == [b"%06d" % i for i in range(10_000)]
    assert all(cluster.log(p).values == sorted(cluster.log(p).values) for p in (0, 1))


async def test_rows_that_wait_for_memory_while_their_topic_is_forgotten_are_sent() -> None:
    cluster = ProducingCluster({"t": 2})
    async with producing(cluster, buffer_memory=50_000, max_request_size=10_000) as producer:
        await producer.core.find_topic("t")
        cluster.latency_s = 0.002
        table = pa.table({"value": [b"%06d" % i + b"x" * 94 for i in range(800)]})
        sending = asyncio.create_task(producer.send_arrow("t", table))
        while not cluster.produced:
            await asyncio.sleep(0)
        del producer.core.buffer.topics["t"]
        assert (await (await sending)).rows == 800
        assert producer.core.buffer.memory.free == producer.core.buffer.memory.total


async def test_a_split_batch_of_rows_still_has_one_result() -> None:
    cluster = ProducingCluster({"t": 1})
    cluster.max_batch_bytes = 20_000
    async with producing(cluster) as producer:
        await producer.core.find_topic("t")
        table = pa.table({"value": [b"x" * 100] * 1_000})
        result = await (await producer.send_arrow("t", table))
        assert result == (1_000, {("t", 0): [OffsetRange(0, 1_000)]})


async def test_a_batch_split_while_later_rows_wait_for_memory_is_counted() -> None:
    cluster = ProducingCluster({"t": 1})
    cluster.max_batch_bytes = 5_000
    async with producing(cluster, buffer_memory=40_000) as producer:
        await producer.core.find_topic("t")
        future = await producer.send_arrow("t", pa.table({"value": [b"x" * 100] * 1_000}))
        told: list[object] = []
        future.add_callback(told.append)
        assert (await asyncio.wait_for(future, 10)).rows == 1_000
        assert told == [await future]


async def test_a_failure_names_the_number_of_rows_and_counts_as_seen() -> None:
    cluster = ProducingCluster({"t": 2})
    async with producing(cluster) as producer:
        await (await producer.send(b"x", partition=0))
        await (await producer.send(b"x", partition=1))
        cluster.faults.append(Fault(error=TopicAuthorizationFailedError, only=1))
        table = pa.table({"value": [b"x"] * 10, "partition": [0] * 6 + [1] * 4})
        future = await producer.send_arrow("t", table)
        told: list[object] = []
        future.add_callback(told.append).add_errback(lambda error: told.append(type(error)))
        with pytest.raises(TopicAuthorizationFailedError, match=r"4 of 10 rows were not delivered, .* to t-1"):
            await future
        assert told == [TopicAuthorizationFailedError]
        assert future.failed()
        assert not future.succeeded()
        await producer.core.flush()


async def test_a_row_above_max_request_size_is_refused() -> None:
    async with producing(ProducingCluster({"t": 1}), max_request_size=1_000) as producer:
        await producer.core.find_topic("t")
        table = pa.table({"value": [b"x", b"x" * 1_000]})
        with pytest.raises(MessageSizeTooLargeError, match="0 of 2 rows are on their way"):
            await producer.send_arrow("t", table)


async def test_a_timeout_of_waiting_for_memory_names_the_progress() -> None:
    cluster = ProducingCluster({"t": 1})
    async with producing(cluster, buffer_memory=100_000, max_request_size=50_000, max_block_ms=50) as producer:
        await (await producer.send(b"x"))
        cluster.stop_broker(1)
        table = pa.table({"value": [b"x" * 1_000] * 1_000})
        with pytest.raises(KafkaTimeoutError, match=r"buffer_memory.*of 1000 rows are on their way"):
            await producer.send_arrow("t", table)


async def test_an_empty_table_is_done_immediately() -> None:
    async with producing(ProducingCluster({"t": 1})) as producer:
        await producer.core.find_topic("t")
        empty = pa.table({"value": pa.array([], pa.binary())})
        assert await (await producer.send_arrow("t", empty)) == (0, {})


class Stream:
    """Arrow data of somebody else's kind."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


class Array:
    """One batch of somebody else's kind."""

    def __init__(self, batch: pa.RecordBatch) -> None:
        self._batch = batch

    def __arrow_c_array__(self, requested_schema: object = None) -> object:
        return self._batch.__arrow_c_array__(requested_schema)


def _pandas(table: pa.Table) -> object:
    frame = table.to_pandas()
    frame.index = [5, 3, 8]
    return frame


@pytest.mark.parametrize(
    "made",
    [
        Stream,
        _pandas,
        pl.from_arrow,
        lambda table: table.to_reader(),
        lambda table: table.to_batches()[0],
        lambda table: Array(table.to_batches()[0]),
        lambda table: table.to_pydict(),
    ],
    ids=["stream", "pandas", "polars", "reader", "batch", "array", "dict"],
)
def test_all_kinds_of_arrow_data_are_sent(made: Any) -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster) as producer:
            await producer.core.find_topic("t")
            table = pa.table({"key": ["a", "b", "c"], "value": [b"1", b"2", None]})
            assert (await (await producer.send_arrow("t", made(table)))).rows == 3
            assert (cluster.log(0).keys, cluster.log(0).values) == ([b"a", b"b", b"c"], [b"1", b"2", None])

    asyncio.run(scenario())


def test_views_and_dictionaries_are_sent_as_text_and_bytes() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster) as producer:
            await producer.core.find_topic("t")
            pair = pa.struct([("key", pa.string_view()), ("value", pa.binary_view())])
            table = pa.table(
                {
                    "key": pa.array(["a", None], pa.string_view()),
                    "value": pa.array(["x", "x"]).dictionary_encode(),
                    "headers": pa.array([[{"key": "h", "value": b"1"}], None], pa.list_(pair)),
                }
            )
            assert (await (await producer.send_arrow("t", table))).rows == 2
            found = cluster.log(0)
            assert (found.keys, found.values) == ([b"a", None], [b"x", b"x"])

    asyncio.run(scenario())


def test_a_batch_of_poll_arrow_is_sent_unchanged() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster) as producer:
            await producer.core.find_topic("t")
            for schema in ("kafka", "spark"):
                columns = arrow_schema(schema=schema)
                row = {"topic": "old", "partition": 0, "offset": 7, "timestamp": 5, "key": b"k", "value": b"v"}
                row |= {"timestamp_type": 0, "timestampType": 0, "headers": [{"key": "h", "value": b"x"}]}
                batch = pa.RecordBatch.from_pylist([{name: row[name] for name in columns.names}], columns)
                future = await producer.send_arrow("t", batch)
                assert (await future).rows == 1
            assert cluster.log(0).values == [b"v", b"v"]

    asyncio.run(scenario())


@pytest.mark.parametrize("wrong", [[{"value": b"x"}], "text", None, 5])
def test_other_data_is_refused_with_its_type(wrong: Any) -> None:
    async def scenario() -> None:
        async with producing(ProducingCluster({"t": 1})) as producer:
            await producer.core.find_topic("t")
            with pytest.raises(TypeError, match=rf"__arrow_c_stream__.*not {type(wrong).__name__}"):
                await producer.send_arrow("t", wrong)

    asyncio.run(scenario())


@pytest.mark.parametrize("made", [lambda columns: pytest.importorskip("pandas").DataFrame(columns), dict])
def test_columns_of_untyped_objects_are_refused_with_advice(made: Any) -> None:
    data = made({"id": [1], "counts": [[("a", 1)]]})  # a map, as pandas has it
    with pytest.raises(TypeError, match=r"no Arrow columns can be made of .*int.*; give a pyarrow\.Table"):
        as_arrow(data)


async def test_progress_is_reported_up_to_all_rows(capsys: pytest.CaptureFixture[str]) -> None:
    cluster = ProducingCluster({"t": 2})
    table = pa.table({"value": [b"x" * 1_000] * 1_000})
    told: list[tuple[int, int]] = []
    async with producing(cluster) as producer:
        await (await producer.send_arrow("t", table, progress=lambda done, total: told.append((done, total))))
        assert len(told) > 1
        assert told == sorted(told)
        assert told[-1] == (1_000, 1_000)
        await (await producer.send_arrow("t", table, progress=True))
        assert "sending" in capsys.readouterr().out
        with pytest.raises(TypeError, match="expected progress to be True, False or a function"):
            await producer.send_arrow("t", table, progress="yes")  # type: ignore[arg-type]
    assert sum(len(cluster.log(p).values) for p in (0, 1)) == 2_000


async def test_an_error_of_the_progress_function_stops_the_remaining_rows() -> None:
    cluster = ProducingCluster({"t": 2})
    table = pa.table({"value": [b"x" * 1_000] * 1_000})
    taken: list[int] = []

    def refuse(done: int, total: int) -> None:
        taken.append(done)
        raise RuntimeError("enough")

    async with producing(cluster) as producer:
        with pytest.raises(RuntimeError, match="enough"):
            await producer.send_arrow("t", table, progress=refuse)
        await producer.flush()
        assert sum(len(cluster.log(p).values) for p in (0, 1)) == taken[0] < 1_000
