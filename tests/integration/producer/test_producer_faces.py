"""One table of scenarios, on the synchronous and on the asyncio producer."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from kafka import AsyncKafkaProducer, KafkaProducer
from kafka.errors import IllegalArgumentError, IllegalStateError, KafkaTimeoutError, MessageSizeTooLargeError

pytestmark = pytest.mark.integration
PATIENCE_S = 60.0

Face = Any
Do = Callable[[Any], Awaitable[Any]]
Scenario = Callable[[Face, Do, str], Awaitable[None]]


async def do(given: Any) -> Any:
    """What a call returns, on either face."""
    return await given if inspect.iscoroutine(given) else given


async def a_record_is_delivered(producer: Face, do: Do, topic: str) -> None:
    headers = [("h", b"x")] if producer.config["api_version"] >= (0, 11) else []
    future = await do(producer.send(topic, b"v", b"k", headers=headers, timestamp_ms=5))
    await do(producer.flush(PATIENCE_S))
    metadata = await future
    assert metadata[:5] == (topic, 0, (topic, 0), 0, 5)
    assert future.succeeded()
    assert future.get(0) == metadata


async def flush_delivers_everything_and_callbacks_have_run(producer: Face, do: Do, topic: str) -> None:
    told: list[int] = []
    for i in range(100):
        (await do(producer.send(topic, b"%d" % i))).add_callback(lambda metadata: told.append(metadata.offset))
    await do(producer.flush(PATIENCE_S))
    assert told == list(range(100))


async def partitions_are_known(producer: Face, do: Do, topic: str) -> None:
    assert await do(producer.partitions_for(topic)) == {0}
    assert producer.bootstrap_connected()
    with pytest.raises(IllegalArgumentError, match="partition is 7"):
        await do(producer.send(topic, b"x", partition=7))


async def a_record_too_large_fails_its_future(producer: Face, do: Do, topic: str) -> None:
    told: list[BaseException] = []
    future = await do(producer.send(topic, bytes(2_000_000)))
    future.add_errback(told.append)
    assert isinstance(future.exception, MessageSizeTooLargeError)
    assert told == [future.exception]
    await do(producer.flush(PATIENCE_S))


async def memory_that_is_used_up_is_waited_for(producer: Face, do: Do, topic: str) -> None:
    futures = [await do(producer.send(topic, bytes(100_000))) for _ in range(40)]
    await do(producer.flush(PATIENCE_S))
    assert [(await future).offset for future in futures] == list(range(40))


async def a_topic_that_cannot_be_is_refused(producer: Face, do: Do, topic: str) -> None:
    with pytest.raises(IllegalArgumentError, match="is not a topic name"):
        await do(producer.send("no topic", b"x"))


async def flush_keeps_to_its_timeout(producer: Face, do: Do, topic: str) -> None:
    future = await do(producer.send(topic, b"x"))
    with pytest.raises(KafkaTimeoutError, match=r"flush: 1 record"):
        await do(producer.flush(0))
    assert (await future).offset == 0


async def rows_are_delivered(producer: Face, do: Do, topic: str) -> None:
    pa = pytest.importorskip("pyarrow")
    told: list[Any] = []
    future = await do(producer.send_arrow(topic, pa.table({"value": ["a", "b"]})))
    future.add_callback(told.append)
    assert (await future).rows == 2
    await do(producer.flush(PATIENCE_S))
    assert [result.rows for result in told] == [2]


async def closing_delivers_and_nothing_is_taken_afterwards(producer: Face, do: Do, topic: str) -> None:
    future = await do(producer.send(topic, b"x"))
    await do(producer.close(PATIENCE_S))
    await do(producer.close())
    assert future.value.offset == 0
    with pytest.raises(IllegalStateError, match="closed"):
        await do(producer.send(topic, b"y"))
    assert producer.metrics()["producer-metrics"]["record-send-total"] == 1


SCENARIOS: list[Scenario] = [
    a_record_is_delivered,
    flush_delivers_everything_and_callbacks_have_run,
    partitions_are_known,
    a_record_too_large_fails_its_future,
    memory_that_is_used_up_is_waited_for,
    a_topic_that_cannot_be_is_refused,
    flush_keeps_to_its_timeout,
    rows_are_delivered,
    closing_delivers_and_nothing_is_taken_afterwards,
]


@pytest.mark.parametrize("face", ["sync", "asyncio"])
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
async def test_both_faces_behave_alike(broker: Any, make_topic: Any, scenario: Scenario, face: str) -> None:
    options: dict[str, Any] = {
        "bootstrap_servers": broker.bootstrap_servers,
        "linger_ms": 60_000,  # nothing goes before it is asked for
        "buffer_memory": 1_500_000,
        "max_request_size": 1_000_000,
    }
    if face == "sync":
        with KafkaProducer(**options) as producer:
            await scenario(producer, do, make_topic())
    else:
        async with AsyncKafkaProducer(**options) as asynchronous:
            await scenario(asynchronous, do, make_topic())
