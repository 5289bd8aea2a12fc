"""`MultiProcessConsumer`: its processes read messages, pass them on as requested, and end with their parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kafka import MultiProcessConsumer, SimpleClient, SimpleConsumer, create_message
from kafka.broker import EmbeddedBroker
from kafka.common import KafkaError, OffsetAndMessage, ProduceRequestPayload

TOPIC = "topic"
MakeConsumer = Callable[..., MultiProcessConsumer]
pytestmark = pytest.mark.filterwarnings("ignore:.*deprecated:DeprecationWarning")


@pytest.fixture
def partitions() -> int:
    return 3


@pytest.fixture
def make(client: SimpleClient) -> Iterator[MakeConsumer]:
    made = []

    def make(**options: Any) -> MultiProcessConsumer:
        made.append(MultiProcessConsumer(client, "group", TOPIC, **{"auto_commit": False, **options}))
        return made[-1]

    yield make
    for each in made:
        each.stop()
        assert not any(process.is_alive() for process in each.procs)


def send(client: SimpleClient, *values: bytes, partition: int = 0) -> None:
    messages = [create_message(value, b"key") for value in values]
    client.send_produce_request([ProduceRequestPayload(TOPIC, partition, messages)])


def values(messages: Any) -> list[bytes]:
    return sorted(each.message.value for each in messages)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "processes"),
    [({}, 1), ({"num_procs": 2}, 2), ({"num_procs": 9}, 3), ({"partitions_per_proc": 2}, 2), ({"partitions": [1]}, 1)],
)
def test_partitions_are_divided_among_processes(
    client: SimpleClient, make: MakeConsumer, options: dict[str, Any], processes: int
) -> None:
    for partition in range(3):
        send(client, b"%d" % partition, partition=partition)
    consumer = make(**options)
    assert repr(consumer) == f"<MultiProcessConsumer group=group, topic=topic, consumers={processes}>"
    assert len({process.pid for process in consumer.procs} - {os.getpid()}) == processes
    expected = [b"1"] if "partitions" in options else [b"0", b"1", b"2"]
    assert values(consumer.get_messages(len(expected), timeout=None)) == expected
    assert consumer.pending() == 0


def test_messages_are_sent_on_request(client: SimpleClient, make: MakeConsumer) -> None:
    send(client, *(b"%d" % number for number in range(9)), partition=1)
    consumer = make()
    assert consumer.pending() == 9
    first, *_ = found = consumer.get_messages(4)
    assert (first.offset, first.message.key, first.message.value) == (0, b"key", b"0")
    consumer.provide_partition_info()
    found += [message for _, message in consumer.get_messages(3, block=1)]
    while len(found) < 9:
        ((partition, message),) = consumer.get_messages(1)
        assert partition == 1
        found.append(message)
    assert [each.offset for each in found] == list(range(9))
    assert consumer.get_messages(2, timeout=0.05) == []
    assert consumer.get_messages(2, block=False) == []
    assert consumer.offsets == {0: 0, 1: 9, 2: 0}


def test_get_messages_without_a_timeout_waits_forever(client: SimpleClient, make: MakeConsumer) -> None:
    consumer = make(num_procs=3)
    assert list(consumer) == []
    for partition in range(3):
        send(client, b"%d" % partition, partition=partition)
    assert values(consumer.get_messages(3, timeout=None)) == [b"0", b"1", b"2"]


def test_only_returned_messages_are_committed(client: SimpleClient, make: MakeConsumer) -> None:
    send(client, *[b"x"] * 9)
    consumer = make(auto_commit=True, auto_commit_every_n=4)
    consumer.get_messages(3)
    assert SimpleConsumer(client, "group", TOPIC, auto_commit=False).offsets[0] == 0
    for _, message in zip(range(2), consumer, strict=False):
        assert message.offset in (3, 4)
    assert SimpleConsumer(client, "group", TOPIC, auto_commit=False).offsets[0] in (4, 5)
    consumer.stop()
    rest = make()
    assert [each.offset for each in rest.get_messages(4)] == [5, 6, 7, 8]


def test_commit_by_number_of_messages(client: SimpleClient, make: MakeConsumer) -> None:
    send(client, *[b"x"] * 4)
    make(auto_commit=True, auto_commit_every_n=4).get_messages(4)
    assert SimpleConsumer(client, "group", TOPIC, auto_commit=False).offsets[0] == 4


def test_options_of_the_simple_consumers(client: SimpleClient, make: MakeConsumer) -> None:
    send(client, b"x" * 50_000)
    assert values(make(max_buffer_size=None, buffer_size=100).get_messages(1)) == [b"x" * 50_000]


def test_a_killed_process(client: SimpleClient, make: MakeConsumer, caplog: pytest.LogCaptureFixture) -> None:
    consumer = make(num_procs=2)
    os.kill(consumer.procs[0].pid, signal.SIGKILL)
    send(client, b"1", partition=1)
    assert values(consumer.get_messages(1)) == [b"1"]
    os.kill(consumer.procs[1].pid, signal.SIGKILL)
    with pytest.raises(KafkaError, match="all processes"):
        consumer.get_messages(1, timeout=None)
    assert f"process {consumer.procs[0].pid} of {consumer!r} has ended with exit code -9" in caplog.text


def test_messages_of_a_killed_process_are_returned(client: SimpleClient, make: MakeConsumer) -> None:
    send(client, *(b"%d" % number for number in range(3)))
    consumer = make()
    assert values(consumer.get_messages(1)) == [b"0"]
    received = consumer._receive

    def receive(timeout_s: float | None) -> bool:
        """Kill the process once its messages have arrived."""
        came = received(timeout_s)
        os.kill(consumer.procs[0].pid, signal.SIGKILL)
        return came

    consumer._receive = receive  # type: ignore[method-assign]
    assert values(consumer.get_messages(9, timeout=None)) == [b"1", b"2"]
    assert (consumer.offsets[0], consumer.count_since_commit) == (3, 3)
    with pytest.raises(KafkaError, match="all processes"):
        consumer.get_messages(9, timeout=None)


def test_messages_received_before_an_interrupt_are_returned_by_the_next_call(
    client: SimpleClient, make: MakeConsumer, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(client, b"0", b"1")
    consumer = make()
    received, calls = consumer._receive, []

    def receive(timeout_s: float | None) -> bool:
        calls.append(timeout_s)
        if len(calls) > 1:
            raise KeyboardInterrupt
        return received(timeout_s)

    with monkeypatch.context() as patch:
        patch.setattr(consumer, "_receive", receive)
        with pytest.raises(KeyboardInterrupt):
            consumer.get_messages(9, timeout=None)
    assert (consumer.offsets[0], consumer.count_since_commit) == (0, 0)
    assert values(consumer.get_messages(2)) == [b"0", b"1"]


@pytest.mark.parametrize("take", [lambda it: it.get_messages(2), lambda it: next(iter(it))], ids=["some", "one"])
def test_messages_whose_return_was_interrupted_are_returned_by_the_next_call(
    client: SimpleClient,
    make: MakeConsumer,
    monkeypatch: pytest.MonkeyPatch,
    take: Callable[[MultiProcessConsumer], Any],
) -> None:
    send(client, b"0", b"1")
    consumer = make(auto_commit=True, auto_commit_every_n=1)

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(client, "send_offset_commit_request", interrupted)
        with pytest.raises(KeyboardInterrupt):
            take(consumer)
    assert consumer.offsets[0] == 0
    assert values(consumer.get_messages(2)) == [b"0", b"1"]


def test_no_message_is_returned_after_messages_lost_by_an_interrupt(
    client: SimpleClient, make: MakeConsumer, caplog: pytest.LogCaptureFixture
) -> None:
    send(client, b"0")
    consumer = make()
    pipe = consumer._workers[0].pipe
    take = pipe.recv

    def interrupted() -> None:
        while not take():
            continue  # the process has found nothing yet
        raise KeyboardInterrupt

    pipe.recv = interrupted  # type: ignore[assignment]
    with pytest.raises(KeyboardInterrupt):
        consumer.get_messages(1)
    pipe.recv = take
    send(client, b"1")
    with pytest.raises(KafkaError, match="all processes of this consumer have ended: create a new one"):
        consumer.get_messages(1)
    assert (
        f"stopping process {consumer.procs[0].pid} of {consumer!r}: receiving its messages was interrupted"
        in caplog.text
    )
    assert values(make().get_messages(2)) == [b"0", b"1"]


def test_messages_received_before_an_interrupt_keep_their_order(
    make: MakeConsumer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(timeout_s: float | None) -> bool:
        raise KeyboardInterrupt

    consumer = make()
    came = [(0, OffsetAndMessage(offset, create_message(b"%d" % offset))) for offset in range(3)]
    consumer._received.extend(came)
    monkeypatch.setattr(consumer, "_receive", interrupt)
    with pytest.raises(KeyboardInterrupt):
        consumer.get_messages(9, timeout=None)
    assert list(consumer._received) == came


@pytest.mark.once
def test_no_duplicates_if_another_message_cannot_be_read(client: SimpleClient, make: MakeConsumer) -> None:
    """The process retries after a second; the group's offsets are still before the messages that it has passed on."""
    send(client, b"0", b"1", b"x" * 50_000)
    consumer = make(partitions=[0])
    assert values(consumer.get_messages(2)) == [b"0", b"1"]
    assert consumer.get_messages(1, timeout=3) == []


PARENT = """
import os, sys, warnings
warnings.simplefilter("ignore")
from kafka import MultiProcessConsumer, SimpleClient
consumer = MultiProcessConsumer(SimpleClient(sys.argv[1]), "group", "topic", num_procs=3)
print(len(consumer.get_messages(1, timeout=None)), flush=True)
if sys.argv[2] == "stop":
    consumer.stop()
elif sys.argv[2] == "fork" and os.fork() == 0:
    os.close(1)  # this child keeps the pipes to the processes, and not their output
    sys.stdin.read()
    os._exit(0)
if sys.argv[2] in ("kill", "fork"):
    print("ready", flush=True)
    sys.stdin.read()
"""


@pytest.mark.slow
@pytest.mark.parametrize("end", ["stop", "exit", "kill", "fork"])
def test_all_processes_end(broker: EmbeddedBroker, client: SimpleClient, end: str) -> None:
    """All processes share a pipe for their output, which ends when the last of them ends."""
    send(client, b"0")
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, broker.bootstrap_servers, end],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert parent.stdout is not None
    assert parent.stdin is not None
    assert parent.stdout.readline() == b"1\n"
    if end in ("kill", "fork"):
        assert parent.stdout.readline() == b"ready\n"
        os.kill(parent.pid, signal.SIGKILL)
    patience = threading.Timer(60, os.killpg, (parent.pid, signal.SIGKILL))
    patience.start()
    rest = parent.stdout.read()
    assert (rest, patience.is_alive()) == (b"", True)
    patience.cancel()
    parent.stdin.close()
    parent.stdout.close()
    assert parent.wait() == (-signal.SIGKILL if end in ("kill", "fork") else 0)
