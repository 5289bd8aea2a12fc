"""`SimpleConsumer`: positions, waiting, commits and failures."""

from __future__ import annotations

import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kafka import KafkaConsumer, SimpleClient, SimpleConsumer, create_message
from kafka.broker import EmbeddedBroker
from kafka.common import (
    ConsumerFetchSizeTooSmall,
    FailedPayloadsError,
    FetchResponsePayload,
    KafkaError,
    NotLeaderForPartitionError,
    OffsetAndMessage,
    OffsetOutOfRangeError,
    ProduceRequestPayload,
    UnknownTopicOrPartitionError,
)
from kafka.consumer.base import Consumer
from kafka.consumer.simple import FetchContext
from kafka.structs import OffsetAndMetadata, TopicPartition

TOPIC = "topic"
MakeConsumer = Callable[..., SimpleConsumer]
pytestmark = pytest.mark.filterwarnings("ignore:.*deprecated.*:DeprecationWarning")


@pytest.fixture
def partitions() -> int:
    return 2


@pytest.fixture
def make(client: SimpleClient) -> Iterator[MakeConsumer]:
    made = []

    def make(group: str | None = "group", **options: Any) -> SimpleConsumer:
        made.append(SimpleConsumer(client, group, TOPIC, **{"auto_commit": False, "iter_timeout": 0, **options}))
        return made[-1]

    yield make
    for each in made:
        each.stop()


def send(client: SimpleClient, *values: bytes, partition: int = 0) -> None:
    for value in values:  # one batch each
        client.send_produce_request([ProduceRequestPayload(TOPIC, partition, [create_message(value)])])


def values(messages: Any) -> list[bytes]:
    return [each.message.value for each in messages]


def committed(client: SimpleClient, group: str = "group") -> dict[int, int]:
    consumer = SimpleConsumer(client, group, TOPIC, auto_commit=False)
    consumer.stop()
    return consumer.offsets


@pytest.mark.once
def test_iteration_ends_without_messages_for_iter_timeout(client: SimpleClient, make: MakeConsumer) -> None:
    send(client, b"0", b"1")
    send(client, b"2", partition=1)
    consumer = make()
    assert sorted(values(consumer)) == [b"0", b"1", b"2"]
    assert consumer.offsets == {0: 2, 1: 1}
    assert list(consumer) == []


def test_messages_with_partition_info(client: SimpleClient, make: MakeConsumer) -> None:
    send(client, b"0", partition=1)
    consumer = make()
    message = consumer.get_message()
    assert (message.offset, message.message.key, message.message.value) == (0, None, b"0")
    consumer.seek(0)
    assert consumer.get_message(get_partition_info=True) == (1, message)
    consumer.provide_partition_info()
    consumer.seek(0)
    assert consumer.get_messages(1) == [(1, message)]
    consumer.seek(0)
    assert consumer.get_message(get_partition_info=False) == message


@pytest.mark.parametrize(("block", "count"), [(True, 5), (False, 5), (2, 5), (True, 2)])
def test_get_messages(client: SimpleClient, make: MakeConsumer, block: bool | int, count: int) -> None:
    send(client, b"0", b"1", b"2")
    expected = [b"0", b"1", b"2"][:count]
    assert values(make(partitions=[0]).get_messages(count, block, timeout=0.05)) == expected


def test_get_messages_without_a_timeout_waits_forever(client: SimpleClient, make: MakeConsumer) -> None:
    consumer = make()
    assert consumer.get_message(block=False) is None
    sender = threading.Timer(0.05, send, (client, b"late"))
    sender.start()
    assert values(consumer.get_messages(1, timeout=None)) == [b"late"]
    sender.join()


def test_sending_does_not_wait_for_a_fetch(client: SimpleClient, make: MakeConsumer) -> None:
    """The fetch waits for a message for ten seconds. If sending had to wait for the fetch, neither would finish."""
    consumer = make(iter_timeout=10)
    client.timeout = None
    sender = threading.Timer(0.05, send, (client, b"late"))
    sender.start()
    assert values([next(iter(consumer))]) == [b"late"]
    sender.join()


def test_no_messages(make: MakeConsumer) -> None:
    consumer = make()
    assert consumer.get_message(block=False) is None
    assert consumer.get_message(timeout=0.01) is None
    assert consumer.get_messages(3, block=False) == []


@pytest.mark.parametrize(
    ("seek", "offsets"),
    [
        ((3,), {0: 3, 1: 3}),
        ((3, None, 1), {0: 2, 1: 3}),
        ((1, 0), {0: 1, 1: 0}),
        ((3, 0, 0), {0: 3, 1: 2}),
        ((-1, 1), {0: 1, 1: 1}),
        ((2, 1, 1), {0: 2, 1: 4}),
        ((0, 2), {0: 5, 1: 5}),
        ((-3, 2), {0: 4, 1: 3}),
        ((-1, 2, 1), {0: 2, 1: 4}),
    ],
)
def test_seek(client: SimpleClient, make: MakeConsumer, seek: tuple[Any, ...], offsets: dict[int, int]) -> None:
    """The offsets are the results of kafka-python 1.0.2, starting at offset 2 of partitions with 5 messages."""
    for partition in (0, 1):
        send(client, *(b"%d" % number for number in range(5)), partition=partition)
    consumer = make()
    consumer.seek(2)
    consumer.get_message()
    consumer.seek(2)
    consumer.seek(*seek)
    assert consumer.offsets == offsets
    found = consumer.get_messages(10, timeout=0.05)
    assert len(found) == sum(5 - each for each in offsets.values())
    with pytest.raises(ValueError, match=r"whence.*7"):
        consumer.seek(0, 7)


def test_seek_commits_if_auto_commit_is_on(client: SimpleClient, make: MakeConsumer) -> None:
    send(client, b"0", b"1")
    make(auto_commit=True).seek(1, partition=0)
    assert committed(client) == {0: 1, 1: 0}


def test_pending(client: SimpleClient, make: MakeConsumer) -> None:
    send(client, b"0", b"1")
    send(client, b"2", partition=1)
    consumer = make()
    assert (consumer.pending(), consumer.pending([0]), consumer.pending(partitions=[1])) == (3, 2, 1)
    consumer.get_messages(3)
    assert consumer.pending() == 0


def test_offsets_are_shared_with_current_consumers_of_the_group(
    broker: EmbeddedBroker, client: SimpleClient, make: MakeConsumer
) -> None:
    send(client, b"0", b"1", b"2")
    consumer = make(partitions=[0])
    assert consumer.commit() is None
    consumer.get_messages(2)
    assert consumer.commit() is True
    assert consumer.commit() is None
    with KafkaConsumer(bootstrap_servers=broker.bootstrap_servers, group_id="group") as today:
        assert today.committed(TopicPartition(TOPIC, 0)) == 2
        today.assign([TopicPartition(TOPIC, 0)])
        today.commit({TopicPartition(TOPIC, 0): OffsetAndMetadata(1, "")})
    consumer.fetch_last_known_offsets()
    assert consumer.offsets == {0: 1, 1: 0}
    assert make().offsets == {0: 1, 1: 0}


def test_commits_by_number_of_messages(client: SimpleClient, make: MakeConsumer) -> None:
    send(client, *[b"x"] * 5)
    consumer = make(auto_commit=True, auto_commit_every_n=3, auto_commit_every_t=None)
    consumer.get_message()
    consumer.get_message()
    assert committed(client) == {0: 0, 1: 0}
    consumer.get_message()
    assert committed(client) == {0: 3, 1: 0}
    consumer.get_messages(2)
    consumer.stop()
    assert committed(client) == {0: 3, 1: 0}


def test_commits_by_time_and_in_stop(client: SimpleClient, make: MakeConsumer) -> None:
    send(client, *[b"x"] * 3)
    consumer = make(auto_commit=True, auto_commit_every_n=None, auto_commit_every_t=10)
    consumer.get_messages(2)
    waiting = threading.Event()
    while consumer.count_since_commit:
        waiting.wait(0.01)
    assert committed(client) == {0: 2, 1: 0}
    consumer.stop()
    other = make(auto_commit=True, auto_commit_every_t=3_600_000)
    other.get_message()
    other.stop()
    other.stop()
    assert committed(client) == {0: 3, 1: 0}


@pytest.mark.parametrize("by_hand", [False, True])
def test_a_commit_restarts_the_message_count(client: SimpleClient, make: MakeConsumer, by_hand: bool) -> None:
    """Both for explicit commits and for commits by time."""
    send(client, *[b"x"] * 5)
    every_t = 3_600_000 if by_hand else 10
    consumer = make(auto_commit=True, auto_commit_every_n=3, auto_commit_every_t=every_t)
    consumer.get_messages(2)
    if by_hand:
        assert consumer.commit() is True
    waiting = threading.Event()
    while consumer.count_since_commit:
        waiting.wait(0.01)
    assert committed(client) == {0: 2, 1: 0}
    if by_hand:
        consumer.get_messages(2)
        assert (consumer.count_since_commit, committed(client)[0]) == (2, 2)
        consumer.get_message()
        assert (consumer.count_since_commit, committed(client)[0]) == (0, 5)


def test_commit_of_selected_partitions(client: SimpleClient, make: MakeConsumer) -> None:
    send(client, b"0")
    send(client, b"1", partition=1)
    consumer = make()
    consumer.get_messages(2)
    assert consumer.commit([1]) is True
    assert committed(client) == {0: 0, 1: 1}


def test_failed_commit(
    broker: EmbeddedBroker, client: SimpleClient, make: MakeConsumer, caplog: pytest.LogCaptureFixture
) -> None:
    send(client, b"0")
    consumer = make()
    consumer.get_messages(1)
    rule = broker.faults.fail(30, api="OffsetCommit")
    assert consumer.commit() is False
    assert "GroupAuthorizationFailedError saving offsets" in caplog.text
    rule.remove()
    assert consumer.commit() is True


def test_without_a_group(client: SimpleClient, make: MakeConsumer) -> None:
    send(client, b"0")
    consumer = make(None, auto_commit=True, auto_commit_every_n=1)
    assert consumer.offsets == {0: 0, 1: 0}
    assert values(consumer.get_messages(1)) == [b"0"]
    assert consumer.commit() is None
    with pytest.raises(ValueError, match="group"):
        consumer.fetch_last_known_offsets()


def test_a_message_larger_than_the_maximum_buffer_size(client: SimpleClient, make: MakeConsumer) -> None:
    large = b"x" * 40_000
    send(client, b"small", large, b"after")
    consumer = make(partitions=[0])
    assert values(consumer.get_messages(1)) == [b"small"]
    for _ in range(2):
        with pytest.raises(ConsumerFetchSizeTooSmall, match=r"offset 1 has 40026 bytes, max_buffer_size is 32768"):
            consumer.get_message()
    for limit in (None, 40_026):
        consumer = make(partitions=[0], max_buffer_size=limit)
        assert values(consumer.get_messages(3, timeout=None)) == [b"small", large, b"after"]
    with pytest.raises(ValueError, match="greater than max_buffer_size"):
        make(buffer_size=40_000)


def test_messages_before_an_error_or_an_interrupt_are_not_lost(
    client: SimpleClient, make: MakeConsumer, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(client, b"0", b"1", b"x" * 40_000)
    consumer = make(partitions=[0])
    taken = consumer._next_message

    def interrupted(block: Any, timeout: Any) -> Any:
        if consumer.queue.empty() and consumer.fetch_offsets[0]:
            raise KeyboardInterrupt
        return taken(block, timeout)

    monkeypatch.setattr(consumer, "_next_message", interrupted)
    with pytest.raises(KeyboardInterrupt):
        consumer.get_messages(3)
    monkeypatch.undo()
    assert values(consumer.get_messages(3)) == [b"0", b"1"]
    with pytest.raises(ConsumerFetchSizeTooSmall):
        consumer.get_messages(3)


@pytest.mark.parametrize("is_sent", [True, False])
@pytest.mark.parametrize("take", [lambda it: it.get_messages(2), lambda it: [it.get_message()]], ids=["some", "one"])
def test_messages_are_not_lost_if_an_interrupt_prevents_their_return(
    client: SimpleClient,
    make: MakeConsumer,
    monkeypatch: pytest.MonkeyPatch,
    is_sent: bool,
    take: Callable[[SimpleConsumer], list[Any]],
) -> None:
    send(client, b"0", b"1")
    consumer = make(partitions=[0], auto_commit=True, auto_commit_every_n=1, auto_commit_every_t=600_000)
    commit = client.send_offset_commit_request

    def interrupted(*args: Any) -> None:
        if is_sent:
            commit(*args)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(client, "send_offset_commit_request", interrupted)
        with pytest.raises(KeyboardInterrupt):
            take(consumer)
    consumer.stop()
    assert committed(client)[0] == 0
    assert values(consumer.get_messages(2)) == [b"0", b"1"]


def test_the_buffer_grows_for_a_partition_after_another(
    client: SimpleClient, make: MakeConsumer, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(client, *[b"x" * 3000] * 4)
    send(client, b"y" * 20_000, partition=1)
    consumer = make(buffer_size=1000)
    asked: list[list[tuple[int, int]]] = []
    original = client.send_fetch_request

    def spy(payloads: Any, **options: Any) -> Any:
        asked.append([(each.partition, each.max_bytes) for each in payloads])
        return original(payloads, **options)

    monkeypatch.setattr(client, "send_fetch_request", spy)
    found = consumer.get_messages(5, timeout=60)
    assert [len(each.message.value) for each in found] == [3000, 20_000, 3000, 3000, 3000]
    assert asked[:2] == [[(0, 1000), (1, 1000)], [(1, 2000)]]
    assert [partition for partition, _ in asked[2]] == [1, 0]


def answering(client: SimpleClient, monkeypatch: pytest.MonkeyPatch, answers: list[Any]) -> None:
    monkeypatch.setattr(client, "send_fetch_request", lambda payloads, **_: [answers.pop(0)(each) for each in payloads])


def test_a_broker_that_truncates_messages(
    client: SimpleClient, make: MakeConsumer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Brokers before 0.10.1 return nothing of a message that is too large."""
    sizes: list[int] = []

    def cut(payload: Any) -> Any:
        sizes.append(payload.max_bytes)
        return FetchResponsePayload(TOPIC, 0, 0, 5, [])

    answering(client, monkeypatch, [cut] * 9)
    with pytest.raises(ConsumerFetchSizeTooSmall, match="32768"):
        make(partitions=[0]).get_message()
    assert sizes == [4096, 8192, 16384, 32768]


def test_a_request_without_a_response_is_retried(
    broker: EmbeddedBroker, client: SimpleClient, make: MakeConsumer
) -> None:
    send(client, b"0")
    broker.faults.hang_up(api="Fetch", times=1)
    assert values([make(partitions=[0]).get_message(block=False)]) == [b"0"]


def test_missing_responses_end_a_call(
    client: SimpleClient, make: MakeConsumer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kafka.legacy.consumer.simple.NO_MESSAGES_WAIT_TIME_SECONDS", 0)
    answering(client, monkeypatch, [FailedPayloadsError] * 6)
    consumer = make()
    assert consumer.get_messages(1, block=False) == []


def test_moved_leader_and_deleted_topic(broker: EmbeddedBroker, client: SimpleClient, make: MakeConsumer) -> None:
    send(client, b"0")
    consumer = make(partitions=[0])
    broker.faults.fail(NotLeaderForPartitionError, api="Fetch", times=1)
    assert values([consumer.get_message(timeout=5)]) == [b"0"]
    broker.faults.fail(UnknownTopicOrPartitionError, api="Fetch", times=1)
    with pytest.raises(UnknownTopicOrPartitionError):
        consumer.get_message()
    with pytest.raises(UnknownTopicOrPartitionError):
        make(None, partitions=[7]).get_message()


@pytest.mark.parametrize(("reset", "offset"), [("largest", 2), ("smallest", 0)])
def test_offset_out_of_range(client: SimpleClient, make: MakeConsumer, reset: str, offset: int) -> None:
    send(client, b"0", b"1")
    consumer = make(partitions=[0], auto_offset_reset=reset)
    consumer.seek(100)
    assert values(consumer.get_messages(5, timeout=0.05)) == [b"0", b"1"][offset:]
    consumer.seek(1)
    assert consumer.reset_partition_offset(0) == offset == consumer.offsets[0] == consumer.fetch_offsets[0]


def test_offset_out_of_range_without_a_policy(client: SimpleClient, make: MakeConsumer) -> None:
    consumer = make(auto_offset_reset="other")
    consumer.seek(100)
    with pytest.raises(OffsetOutOfRangeError) as raised:
        consumer.get_message()
    assert "auto_offset_reset" not in str(raised.value)
    with pytest.raises(OffsetOutOfRangeError, match="auto_offset_reset"):
        consumer.reset_partition_offset(0)


def test_no_response_to_an_offset_reset(broker: EmbeddedBroker, make: MakeConsumer) -> None:
    consumer = make()
    broker.faults.fail(30, api="ListOffsets")
    assert consumer.reset_partition_offset(0) is None


def test_control_records_are_skipped(client: SimpleClient, make: MakeConsumer, monkeypatch: pytest.MonkeyPatch) -> None:
    from kafka.legacy.simple.apis import Messages

    control = Messages()
    control.next_offset = 4
    message: Any = OffsetAndMessage(4, create_message(b"x"))
    answers = [
        lambda payload: FetchResponsePayload(TOPIC, 0, 0, 5, control),
        lambda payload: FetchResponsePayload(TOPIC, 0, 0, 5, [message] if payload.offset == 4 else []),
    ]
    answering(client, monkeypatch, answers)
    assert make(partitions=[0]).get_messages(1) == [message]


def test_arguments_and_text(client: SimpleClient, make: MakeConsumer) -> None:
    with pytest.raises(AssertionError, match="partitions must be numbers"):
        make(partitions=["0"])
    consumer = SimpleConsumer(client, b"group", TOPIC.encode(), auto_commit=False)
    assert isinstance(consumer, Consumer)
    assert repr(consumer) == "<SimpleConsumer group=group, topic=topic, partitions=[0, 1]>"
    consumer.stop()


def test_deprecation_warning(client: SimpleClient) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        SimpleConsumer(client, None, TOPIC).stop()
    assert [(each.category, each.filename) for each in caught] == [(DeprecationWarning, __file__)]


def test_fetch_wait_time(make: MakeConsumer) -> None:
    consumer = make()
    for block, timeout, expected in [(True, 3, (3000, 1)), (True, None, (1000, 1)), (False, 3, (100, 0))]:
        with FetchContext(consumer, block, timeout):
            assert (consumer.fetch_max_wait_time, consumer.fetch_min_bytes) == expected
        assert (consumer.fetch_max_wait_time, consumer.fetch_min_bytes) == (100, 4096)


def test_an_error_of_the_offsets_is_raised(broker: EmbeddedBroker, make: MakeConsumer) -> None:
    broker.faults.fail(30, api="OffsetFetch")
    with pytest.raises(KafkaError):
        make()


FORKS = """
import os, sys, warnings
warnings.simplefilter("ignore")
from kafka import SimpleClient, SimpleConsumer
consumer = SimpleConsumer(SimpleClient(sys.argv[1]), "group", "topic", auto_commit_every_t=60_000)
consumer.get_messages(1, timeout=10)
if os.fork() == 0:
    sys.stdin.read()
    sys.exit()  # with what Python does at the end of a process
consumer.get_messages(1, timeout=10)
consumer.stop()
print("stopped", flush=True)
os.wait()
"""


ENDS = """
import sys
from kafka import SimpleClient, SimpleConsumer
consumer = SimpleConsumer(SimpleClient(sys.argv[1]), "group", "topic", auto_commit_every_t=60_000)
consumer.get_messages(1, timeout=10)
"""


@pytest.mark.slow
def test_offsets_are_committed_at_exit(broker: EmbeddedBroker, client: SimpleClient) -> None:
    send(client, b"0", b"1")
    subprocess.run([sys.executable, "-W", "ignore", "-c", ENDS, broker.bootstrap_servers], check=True, timeout=60)
    assert committed(client)[0] == 1


@pytest.mark.slow
def test_a_forked_child_does_not_commit_at_exit(broker: EmbeddedBroker, client: SimpleClient) -> None:
    send(client, b"0", b"1")
    with subprocess.Popen(
        [sys.executable, "-c", FORKS, broker.bootstrap_servers], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdin is not None
        assert parent.stdout.readline() == b"stopped\n"
        assert committed(client)[0] == 2
        parent.stdin.close()
    assert parent.returncode == 0
    assert committed(client)[0] == 2
