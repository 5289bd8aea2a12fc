"""Producers that are copied, forked, or open when the program ends: each says what it cannot do, and loses nothing."""

from __future__ import annotations

import asyncio
import copy
import os
import pickle
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kafka import AsyncKafkaProducer, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.broker import EmbeddedBroker
from kafka.errors import ForkedClientError, IllegalStateError, NoBrokersAvailable, NotEnoughReplicasError
from kafka.net import LoopThread
from kafka.producer import lifetime
from kafka.serializer import Serializer

PATIENCE_S = 30
COPYING = pytest.mark.parametrize("lose", [pickle.dumps, copy.copy, copy.deepcopy])
PLACE = TopicPartition("t", 0)


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(tmp_path_factory.mktemp("broker")) as broker:
        yield broker


@pytest.fixture
def producer(broker: EmbeddedBroker) -> Iterator[KafkaProducer]:
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers, linger_ms=5) as producer:
        yield producer


@COPYING
def test_pickling_or_copying_a_producer_raises_an_error(producer: KafkaProducer, lose: Callable[[Any], Any]) -> None:
    for each in (producer, AsyncKafkaProducer()):
        with pytest.raises(TypeError, match=rf"^{type(each).__name__} objects own connections and unsent records, so"):
            lose(each)
    assert producer.send("t", b"x").get(PATIENCE_S).topic == "t", "no copy has closed it"


KEPT_TO_THE_END = """
import codecs, sys, types
holder = sys.modules["holder"] = types.ModuleType("holder")
from kafka import KafkaAdminClient, KafkaProducer, SimpleClient
from kafka.client_async import KafkaClient
servers = sys.argv[1]
holder.kept = [
    KafkaProducer(bootstrap_servers=servers),
    KafkaAdminClient(bootstrap_servers=servers),
    KafkaClient(bootstrap_servers=servers),
    SimpleClient(servers),
]
codecs.register(lambda name, module=holder: None)
print("made")
"""


@pytest.mark.slow
def test_a_producer_destroyed_at_module_teardown_is_silent(broker: EmbeddedBroker) -> None:
    command = [sys.executable, "-W", "ignore", "-c", KEPT_TO_THE_END, broker.bootstrap_servers]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert (ended.stdout, ended.stderr, ended.returncode) == ("made\n", "", 0)


def test_the_metadata_attribute_can_be_refreshed_as_in_kafka_python(broker: EmbeddedBroker) -> None:
    told: list[Any] = []
    done = threading.Event()
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        before = producer._metadata.version
        producer._metadata.request_update().add_both(lambda result: (told.append(result), done.set()))
        assert done.wait(PATIENCE_S)
        assert told[0].version == producer._metadata.version > before
        assert producer._metadata.brokers() == told[0].brokers()
        with pytest.raises(AttributeError, match="no attribute '_nodes'"):
            producer._metadata._nodes  # noqa: B018
    assert isinstance(producer._metadata.request_update().exception, IllegalStateError)


@COPYING
def test_pickling_or_copying_a_future_raises_an_error(producer: KafkaProducer, lose: Callable[[Any], Any]) -> None:
    for future in (producer.send("t", b"x"), producer.send_arrow("t", {"value": [b"x"]})):
        with pytest.raises(TypeError, match=rf"^a {type(future).__name__} belongs to its producer, so"):
            lose(future)
        result = future.get(PATIENCE_S)
        assert pickle.loads(pickle.dumps(result)) == result


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_futures_do_not_block_after_a_fork_while_the_lock_is_held(
    broker: EmbeddedBroker,
) -> None:
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers, retry_backoff_max_ms=100) as producer:
        delivered = producer.send("t", b"x")
        producer.flush()
        rule = broker.faults.fail(NotEnoughReplicasError, api="Produce")  # what comes now is not delivered
        waiting, rows = producer.send("t", b"y"), producer.send_arrow("t", {"value": [b"x"] * 10})
        lock = producer._core.buffer.lock
        held, release = threading.Event(), threading.Event()

        def hold() -> None:
            with lock:
                held.set()
                release.wait(PATIENCE_S)

        holder = threading.Thread(target=hold)
        holder.start()
        held.wait(PATIENCE_S)
        child = os.fork()
        if not child:
            signal.alarm(PATIENCE_S)
            try:
                told: list[Any] = []
                for future in (delivered, waiting, rows):
                    future.add_both(told.append)
                failed = [type(each.exception) for each in (waiting, rows)]
                assert (told[0], failed) == (delivered.get(), [ForkedClientError] * 2)
                assert [type(each) for each in told[1:]] == failed
                os._exit(0)
            finally:
                os._exit(1)
        release.set()
        holder.join()
        rule.remove()
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert producer.send("t", b"z", partition=0).add_both(lambda _: None)
        producer.flush()
        assert rows.get(PATIENCE_S).rows == 10


def test_a_garbage_collected_producer_delivers_its_records(broker: EmbeddedBroker) -> None:
    producer = KafkaProducer(bootstrap_servers=broker.bootstrap_servers, linger_ms=60_000)
    core = producer._core
    future = producer.send("t", b"x")
    assert core in lifetime._live
    del producer
    assert future.get(PATIENCE_S).topic == "t"
    while core in lifetime._live:  # it is closed once its connections are
        LoopThread.shared().run(asyncio.sleep(0))
    assert core.is_closed


def test_a_producer_closed_in_the_loop_thread_delivers_its_records(broker: EmbeddedBroker) -> None:
    """As where a finalizer of the user's is run there, which cannot wait."""
    producer = KafkaProducer(bootstrap_servers=broker.bootstrap_servers, linger_ms=60_000)
    core, future = producer._core, producer.send("t", b"x")
    refused: list[str] = []
    done = threading.Event()

    def finalize(left: KafkaProducer) -> None:
        try:
            left.close()
        except IllegalStateError as error:
            refused.append(str(error))
        done.set()

    LoopThread.shared().call(finalize, producer)
    assert done.wait(PATIENCE_S)
    assert len(refused) == 1
    del producer
    assert future.get(PATIENCE_S).topic == "t"
    while core in lifetime._live:
        LoopThread.shared().run(asyncio.sleep(0))


class RaisingOnClose(Serializer):
    """Tells whether it was closed in the loop's thread, and raises then."""

    def __init__(self) -> None:
        super().__init__()
        self.in_loop_thread: list[bool] = []

    def serialize(self, topic: str, value: Any) -> bytes | None:
        return value

    def close(self) -> None:
        self.in_loop_thread.append(LoopThread.shared().in_loop_thread)
        raise ZeroDivisionError


def test_serializers_are_closed_outside_the_loop_thread(broker: EmbeddedBroker) -> None:
    key, value = RaisingOnClose(), RaisingOnClose()
    producer = KafkaProducer(bootstrap_servers=broker.bootstrap_servers, key_serializer=key, value_serializer=value)
    future = producer.send("t", b"x", key=b"k")
    producer.close()
    producer.close()
    assert future.succeeded()
    assert (key.in_loop_thread, value.in_loop_thread) == ([False], [False])


async def test_a_garbage_collected_asyncio_producer_delivers_its_records_and_warns(
    broker: EmbeddedBroker, caplog: pytest.LogCaptureFixture
) -> None:
    producer = AsyncKafkaProducer(bootstrap_servers=broker.bootstrap_servers, linger_ms=60_000)
    await producer.start()
    future = await producer.send("t", b"x")
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        del producer
        assert (await asyncio.wait_for(future, PATIENCE_S)).topic == "t"
        async with asyncio.timeout(PATIENCE_S):
            while not warned:
                await asyncio.sleep(0.001)
    assert [each.category for each in warned] == [ResourceWarning]
    assert "trying to deliver its last 1 record(s)" in caplog.text


async def test_a_producer_that_cannot_start_leaves_nothing_behind() -> None:
    lost = AsyncKafkaProducer(bootstrap_servers="127.0.0.1:1", bootstrap_timeout_ms=50)
    with pytest.raises(NoBrokersAvailable):
        await lost.start()
    with pytest.raises(IllegalStateError, match="before"):
        await lost.start()
    before = set(lifetime._live)
    with pytest.raises(NoBrokersAvailable):
        await asyncio.to_thread(KafkaProducer, bootstrap_servers="127.0.0.1:1", bootstrap_timeout_ms=50)
    async with asyncio.timeout(PATIENCE_S):
        while set(lifetime._live) - before:
            await asyncio.sleep(0.001)


def ended(broker: EmbeddedBroker, program: str) -> subprocess.CompletedProcess[str]:
    """Run a program to its end; `servers` is the address of a broker."""
    begin = f"import atexit, logging, sys, threading\nservers = {broker.bootstrap_servers!r}\n"
    begin += "threads = []\natexit.register(lambda: [each.join() for each in threads])  # after the clients' own\n"
    begin += "from kafka import KafkaProducer\nlogging.basicConfig(format='%(message)s')\n"
    command = [sys.executable, "-c", begin + program]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)


def count(broker: EmbeddedBroker) -> int:
    with KafkaConsumer(bootstrap_servers=broker.bootstrap_servers) as consumer:
        return int(consumer.end_offsets([PLACE])[PLACE])


@pytest.mark.slow
def test_exit_with_an_open_producer_loses_no_records_and_logs_nothing(
    broker: EmbeddedBroker, producer: KafkaProducer
) -> None:
    producer.send("t", b"x").get(PATIENCE_S)
    before = count(broker)
    program = "producer = KafkaProducer(bootstrap_servers=servers, linger_ms=60_000)\n"
    program += "for _ in range(5): producer.send('t', b'x')\nsys.exit(3)\n"
    done = ended(broker, program)
    assert (done.returncode, done.stderr) == (3, "")
    assert count(broker) - before == 5


@pytest.mark.slow
def test_sending_while_the_interpreter_exits_raises_an_error(broker: EmbeddedBroker) -> None:
    program = (
        "producer, sent = KafkaProducer(bootstrap_servers=servers), threading.Event()\n"
        "def send():\n"
        "    try:\n"
        "        while True: producer.send('t', b'x').get(); sent.set()\n"
        "    except Exception as error: print(error, file=sys.stderr, flush=True)\n"
        "threads.append(threading.Thread(target=send, daemon=True))\n"
        "threads[0].start()\n"
        "sent.wait()\nsys.exit(3)\n"
    )
    done = ended(broker, program)
    assert (done.returncode, done.stderr) == (3, "the interpreter is about to exit, and has closed the producer\n")


@pytest.mark.slow
def test_a_callback_that_raises_system_exit_is_logged_and_stops_nothing(broker: EmbeddedBroker) -> None:
    program = (
        "producer = KafkaProducer(bootstrap_servers=servers, linger_ms=60_000)  # sent by flush, with the callback\n"
        "producer.send('t', b'x', partition=0).add_callback(lambda _: sys.exit('on purpose'))\n"
        "producer.flush()\n"
        "later = producer.send('t', b'y')\n"
        "producer.flush()\n"
        "later.get()\n"
    )
    done = ended(broker, program)
    lines = done.stderr.splitlines()
    assert (done.returncode, lines[0], lines[-1]) == (
        0,
        "a callback of 1 record(s) for t-0 raised",
        "SystemExit: on purpose",
    )


@pytest.mark.slow
def test_an_asyncio_producer_with_a_closed_loop_logs_the_lost_records(broker: EmbeddedBroker) -> None:
    program = (
        "import asyncio, gc\n"
        "from kafka import AsyncKafkaProducer\n"
        "async def begin():\n"
        "    stopped = AsyncKafkaProducer(bootstrap_servers=servers)\n"
        "    async with stopped: await stopped.send_and_wait('t', b'x')\n"
        "    left = AsyncKafkaProducer(bootstrap_servers=servers, linger_ms=60_000)\n"
        "    await left.start()\n"
        "    for _ in range(3): await left.send('t', b'x')\n"
        "    return left\n"
        "loop = asyncio.new_event_loop()\n"
        "left = loop.run_until_complete(begin())\n"
        "loop.close()\n"
    )
    for end in ("", "del left\n"):
        without = ended(broker, program.replace("range(3)", "range(0)") + end)
        assert "record(s)" not in without.stderr
        done = ended(broker, program + end)
        lost = "an AsyncKafkaProducer was never stopped: await stop(), or use it as 'async with'"
        assert done.stderr.count(f"{lost}: 3 record(s) are lost\n") == 1
        assert done.stderr.count("never stopped") == 1


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_producer_closed_while_its_failed_loop_ends_is_not_closed_again_at_exit(
    broker: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(LoopThread, "_shared", None)
    thread = LoopThread.shared()
    loop: Any = thread.loop
    is_told, may_end = threading.Event(), threading.Event()
    close_loop = loop.close

    def close() -> None:
        is_told.set()
        may_end.wait(PATIENCE_S)
        close_loop()

    def broken(timeout: float | None = None) -> None:
        raise OSError(9, "Bad file descriptor")

    producer = KafkaProducer(bootstrap_servers=broker.bootstrap_servers)
    monkeypatch.setattr(loop, "close", close)
    monkeypatch.setattr(loop._selector, "select", broken)
    try:
        thread.call(lambda: None)
        assert is_told.wait(PATIENCE_S)
        assert producer._core in lifetime._live
        with pytest.raises(IllegalStateError, match="the event loop of this client has failed"):
            producer.close()
        assert producer._core not in lifetime._live
    finally:
        may_end.set()
        thread._thread.join(PATIENCE_S)
