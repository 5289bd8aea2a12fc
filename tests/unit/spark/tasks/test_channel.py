"""Arrow batches between the threads of a task."""

import threading
from collections.abc import Iterator

import pyarrow as pa
import pytest

from kafka.spark.tasks.channel import Channel, coalesced, prefetched


def test_items_arrive_in_order():
    assert list(prefetched(lambda: iter(range(1_000)), 2)) == list(range(1_000))


def test_items_are_produced_only_up_to_the_depth_ahead():
    made = threading.Semaphore(0)
    closed = []

    def make() -> Iterator[int]:
        try:
            for number in range(100):
                made.release()
                yield number
        finally:
            closed.append(True)

    items = prefetched(make, 3)
    assert next(items) == 0
    for _ in range(5):  # one taken, three queued, one in the producer
        assert made.acquire(timeout=10)
    assert not made.acquire(blocking=False)
    items.close()
    assert closed == [True]


def test_an_error_arrives_after_the_items_before_it():
    def make() -> Iterator[int]:
        yield 1
        raise ZeroDivisionError("boom")

    items = prefetched(make, 5)
    assert next(items) == 1
    with pytest.raises(ZeroDivisionError, match="boom"):
        next(items)


def test_the_thread_ends_with_the_iterator():
    makers = []

    def make() -> Iterator[int]:
        makers.append(threading.current_thread())
        return iter(range(10**9))

    items = prefetched(make, 1)
    next(items)
    (maker,) = makers
    assert maker is not threading.current_thread()
    assert maker.is_alive()
    items.close()
    assert not maker.is_alive()


def test_put_returns_false_when_the_channel_is_abandoned():
    channel: Channel[int] = Channel(1)
    assert channel.put(1)
    answers = []
    waiting = threading.Thread(target=lambda: answers.append(channel.put(2)))
    waiting.start()
    channel.abandon()
    waiting.join(10)
    assert answers == [False]
    assert not channel.put(3)


@pytest.mark.parametrize(
    ("sizes", "lists"),
    [
        ([], []),
        ([10], [[10]]),
        ([40, 40, 40, 40], [[40, 40, 40], [40]]),
        ([100, 100], [[100], [100]]),
        ([10, 20, 300], [[10, 20], [300]]),
        ([300, 10, 300, 10, 20, 80], [[300], [10], [300], [10, 20, 80]]),
    ],
)
def test_small_batches_are_merged_and_large_ones_stay_separate(sizes, lists):
    batches = [pa.record_batch({"value": pa.array([0] * size, pa.int8())}) for size in sizes]
    assert [[batch.nbytes for batch in each] for each in coalesced(iter(batches), 100)] == lists
