"""`AsyncKafkaConsumer` without a cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kafka import TopicPartition
from kafka.consumer.async_consumer import AsyncKafkaConsumer
from kafka.errors import IllegalStateError

TP = TopicPartition("t", 0)


@pytest.mark.parametrize(
    "call",
    [
        lambda consumer: consumer.assignment(),
        lambda consumer: consumer.subscribe(["t"]),
        lambda consumer: consumer.subscription(),
        lambda consumer: consumer.seek(TP, 1),
        lambda consumer: consumer.seek_to_beginning(),
        lambda consumer: consumer.paused(),
        lambda consumer: consumer.highwater(TP),
        lambda consumer: consumer.metrics(),
        lambda consumer: consumer.wakeup(),
    ],
)
def test_methods_that_do_not_wait_raise_before_start(call: Callable[[Any], object]) -> None:
    with pytest.raises(IllegalStateError, match="await start"):
        call(AsyncKafkaConsumer(bootstrap_servers="localhost:1"))


async def test_methods_that_wait_raise_before_start_and_closing_does_nothing() -> None:
    consumer = AsyncKafkaConsumer(bootstrap_servers="localhost:1")
    for call in (
        consumer.poll,
        consumer.poll_arrow,
        consumer.getone,
        consumer.__anext__,
        consumer.topics,
        consumer.commit,
    ):
        with pytest.raises(IllegalStateError, match="await start"):
            await call()
    await consumer.close()
    assert not hasattr(consumer, "no_such_name")


@pytest.mark.parametrize(
    "forgotten",
    [
        lambda consumer: consumer.assign([]),
        lambda consumer: consumer.unsubscribe(),
        lambda consumer: consumer.commit(),
        lambda consumer: consumer.poll(),
        lambda consumer: consumer.close(),
    ],
)
def test_a_call_without_await_is_warned_of(forgotten: Callable[[Any], object]) -> None:
    with pytest.warns(RuntimeWarning, match="was never awaited"):
        forgotten(AsyncKafkaConsumer())
