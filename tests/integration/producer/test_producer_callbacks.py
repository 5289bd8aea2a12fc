"""The user's callbacks can do what they like: they stop neither the producer, nor other clients, nor `flush()`."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from integration.consumer_support import without_idempotence_warning
from kafka import AsyncKafkaProducer, KafkaProducer
from kafka.errors import KafkaTimeoutError
from kafka.net import LoopThread

pytestmark = pytest.mark.integration
PATIENCE_S = 60.0


@contextmanager
def nothing_delivered() -> Iterator[None]:
    """Hold the loop up, so that a callback comes before what it waits for; one that comes later runs at once."""
    go_on = threading.Event()
    LoopThread.shared().call(go_on.wait, PATIENCE_S)
    try:
        yield
    finally:
        go_on.set()


def exits(_: object) -> None:
    sys.exit(3)


def interrupts(_: object) -> None:
    raise KeyboardInterrupt


def raises(_: object) -> None:
    raise ValueError("from a callback")


@pytest.mark.parametrize("callback", [exits, interrupts, raises])
def test_what_a_callback_raises_reaches_nobody_else(broker: Any, make_topic: Any, callback: Callable[..., Any]) -> None:
    topic = make_topic()
    called: list[int] = []
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers, linger_ms=60_000) as producer:
        for _ in range(3):
            producer.send(topic, b"x").add_callback(callback).add_callback(lambda told: called.append(told.offset))
        producer.flush(PATIENCE_S)
        assert called == [0, 1, 2]
        after = producer.send(topic, b"y")
        producer.flush(PATIENCE_S)
        assert after.get(0).offset == 3
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as another:
        assert another.send(topic, b"z").get(PATIENCE_S).offset == 4


def test_a_callback_that_blocks_stops_nobody_else(broker: Any, make_topic: Any) -> None:
    topic = make_topic()
    blocked, release = threading.Event(), threading.Event()

    def block(_: object) -> None:
        blocked.set()
        release.wait(PATIENCE_S)

    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        later: list[object] = []
        producer.partitions_for(topic)
        with nothing_delivered():
            producer.send(topic, b"0").add_callback(block)
        assert blocked.wait(PATIENCE_S)
        with nothing_delivered():
            second = producer.send(topic, b"1").add_callback(later.append)
        assert second.get(PATIENCE_S).offset == 1
        with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as another:
            others: list[object] = []
            another.send(topic, b"2").add_callback(others.append)
            another.flush(PATIENCE_S)
            assert len(others) == 1
        with pytest.raises(KafkaTimeoutError, match="callbacks are still running"):
            producer.flush(0.2)
        assert later == []
        release.set()
        producer.flush(PATIENCE_S)
        assert len(later) == 1


def test_a_callback_may_call_the_client_again(broker: Any, make_topic: Any) -> None:
    topic = make_topic()
    seen: list[object] = []
    producer = KafkaProducer(bootstrap_servers=broker.bootstrap_servers)
    closed = threading.Event()

    def again(_: object) -> None:
        seen.append(producer.send(topic, b"1").get(PATIENCE_S).offset)
        producer.send(topic, b"2").add_callback(lambda told: seen.append(told.offset))
        producer.flush(PATIENCE_S)
        seen.append(producer.partitions_for(topic))
        producer.close(PATIENCE_S)
        closed.set()

    producer.send(topic, b"0").add_callback(again)
    assert closed.wait(PATIENCE_S)
    producer.close(PATIENCE_S)
    assert seen[0] == 1
    assert sorted(seen[1:], key=str) == [2, {0}]  # the second record may be acknowledged before its callback is added


def test_callbacks_have_run_when_flush_and_close_return(broker: Any, make_topic: Any) -> None:
    topic = make_topic(2)
    called: dict[int, list[int]] = {0: [], 1: []}
    producer = KafkaProducer(bootstrap_servers=broker.bootstrap_servers, batch_size=100, linger_ms=1)
    for part in range(2):
        for i in range(500):
            future = producer.send(topic, b"%d" % i, partition=i % 2)
            future.add_callback(lambda told: called[told.partition].append(told.offset))
        producer.flush(PATIENCE_S) if part == 0 else producer.close(PATIENCE_S)
        assert called == {p: list(range(250 * (part + 1))) for p in (0, 1)}


def test_arrow_callbacks_may_block_and_have_run_when_flush_returns(broker: Any, make_topic: Any) -> None:
    pa = pytest.importorskip("pyarrow")
    topic = make_topic()
    blocked, release = threading.Event(), threading.Event()
    rows: list[int] = []
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        producer.partitions_for(topic)
        with nothing_delivered():
            producer.send_arrow(topic, pa.table({"value": ["a"]})).add_callback(
                lambda told: (blocked.set(), release.wait(PATIENCE_S), rows.append(told.rows))
            )
        assert blocked.wait(PATIENCE_S)
        assert producer.send(topic, b"b").get(PATIENCE_S).offset == 1
        release.set()
        producer.flush(PATIENCE_S)
        assert rows == [1]


def test_slow_callbacks_hold_up_those_who_send_and_their_own_sends_pass(broker: Any, make_topic: Any) -> None:
    topic = make_topic()
    release = threading.Event()
    tried: list[bool] = []
    inside: list[int] = []
    with KafkaProducer(
        bootstrap_servers=broker.bootstrap_servers, buffer_memory=4_000, batch_size=1_000, max_block_ms=500
    ) as producer:

        def slow(_: object) -> None:
            release.wait(PATIENCE_S)
            if not tried:
                tried.append(True)
                inside.append(producer.send(topic, bytes(900)).get(PATIENCE_S).offset)

        producer.partitions_for(topic)
        with nothing_delivered():
            for _ in range(4):
                producer.send(topic, bytes(900)).add_callback(slow)
        with pytest.raises(KafkaTimeoutError, match="buffer_memory"):
            producer.send(topic, bytes(900))
        release.set()
        producer.flush(PATIENCE_S)
        assert inside == [4]
        assert producer.metrics()["producer-metrics"]["buffer-available-bytes"] == 4_000


def test_callbacks_run_before_a_program_ends_that_closes_nothing(broker: Any, make_topic: Any) -> None:
    script = (
        "import sys, time; from kafka import KafkaProducer\n"
        "producer = KafkaProducer(bootstrap_servers=sys.argv[1], linger_ms=60000)\n"
        "def told(metadata): time.sleep(0.01); print(metadata.offset)\n"
        "for i in range(20): producer.send(sys.argv[2], b'x').add_callback(told)\n"
    )
    command = [sys.executable, "-W", "error", "-c", script, broker.bootstrap_servers, make_topic()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert (done.stdout.split(), without_idempotence_warning(done.stderr)) == ([str(i) for i in range(20)], "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_calls_its_own_callbacks_and_no_others(broker: Any, make_topic: Any) -> None:
    script = (
        "import os, sys, threading; from kafka import KafkaProducer; from kafka.net import LoopThread\n"
        "def make(): return KafkaProducer(bootstrap_servers=sys.argv[1])\n"
        "inside, release, called = threading.Event(), threading.Event(), []\n"
        "def block(_): inside.set(); release.wait(60)\n"
        "def send(value, callback):\n"
        "    go_on = threading.Event(); LoopThread.shared().call(go_on.wait, 60)\n"
        "    future = producer.send(sys.argv[2], value).add_callback(callback); go_on.set(); return future\n"
        "producer = make(); producer.partitions_for(sys.argv[2])\n"
        "send(b'0', block); assert inside.wait(60)\n"
        "send(b'1', called.append).get(60)\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    with make() as mine:\n"
        "        mine.send(sys.argv[2], b'2').add_callback(called.append)\n"
        "        mine.flush(60)\n"
        "    sys.exit([m.offset for m in called] != [2])\n"
        "assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0\n"
        "release.set(); producer.close(20)\n"
        "assert [m.offset for m in called] == [1]\n"
    )
    command = [sys.executable, "-W", "error", "-c", script, broker.bootstrap_servers, make_topic()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, without_idempotence_warning(done.stderr)) == (0, "")


def test_a_producer_without_callbacks_starts_no_thread_for_them(broker: Any, make_topic: Any) -> None:
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers, client_id="quiet") as producer:
        producer.send(make_topic(), b"x").get(PATIENCE_S)
        producer.flush()
        assert not [thread for thread in threading.enumerate() if "quiet" in thread.name]


async def test_the_asyncio_faces_callbacks_run_on_the_callers_loop(broker: Any, make_topic: Any) -> None:
    topic = make_topic()
    threads: list[threading.Thread] = []
    async with AsyncKafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        future = await producer.send(topic, b"x")
        future.add_callback(lambda _: threads.append(threading.current_thread())).add_callback(raises)
        await producer.flush()
        assert threads == [threading.current_thread()]
