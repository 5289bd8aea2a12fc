"""`OffsetCommitContext`: marked messages are committed, the others are returned again."""

from __future__ import annotations

from typing import Any

import pytest

from kafka.common import OffsetCommitRequest, OffsetCommitResponse, OffsetOutOfRangeError, RequestTimedOutError
from kafka.context import OffsetCommitContext

pytestmark = [
    pytest.mark.once,
    pytest.mark.filterwarnings("ignore:OffsetCommitContext is deprecated:DeprecationWarning"),
]


class Consumer:
    """The parts of a `SimpleConsumer` that the context uses; records the calls."""

    def __init__(self, error: int = 0) -> None:
        self.client = self
        self.group, self.topic = b"group", b"topic"
        self.offsets = {0: 5, 1: 9}
        self.error = error
        self.done: list[Any] = []

    def seek(self, offset: int, whence: int) -> None:
        self.done.append(("seek", offset, whence))

    def send_offset_commit_request(self, group: bytes, payloads: list[OffsetCommitRequest]) -> list[Any]:
        self.done += [group, *payloads]
        return [OffsetCommitResponse(p.topic, p.partition, self.error) for p in payloads]


def test_marked_messages_are_committed() -> None:
    consumer = Consumer()
    with OffsetCommitContext(consumer) as context:
        assert not context
        context.mark(0, 7)
        context.mark(0, 6)
        assert context
        assert context.__nonzero__() is True
    assert consumer.done == [b"group", OffsetCommitRequest(b"topic", 0, 8, None), ("seek", 0, 1)]
    assert consumer.offsets == {0: 8, 1: 9}


def test_without_marks_the_consumer_seeks_back() -> None:
    consumer = Consumer()
    with OffsetCommitContext(consumer):
        consumer.offsets[0] = 20
    assert consumer.offsets == {0: 5, 1: 9}
    assert consumer.done == [("seek", 0, 1)]


def test_an_error_seeks_back_and_propagates() -> None:
    consumer = Consumer()

    def work() -> None:
        with OffsetCommitContext(consumer) as context:
            consumer.offsets[1] = 30
            context.mark(1, 29)
            raise KeyError

    with pytest.raises(KeyError):
        work()
    assert consumer.offsets == {0: 5, 1: 9}
    assert consumer.done == [("seek", 0, 1)]


def test_out_of_range_seeks_to_the_beginning_and_is_suppressed() -> None:
    consumer = Consumer()
    with OffsetCommitContext(consumer):
        raise OffsetOutOfRangeError
    assert consumer.done == [("seek", 0, 0)]


def test_a_failed_commit_raises_and_keeps_positions() -> None:
    consumer = Consumer(error=7)
    with pytest.raises(RequestTimedOutError), OffsetCommitContext(consumer) as context:
        context.mark(0, 7)
    assert consumer.offsets == {0: 5, 1: 9}


def test_methods_can_be_called_individually() -> None:
    consumer = Consumer()
    context = OffsetCommitContext(consumer)
    context.commit_partition_offsets({1: 12})
    assert consumer.done == [b"group", OffsetCommitRequest(b"topic", 1, 12, None)]
    assert consumer.offsets == {0: 5, 1: 9}
    context.update_consumer_offsets({1: 12})
    assert consumer.offsets == {0: 5, 1: 12}
    context.handle_out_of_range()
    assert consumer.done[2:] == [("seek", 0, 1), ("seek", 0, 0)]


def test_a_context_can_be_reused() -> None:
    consumer = Consumer()
    context = OffsetCommitContext(consumer)
    assert not context
    with pytest.raises(TypeError, match="with block"):
        context.mark(0, 1)
    with context:
        context.mark(0, 7)
    with context:
        assert not context


def test_deprecation_warning() -> None:
    with pytest.warns(DeprecationWarning, match="OffsetCommitContext") as caught:
        OffsetCommitContext(Consumer())
    assert caught[0].filename == __file__
