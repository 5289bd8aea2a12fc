"""What the caller of a consumer sees when the loop that all clients share has failed."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka import KafkaConsumer, OffsetAndMetadata, TopicPartition
from kafka.broker import EmbeddedBroker
from kafka.errors import IllegalStateError
from kafka.net import LoopThread

TP = TopicPartition("t", 0)


@pytest.fixture
def thread(monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopThread]:
    """A loop of the test's own in the place of the shared one."""
    monkeypatch.setattr(LoopThread, "_shared", None)
    thread = LoopThread.shared()
    yield thread
    thread.stop()


def break_loop(thread: LoopThread) -> None:
    """The loop's selector fails, as when other code closes its file descriptor."""

    def broken(timeout: object = None) -> None:
        raise OSError(9, "Bad file descriptor")

    loop: Any = thread.loop
    loop._selector.select = broken
    thread.call(lambda: None)


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_commit_that_cannot_be_made_any_more_fails_and_calls_back(tmp_path: Path, thread: LoopThread) -> None:
    with EmbeddedBroker(tmp_path) as broker:
        broker.faults.drop_answers(api="OffsetCommit")
        consumer = KafkaConsumer(bootstrap_servers=broker.bootstrap_servers, group_id="g", enable_auto_commit=False)
        told: list[Any] = []
        offsets = {TP: OffsetAndMetadata(5, "", -1)}
        future = consumer.commit_async(offsets, callback=lambda *news: told.append(news))
        break_loop(thread)
        with pytest.raises(IllegalStateError, match="event loop of this client has failed"):
            future.get()
        with pytest.raises(IllegalStateError, match="event loop of this client has failed"):
            consumer.close()
        assert [(given, type(error)) for given, error in told] == [(offsets, IllegalStateError)]
        with pytest.raises(IllegalStateError):
            consumer.commit_async(offsets)
    del consumer, future
    gc.collect()  # the sockets of a loop that has failed are closed with their objects


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
def test_a_consumer_that_is_dropped_after_its_loop_has_failed_says_nothing(
    tmp_path: Path, thread: LoopThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    raised: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda news: raised.append(news.exc_value))
    with EmbeddedBroker(tmp_path) as broker:
        consumer = KafkaConsumer(bootstrap_servers=broker.bootstrap_servers)
        break_loop(thread)
        thread._thread.join()
        with pytest.raises(IllegalStateError, match="event loop of this client has failed"):
            consumer.close()
        del consumer
        gc.collect()
    assert not [error for error in raised if isinstance(error, IllegalStateError)]
