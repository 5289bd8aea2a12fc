"""`SimpleProducer` and `KeyedProducer`: partitions, checks, and sending in the background."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import pytest

from kafka import KeyedProducer, SimpleProducer, producer
from kafka.broker import EmbeddedBroker
from kafka.client import SimpleClient
from kafka.common import (
    AsyncProducerQueueFull,
    FailedPayloadsError,
    FetchRequestPayload,
    ForkedClientError,
    IllegalStateError,
    InvalidTopicError,
    LeaderNotAvailableError,
    MessageSizeTooLargeError,
    ProduceRequestPayload,
    ProduceResponsePayload,
    RequestTimedOutError,
    UnsupportedCodecError,
)
from kafka.legacy.producers import background
from kafka.legacy.protocol.message_sets import create_message_set
from kafka.net import LoopThread
from kafka.partitioner import Murmur2Partitioner, RoundRobinPartitioner
from kafka.producer.base import Producer
from kafka.protocol import CODEC_GZIP

pytestmark = pytest.mark.filterwarnings("ignore:.* is deprecated:DeprecationWarning")

TOPIC = "topic"
BACKGROUND = {"async_send": True, "batch_send_every_t": 600, "async_retry_backoff_ms": 1}


@pytest.fixture(scope="module")
def broker() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(num_partitions=3) as broker:
        yield broker


@pytest.fixture
def client(broker: EmbeddedBroker) -> Iterator[SimpleClient]:
    client = SimpleClient(broker.bootstrap_servers, timeout=10)
    yield client
    client.close()


class Recorder:
    """A client that records requests, and returns the prepared responses."""

    def __init__(self) -> None:
        self.sent: list[list[bytes | None]] = []
        self.outcomes: list[Callable[[Any], Any]] = []
        self.asked = threading.Semaphore(0)
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.refreshed = 0

    def copy(self) -> Recorder:
        return self

    def reinit(self) -> None:
        pass

    close = reinit

    def has_metadata_for_topic(self, topic: Any) -> bool:
        return topic == TOPIC

    def ensure_topic_exists(self, topic: str) -> None:
        raise InvalidTopicError(topic)

    def get_partition_ids_for_topic(self, topic: str) -> list[int]:
        return [0, 1, 2]

    def load_metadata_for_topics(self, *topics: str) -> None:
        self.refreshed += 1

    def send_produce_request(self, payloads: list[Any], acks: int, timeout: int, fail_on_error: bool) -> list[Any]:
        self.asked.release()
        self.may_answer.wait()
        self.sent += [[message.value for message in payload.messages] for payload in payloads]
        outcome = self.outcomes.pop(0) if self.outcomes else None
        return [outcome(payload) if outcome else _written(payload) for payload in payloads]


def _written(payload: ProduceRequestPayload) -> ProduceResponsePayload:
    return ProduceResponsePayload(payload.topic, payload.partition, 0, 0)


def refused(error: Any) -> Callable[[Any], Any]:
    return lambda payload: ProduceResponsePayload(payload.topic, payload.partition, error.errno, -1)


def values(client: SimpleClient, topic: str) -> dict[int, list[bytes]]:
    """Return the messages in the partitions of a topic."""
    asked = [FetchRequestPayload(topic, n, 0, 1 << 20) for n in client.get_partition_ids_for_topic(topic)]
    found = client.send_fetch_request(asked, max_wait_time=1)
    return {each.partition: [message.message.value for message in each.messages] for each in found}


def test_a_topic_is_created_and_its_partitions_alternate(client: SimpleClient) -> None:
    sender = SimpleProducer(client, random_start=False)
    for number in range(4):
        ((topic, partition, error, _),) = sender.send_messages("round", b"%d" % number)
        assert (topic, partition, error) == ("round", number % 3, 0)
    assert values(client, "round") == {0: [b"0", b"3"], 1: [b"1"], 2: [b"2"]}


def test_the_first_partition_is_random(client: SimpleClient) -> None:
    client.ensure_topic_exists("any")
    first = {SimpleProducer(client)._next_partition("any") for _ in range(100)}
    assert first == {0, 1, 2}


def test_invalid_messages_are_rejected() -> None:
    simple, keyed = SimpleProducer(Recorder()), KeyedProducer(Recorder(), partitioner=Murmur2Partitioner)
    with pytest.raises(TypeError, match="all produce message payloads must be null or type bytes"):
        simple.send_messages(TOPIC, "text")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="can't be null in one"):
        simple.send_messages(TOPIC, None)
    with pytest.raises(TypeError, match="the key must be type bytes"):
        keyed.send_messages(TOPIC, "key", b"value")
    with pytest.raises(UnsupportedCodecError, match="Codec 0x09 unsupported"):
        SimpleProducer(Recorder(), codec=9)
    with pytest.raises(TypeError, match="unexpected keyword argument 'acks'"):
        SimpleProducer(Recorder(), acks=1)
    with pytest.raises(AssertionError):
        SimpleProducer(Recorder(), async_send=True, batch_send_every_n=0)


@pytest.mark.parametrize("partitioner", [None, Murmur2Partitioner, RoundRobinPartitioner])
def test_a_partitioner_chooses(client: SimpleClient, partitioner: Any) -> None:
    client.ensure_topic_exists("keys")
    sender = KeyedProducer(client, **({"partitioner": partitioner} if partitioner else {}))
    (answer,) = sender.send_messages("keys", b"key", b"value", None)
    assert answer.error == 0
    with pytest.warns(DeprecationWarning, match="send is deprecated in favor of send_messages"):
        (again,) = sender.send("keys", b"key", b"value")
    assert (again.partition == answer.partition) is (partitioner is not RoundRobinPartitioner)


def test_errors_are_raised_or_returned(broker: EmbeddedBroker, client: SimpleClient) -> None:
    client.ensure_topic_exists("errors")
    broker.faults.fail(MessageSizeTooLargeError, api="Produce", times=2)
    with pytest.raises(MessageSizeTooLargeError):
        Producer(client).send_messages("errors", 0, b"value")
    (answer,) = Producer(client, sync_fail_on_error=False).send_messages("errors", 0, b"value")
    assert answer.error == MessageSizeTooLargeError.errno


@pytest.mark.parametrize("options", [{"async_send": True}, {"async": True}, {"batch_send": True}])
def test_three_names_for_background_sending(options: dict[str, Any]) -> None:
    sender = SimpleProducer(Recorder(), **options)
    assert sender.async_send
    assert getattr(sender, "async")
    assert sender.thread.daemon
    sender.stop()
    assert not sender.thread.is_alive()
    assert sender.stopped


def test_a_batch_is_sent_when_it_is_full() -> None:
    client = Recorder()
    sender = Producer(client, **BACKGROUND, batch_send_every_n=3)
    for number in range(7):
        assert sender.send_messages(TOPIC, 0, b"%d" % number) == []
    for _ in range(2):
        assert client.asked.acquire(timeout=10)
    sender.stop()
    assert client.sent == [[b"0", b"1", b"2"], [b"3", b"4", b"5"], [b"6"]]


def test_a_batch_is_sent_after_its_time() -> None:
    client = Recorder()
    sender = Producer(client, async_send=True, batch_send_every_n=1000, batch_send_every_t=0.01)
    sender.send_messages(TOPIC, 0, b"alone")
    assert client.asked.acquire(timeout=10)
    sender.stop()
    assert client.sent == [[b"alone"]]


def test_messages_that_cannot_be_encoded_do_not_end_the_thread(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def encode(pairs: Any, *rest: Any) -> Any:
        if pairs[0][0] == b"odd":
            raise MemoryError
        return create_message_set(pairs, *rest)

    monkeypatch.setattr(background, "create_message_set", encode)
    client = Recorder()
    sender = Producer(client, async_send=True, batch_send_every_n=1)
    sender.send_messages(TOPIC, 0, b"odd")
    sender.send_messages(TOPIC, 0, b"even")
    assert client.asked.acquire(timeout=10)
    sender.stop()
    assert client.sent == [[b"even"]]
    assert f"1 messages to {TOPIC}:0 could not be encoded, and were dropped" in caplog.text


def test_a_batch_has_one_message_set_per_partition(client: SimpleClient) -> None:
    client.ensure_topic_exists("batch")
    sender = KeyedProducer(client, **BACKGROUND, codec=CODEC_GZIP, partitioner=Murmur2Partitioner)
    for number in range(30):
        sender.send_messages("batch", b"%d" % number, b"value %d" % number)
    sender.stop()
    assert sorted(value for each in values(client, "batch").values() for value in each) == sorted(
        b"value %d" % number for number in range(30)
    )


def test_failed_messages_are_retried_before_newer_ones(caplog: pytest.LogCaptureFixture) -> None:
    client = Recorder()
    client.outcomes = [refused(LeaderNotAvailableError), FailedPayloadsError, refused(RequestTimedOutError)]
    sender = Producer(client, **BACKGROUND, batch_send_every_n=1)
    sender.send_messages(TOPIC, 0, b"first", b"second")
    sender.stop()
    assert client.sent == [[b"first"]] * 4 + [[b"second"]]
    assert client.refreshed == 1
    assert "LeaderNotAvailableError sending ProduceRequestPayload (#1 of 1) to topic:0 with msgs" in caplog.text
    assert "b'first'" in caplog.text


@pytest.mark.parametrize(
    ("options", "error", "tries"),
    [
        ({"async_retry_limit": 2}, LeaderNotAvailableError, 3),
        ({"async_retry_on_timeouts": False}, RequestTimedOutError, 1),
        ({}, MessageSizeTooLargeError, 1),
    ],
)
def test_messages_that_are_not_retried(
    options: dict[str, Any], error: Any, tries: int, caplog: pytest.LogCaptureFixture
) -> None:
    client = Recorder()
    client.outcomes = [refused(error)] * 10
    sender = Producer(client, **BACKGROUND, **options, async_log_messages_on_error=False)
    sender.send_messages(TOPIC, 0, b"secret")
    sender.stop()
    assert client.sent == [[b"secret"]] * tries
    assert "secret" not in caplog.text


def test_an_unauthorized_topic_does_not_delay_others(client: SimpleClient) -> None:
    client.ensure_topic_exists("good")
    sender = Producer(client, **BACKGROUND)
    sender.send_messages("no such: name", 0, b"lost")
    sender.send_messages("good", 0, b"value")
    sender.stop()
    assert values(client, "good")[0] == [b"value"]


def test_a_full_queue_returns_messages_that_do_not_fit() -> None:
    client = Recorder()
    client.may_answer.clear()
    sender = Producer(client, **BACKGROUND, batch_send_every_n=1, async_queue_maxsize=2, async_queue_put_timeout=0)
    sender.send_messages(TOPIC, 0, b"0")
    assert client.asked.acquire(timeout=10)  # the thread is waiting for the response
    with pytest.raises(AsyncProducerQueueFull, match="Current queue size 2") as caught:
        sender.send_messages(TOPIC, 0, b"1", b"2", b"3", b"4")
    assert caught.value.failed_msgs == (b"3", b"4")
    client.may_answer.set()
    sender.stop()
    assert client.sent == [[b"0"], [b"1"], [b"2"]]


@pytest.mark.parametrize("timeout", [60, None])
def test_waiting_for_space_in_the_queue(timeout: float | None) -> None:
    options = {**BACKGROUND, "batch_send_every_n": 1, "async_queue_maxsize": 1, "async_queue_put_timeout": timeout}
    sender = Producer(Recorder(), **options)
    for number in range(50):
        sender.send_messages(TOPIC, 0, b"%d" % number)
    sender.stop()
    assert sender.client.sent == [[b"%d" % number] for number in range(50)]


def test_stop_ends_a_wait_for_space_in_the_queue() -> None:
    """The signal interrupts the thread that waits, like the main thread of a program."""
    client = Recorder()
    client.may_answer.clear()
    sender = Producer(client, **BACKGROUND, batch_send_every_n=1, async_queue_maxsize=1, async_queue_put_timeout=60)
    sender.send_messages(TOPIC, 0, b"0")
    assert client.asked.acquire(timeout=10)  # the thread is waiting for the response
    stopped = threading.Event()

    def stop(*_: object) -> None:
        client.may_answer.set()
        sender.stop()
        stopped.set()

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(IllegalStateError, match="the producer is stopped"):
            sender.send_messages(TOPIC, 0, b"1", b"2")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert stopped.is_set()
    assert client.sent == [[b"0"], [b"1"]]


def test_stop_at_any_line_of_send_messages() -> None:
    """As from a signal handler: messages that `send_messages` has accepted are sent, others are rejected."""
    outcomes = []
    for line in range(1, 1_000):
        client = Recorder()
        sender = Producer(client, **BACKGROUND, batch_send_every_n=1)
        left = line

        def trace(frame: FrameType, event: str, _: object, sender: Producer = sender) -> Any:
            nonlocal left
            if not re.search(r"producers\W\w+[.]py$|\Wqueue[.]py$", frame.f_code.co_filename):
                return None
            left -= event == "line"
            if left == 0:
                sender.stop()
            return trace

        failure = None
        try:
            sys.settrace(trace)
            sender.send_messages(TOPIC, 0, b"0")
        except IllegalStateError as error:
            failure = str(error)
        finally:
            sys.settrace(None)
        if left > 0:
            sender.stop()
        assert failure in (None, "the producer is stopped")
        assert client.sent == ([] if failure else [[b"0"]])
        outcomes.append(failure)
        if left > 0:
            break
    assert len(set(outcomes)) == 2


def test_stop_times_out(caplog: pytest.LogCaptureFixture) -> None:
    client = Recorder()
    client.outcomes = [FailedPayloadsError] * 1_000_000
    sender = Producer(client, **BACKGROUND, async_stop_timeout=0.01, batch_send_every_n=1)
    sender.send_messages(TOPIC, 0, b"first", b"second")
    sender.stop()
    assert "Stopped producer with 2 unsent messages" in caplog.text
    with pytest.raises(IllegalStateError, match="the producer is stopped"):
        sender.send_messages(TOPIC, 0, b"third")
    sender.stop()
    assert "producer is already stopped" in caplog.text


def test_all_messages_are_sent_after_a_broker_restart(broker: EmbeddedBroker, client: SimpleClient) -> None:
    client.ensure_topic_exists("outage")
    rule = broker.faults.hang_up(api="Produce", times=3)
    sender = Producer(client, **BACKGROUND, batch_send_every_n=1)
    for number in range(5):
        sender.send_messages("outage", 0, b"%d" % number)
    sender.stop()
    assert rule.hits == 3
    assert values(client, "outage")[0] == [b"%d" % number for number in range(5)]


def test_an_unreferenced_producer_sends_waiting_messages(client: SimpleClient) -> None:
    client.ensure_topic_exists("collected")
    sender = Producer(client, **BACKGROUND)
    sender.send_messages("collected", 0, b"value")
    thread = sender.thread
    held = [sender]
    del sender

    async def collect() -> None:  # as the garbage collector may do, on the loop that the thread needs
        held.clear()

    LoopThread.shared().run(collect(), 20)
    thread.join(timeout=20)
    assert not thread.is_alive()
    assert values(client, "collected")[0] == [b"value"]


@pytest.mark.slow
def test_the_process_waits_for_messages_at_exit(broker: EmbeddedBroker, client: SimpleClient) -> None:
    client.ensure_topic_exists("exit")
    program = (
        "from kafka import SimpleClient, SimpleProducer\n"
        f"client = SimpleClient('{broker.bootstrap_servers}')\n"
        "producer = SimpleProducer(client, async_send=True, batch_send_every_t=600)\n"
        "producer.send_messages('exit', b'value')\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
    assert sorted(values(client, "exit").values()) == [[], [], [b"value"]]


@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
def test_a_forked_child_cannot_add_messages_to_the_parents_queue() -> None:
    client = Recorder()
    sender = Producer(client, **BACKGROUND)
    sender.send_messages(TOPIC, 0, b"value")
    child = os.fork()
    if not child:
        status = 1
        try:
            sender.send_messages(TOPIC, 0, b"lost")
        except ForkedClientError:
            sender.stop()
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    sender.stop()
    assert client.sent == [[b"value"]]


def test_stop_of_a_synchronous_producer(caplog: pytest.LogCaptureFixture) -> None:
    sender = SimpleProducer(Recorder())
    sender.stop(timeout=1)
    assert "timeout argument to stop() is deprecated" in caplog.text
    assert "producer is not async" in caplog.text


@pytest.mark.parametrize("kind", [Producer, SimpleProducer, KeyedProducer])
def test_they_warn_when_created(kind: Any) -> None:
    with pytest.warns(DeprecationWarning, match=f"{kind.__name__} is deprecated: use kafka.KafkaProducer") as caught:
        kind(Recorder())
    assert caught[0].filename == __file__


def test_old_attribute_names() -> None:
    assert producer.SimpleProducer is SimpleProducer
    assert repr(SimpleProducer(Recorder())) == "<SimpleProducer batch=False>"
    assert repr(KeyedProducer(Recorder())) == "<KeyedProducer batch=False>"


def test_the_default_partitioner_is_the_hashed_one() -> None:
    by_default, by_none = KeyedProducer(Recorder()), KeyedProducer(Recorder(), partitioner=None)
    assert by_none.partitioner_class is by_default.partitioner_class
