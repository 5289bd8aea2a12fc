"""`send()` within `send()`: called by a signal's handler, or by a finalizer that the garbage collector runs."""

from __future__ import annotations

import asyncio
import gc
import itertools
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import pytest

from kafka import KafkaProducer
from kafka.broker import EmbeddedBroker
from kafka.errors import IllegalStateError, NotEnoughReplicasError
from kafka.producer.appending.appender import RecordAppender
from kafka.producer.appending.record_buffer import RecordBuffer
from kafka.producer.batch.producer_batch import ProducerBatch
from kafka.producer.batch.shared_queues import BufferOptions
from kafka.producer.future import FutureRecordMetadata
from kafka.record import decode_batches
from unit.interrupt import NEVER, PACKAGE, Interrupt

PATIENCE_S = 30.0
MEMORY = 1 << 24


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    """A loop that is never run."""
    loop = asyncio.new_event_loop()
    yield loop
    loop.close()


class NumberedSends:
    """Sends numbered records to one partition, and remembers them with their futures."""

    def __init__(self, loop: asyncio.AbstractEventLoop, magic: int = 2) -> None:
        self.buffer = RecordBuffer(BufferOptions(1_000, MEMORY), loop, random.Random(1), lambda run: run())
        self.buffer.magic = magic
        self.buffer.learn_topic("t", 1, [0])
        self._appender = RecordAppender(self.buffer, None, None, None, lambda: None, 1 << 20)  # type: ignore[arg-type, return-value]
        self._numbers = itertools.count()
        self.sent: dict[bytes, FutureRecordMetadata] = {}

    def send(self, size: int) -> None:
        value = b"%d " % next(self._numbers) + bytes(size)
        self.sent[value] = self._appender.append("t", value, None, None, 0)

    def check(self, moment: object) -> list[bytes]:
        """Each record is where its future says, once; returns them in their order."""
        [queue] = self.buffer.queues()
        batches: list[ProducerBatch] = [*queue.closed, *([queue.open] if queue.open is not None else [])]
        assert self.buffer.incomplete == set(batches), moment
        assert len(set(batches)) == len(batches), moment
        assert self.buffer.memory.free == MEMORY - sum(batch.reserved for batch in batches), moment
        assert self.buffer.take_dirty() == [queue], moment
        assert not self.buffer.lock._is_owned(), moment  # type: ignore[attr-defined]
        values: list[bytes] = []
        for batch in batches:
            assert batch.builder is not None
            in_batch = [each.value for each in decode_batches(batch.builder.build()).to_records("t", 0)]
            for index, value in enumerate(in_batch):
                assert value is not None
                assert self.sent[value].place() == (batch, index), moment
                values.append(value)
        assert sorted(values) == sorted(self.sent), moment
        return values


class Signal(Interrupt):
    """Runs a handler where `Interrupt` raises."""

    def __init__(self, n: int, handler: Callable[[], object]) -> None:
        super().__init__(n, PACKAGE)
        self._handler = handler

    def _look(self, frame: FrameType) -> None:
        try:
            super()._look(frame)
        except KeyboardInterrupt:
            self._handler()


@pytest.mark.slow
@pytest.mark.parametrize("magic", [pytest.param(1, marks=pytest.mark.exhaustive), 2])
@pytest.mark.parametrize("before", [None, *(pytest.param(size, marks=pytest.mark.exhaustive) for size in (100, 900))])
@pytest.mark.parametrize("within", [[10], [900], [900, 900]])
def test_a_signal_handler_may_send_at_any_point(
    loop: asyncio.AbstractEventLoop, magic: int, before: int | None, within: list[int]
) -> None:
    for n in itertools.count():
        sends = NumberedSends(loop, magic)
        if before is not None:
            sends.send(before)
        interrupt = Signal(n, lambda sends=sends: [sends.send(size) for size in within])  # type: ignore[misc]
        with interrupt:
            sends.send(200)
        values = sends.check(interrupt.where)
        if before is not None:
            assert values[0].startswith(b"0 "), interrupt.where
        if interrupt.where is None:
            break


@pytest.mark.slow
@pytest.mark.parametrize("magic", [pytest.param(1, marks=pytest.mark.exhaustive), 2])
def test_a_finalizer_may_send_whenever_the_collector_runs_it(loop: asyncio.AbstractEventLoop, magic: int) -> None:
    sends = NumberedSends(loop, magic)

    class Dropped:
        def __init__(self) -> None:
            self.me = self

        def __del__(self) -> None:
            sends.send(random.Random(len(sends.sent)).choice([5, 300, 900]))

    def work() -> None:
        for count in range(3_000):
            Dropped()
            sends.send(count % 700)

    before = gc.get_threshold()
    gc.collect()
    gc.set_threshold(3, 2, 1_000)
    try:
        thread = threading.Thread(target=work, daemon=True)  # so that one that hangs is no end of all tests
        thread.start()
        thread.join(PATIENCE_S)
        assert not thread.is_alive(), "send() hangs"
    finally:
        gc.set_threshold(*before)
    gc.collect()
    assert len(sends.sent) == 6_000
    sends.check("")


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(tmp_path_factory.mktemp("broker")) as broker:
        yield broker


def test_waiting_inside_send_raises_instead_of_hanging(broker: EmbeddedBroker) -> None:
    with KafkaProducer(
        bootstrap_servers=broker.bootstrap_servers, buffer_memory=1_000, batch_size=1_000, linger_ms=60_000
    ) as producer:
        producer.send("t", b"x")
        producer.flush(PATIENCE_S)
        future = producer.send("t", bytes(500))
        waits: list[Callable[[], Any]] = [
            producer.flush,
            producer.close,
            future.get,
            lambda: producer.send("t", bytes(900)),
            lambda: producer.send("another", b"x"),
            lambda: producer.send_arrow("t", {"value": [b"x"]}),
        ]
        with producer._core.buffer.lock:  # as where a handler comes within send()
            for wait in waits:
                with pytest.raises(IllegalStateError, match="may send, but cannot wait"):
                    wait()
            producer.send("t", b"has room")
            assert future.add_both(lambda _: None) is future
        producer.flush(PATIENCE_S)
        assert future.get(PATIENCE_S).offset == 1


def test_a_finalizer_in_the_loop_thread_may_send_but_not_wait_for_memory(broker: EmbeddedBroker) -> None:
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers, buffer_memory=1_000, batch_size=1_000) as producer:
        producer.send("t", b"x").get(PATIENCE_S)
        rule = broker.faults.fail(NotEnoughReplicasError, api="Produce")
        outcomes: list[Any] = []

        def finalize() -> None:
            outcomes.append(producer.send("t", bytes(500)))
            try:
                producer.send("t", bytes(900))
            except Exception as error:
                outcomes.append(error)
            done.set()

        done = threading.Event()
        producer._runner.thread.call(finalize)
        in_time = done.wait(PATIENCE_S)
        rule.remove()
        assert in_time
        assert outcomes[0].get(PATIENCE_S).topic == "t"
        assert isinstance(outcomes[1], IllegalStateError)
        assert "loop's own thread" in str(outcomes[1])


_PROGRAM = """
import signal, sys
from kafka import KafkaProducer

producer = KafkaProducer(bootstrap_servers=sys.argv[1], batch_size=300, buffer_memory=1 << 30, linger_ms=5)
futures = []

def handle(number, frame):
    futures.append(producer.send("signals", b"from the handler"))

producer.send("signals", b"first").get(30)
signal.signal(signal.SIGALRM, handle)
signal.setitimer(signal.ITIMER_REAL, 0.0002, 0.0002)
sent = 0
while len(futures) < 300:
    producer.send("signals", b"x" * 100)
    sent += 1
signal.setitimer(signal.ITIMER_REAL, 0)
producer.flush()
assert all(future.succeeded() for future in futures)
producer.close()
print(1 + sent + len(futures))
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no such signals here")
def test_a_program_with_a_sending_signal_handler_continues(broker: EmbeddedBroker) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, broker.bootstrap_servers],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.stderr, done.returncode) == ("", 0)
    assert int(done.stdout) > 300


def test_interruption_points_are_found(loop: asyncio.AbstractEventLoop) -> None:
    looks = Signal(NEVER, lambda: None)
    with looks:
        NumberedSends(loop).send(1)
    assert looks.looks > 5
