"""An asyncio producer that nobody stops delivers what it has where it can, and says so."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import warnings
from typing import Any

import pytest

from kafka import AsyncKafkaProducer, KafkaConsumer, TopicPartition

pytestmark = pytest.mark.integration


def count_of(broker: Any, topic: str) -> int:
    """The number of records of a topic with one partition."""
    place = TopicPartition(topic, 0)
    with KafkaConsumer(bootstrap_servers=broker.bootstrap_servers) as consumer:
        ends = consumer.end_offsets([place])
    return int(ends[place])


def run(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program of its own to its end."""
    command = [sys.executable, "-W", "default", "-c", script, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_the_end_of_asyncio_run_delivers_what_a_producer_has(broker: Any, make_topic: Any) -> None:
    topic = make_topic()
    script = (
        "import asyncio, logging, sys; from kafka import AsyncKafkaProducer\n"
        "logging.basicConfig()\n"
        "async def main():\n"
        "    global producer\n"
        "    producer = AsyncKafkaProducer(bootstrap_servers=sys.argv[1], linger_ms=60000)\n"
        "    await producer.start()\n"
        "    for i in range(20_000): await producer.send(sys.argv[2], b'%d' % i)\n"
        "asyncio.run(main())\n"
    )
    done = run(script, broker.bootstrap_servers, topic)
    assert done.returncode == 0
    assert "trying to deliver its last" in done.stderr
    assert "ResourceWarning" in done.stderr
    assert count_of(broker, topic) == 20_000


def test_a_closed_loop_loses_records_with_a_line_that_counts_them(broker: Any, make_topic: Any) -> None:
    script = (
        "import asyncio, logging, sys; from kafka import AsyncKafkaProducer\n"
        "logging.basicConfig()\n"
        "async def main():\n"
        "    global producer\n"
        "    producer = AsyncKafkaProducer(bootstrap_servers=sys.argv[1], linger_ms=60000)\n"
        "    await producer.start()\n"
        "    for i in range(5): await producer.send(sys.argv[2], b'%d' % i)\n"
        "loop = asyncio.new_event_loop()\n"
        "loop.run_until_complete(main())\n"
        "loop.close()\n"
    )
    done = run(script, broker.bootstrap_servers, make_topic())
    assert done.returncode == 0
    assert "never stopped" in done.stderr
    assert "5 record(s) are lost" in done.stderr
    assert "ResourceWarning" in done.stderr


async def test_a_dropped_producer_delivers_what_it_has(broker: Any, make_topic: Any) -> None:
    topic = make_topic()
    producer = AsyncKafkaProducer(bootstrap_servers=broker.bootstrap_servers, linger_ms=60_000)
    await producer.start()
    future = await producer.send(topic, b"x")
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        del producer
        assert (await asyncio.wait_for(future, 30)).offset == 0
        while not warned:
            await asyncio.sleep(0.01)
    assert issubclass(warned[0].category, ResourceWarning)


async def test_a_stopped_producer_is_not_warned_about(broker: Any, make_topic: Any) -> None:
    async with AsyncKafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        await producer.send_and_wait(make_topic(), b"x")
    del producer
