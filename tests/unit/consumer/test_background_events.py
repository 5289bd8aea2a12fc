"""What the caller is told of the background."""

from __future__ import annotations

from kafka.consumer.background_events import BackgroundEvents
from kafka.errors import KafkaTimeoutError


def test_errors_come_once_each_and_in_order_and_wake_the_caller() -> None:
    woken: list[None] = []
    events = BackgroundEvents(lambda: woken.append(None))
    assert (events.pending, events.next_error()) == (False, None)
    for text in ("one", "two", "one"):
        events.failed(KafkaTimeoutError(text))
    assert (events.pending, len(woken)) == (True, 3)
    assert [events.next_error() for _ in range(3)] == [KafkaTimeoutError("one"), KafkaTimeoutError("two"), None]
    events.failed(KafkaTimeoutError("one"))
    assert events.next_error() == KafkaTimeoutError("one")


def test_a_wakeup_counts_once() -> None:
    woken: list[None] = []
    events = BackgroundEvents(lambda: woken.append(None))
    events.wake()
    assert len(woken) == 1
    assert [events.woken(), events.woken(), events.pending] == [True, False, False]


def test_only_one_of_several_similar_errors_is_kept() -> None:
    events = BackgroundEvents(lambda: None)
    for text in ("one", "two"):
        events.failed_alike(KafkaTimeoutError(text))
    events.failed_alike(ValueError("three"))
    assert [str(events.next_error()) for _ in range(3)] == ["one", "three", "None"]


def test_errors_may_be_added_and_removed_concurrently() -> None:
    class TakenMeanwhile(Exception):
        """Is raised by the caller's thread while the background's compares it."""

        def __eq__(self, other: object) -> bool:
            return events.next_error() is other

        __hash__ = Exception.__hash__

    events = BackgroundEvents(lambda: None)
    for _ in range(2):
        events.failed(TakenMeanwhile())
    last = ValueError("the last one")
    events.failed(last)
    assert events.next_error() is last
