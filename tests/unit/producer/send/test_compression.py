"""Batches that take long to compress hold up neither the loop nor the order of records."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from kafka.producer.send import outgoing_batches
from unit.producer.fake_producer import producing
from unit.producer.producing_cluster import ProducingCluster
from unit.virtual_loop import simulate

Work = Callable[[], None]


class DelayedRunner:
    """Runs functions after a while, and counts them."""

    def __init__(self, seconds: float = 0.5, error: Exception | None = None) -> None:
        self.calls = 0
        self._seconds = seconds
        self._error = error

    async def __call__(self, function: Work) -> None:
        self.calls += 1
        if self._error is not None:
            raise self._error
        await asyncio.sleep(self._seconds)
        function()


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> DelayedRunner:
    """Stands in for other threads."""
    made = DelayedRunner()
    monkeypatch.setattr(outgoing_batches, "run_blocking", made)
    return made


def values(count: int) -> list[bytes]:
    """Values of 100 bytes."""
    return [b"%0100d" % number for number in range(count)]


@pytest.mark.parametrize(("codec", "size"), [("gzip", 40_000), ("zstd", 300_000)])
def test_large_batches_are_compressed_in_a_thread_and_stay_in_order(
    elsewhere: DelayedRunner, codec: str, size: int
) -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster, compression_type=codec, batch_size=size, linger_ms=1) as producer:
            sent = values(4 * size // 100)
            for value in sent:
                await producer.send(value)
            await producer.core.flush()
            assert cluster.log(0).values == sent
            assert elsewhere.calls >= 4

    simulate(scenario)


@pytest.mark.parametrize("codec", [None, "lz4", "snappy", "gzip"])
def test_small_batches_and_fast_codecs_are_compressed_on_the_loop(elsewhere: DelayedRunner, codec: str | None) -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        size = 16_384 if codec == "gzip" else 1_000_000
        async with producing(cluster, compression_type=codec, batch_size=size, linger_ms=1) as producer:
            sent = values(500)
            for value in sent:
                await producer.send(value)
            await producer.core.flush()
            assert cluster.log(0).values == sent
            assert elsewhere.calls == 0

    simulate(scenario)


def test_records_sent_during_compression_go_into_the_next_batch(elsewhere: DelayedRunner) -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster, compression_type="gzip", batch_size=1_000_000, linger_ms=5) as producer:
            for value in values(400):
                await producer.send(value)
            await asyncio.sleep(0.1)
            assert elsewhere.calls == 1
            assert not cluster.produced
            late = await producer.send(b"late")
            assert (await late).offset == 400
            assert [count for *_, count in cluster.log(0).batches] == [400, 1]

    simulate(scenario)


def test_close_does_not_wait_for_compression(elsewhere: DelayedRunner) -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster, compression_type="gzip", batch_size=1_000_000) as producer:
            futures = [await producer.send(value) for value in values(400)]
            await asyncio.sleep(0.1)
            assert elsewhere.calls == 1
            began = asyncio.get_running_loop().time()
            await producer.core.close(0)
            assert asyncio.get_running_loop().time() == began
            assert all(future.failed() for future in futures)
            assert not cluster.log(0).values

    simulate(scenario)


def test_without_a_thread_the_loop_compresses(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        refusing = DelayedRunner(error=RuntimeError("can't start new thread"))
        monkeypatch.setattr(outgoing_batches, "run_blocking", refusing)
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster, compression_type="gzip", batch_size=1_000_000, linger_ms=5) as producer:
            futures = [await producer.send(value) for value in values(400)]
            assert (await futures[-1]).offset == 399
            assert refusing.calls == 1

    simulate(scenario)
