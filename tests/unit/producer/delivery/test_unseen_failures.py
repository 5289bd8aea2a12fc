"""Failures that nobody has looked at."""

from __future__ import annotations

import logging

import pytest

from kafka.errors import InvalidRecordError, KafkaError
from kafka.producer.delivery import unseen_failures
from kafka.producer.delivery.unseen_failures import FailureReport, UnseenFailures


def report(text: str = "lost", *, seen: bool = False, held: bool = False, records: int = 2) -> FailureReport:
    return FailureReport(InvalidRecordError("bad"), records, text, seen, lambda: object() if held else None)


def test_an_unseen_failure_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    lost = report("5 record(s) lost")
    lost.log_unseen()
    lost.log_unseen()
    report(seen=True).log_unseen()
    assert [(each.levelno, each.getMessage()) for each in caplog.records] == [
        (logging.ERROR, "5 record(s) lost (the futures were never checked)")
    ]
    (logged,) = map(vars, caplog.records)
    assert (logged["kafka_error"], logged["kafka_records"]) == ("InvalidRecordError", 2)


def test_the_first_failure_is_raised_once_with_the_total_number() -> None:
    unseen = UnseenFailures()
    unseen.raise_unseen()
    for each in (report("first"), report("second", records=3), report("looked at", seen=True)):
        unseen.add(each)
    with pytest.raises(InvalidRecordError, match=r" 5 record\(s\) in 2 batch\(es\) .*: first$") as raised:
        unseen.raise_unseen()
    assert isinstance(raised.value.__cause__, KafkaError)
    unseen.raise_unseen()


def test_failures_with_held_futures_are_kept_and_seen_ones_dropped() -> None:
    unseen = UnseenFailures()
    held, looked_at, dropped = report("held", held=True), report("looked at", held=True), report("dropped")
    for each in (held, looked_at, dropped):
        unseen.add(each)
    with pytest.raises(InvalidRecordError, match="in 1 batch"):
        unseen.raise_unseen()
    assert dropped.seen
    assert not held.seen
    looked_at.seen = True
    unseen.raise_unseen()
    held._batch = lambda: None
    with pytest.raises(InvalidRecordError, match=r": held$"):
        unseen.raise_unseen()


def test_beyond_the_limit_failures_are_only_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unseen_failures, "_KEPT", 3)
    unseen = UnseenFailures()
    seen_later = report()
    for each in (seen_later, *(report() for _ in range(4))):
        unseen.add(each)
    seen_later.seen = True
    unseen.add(report(records=100))
    unseen.add(report(records=10))
    with pytest.raises(InvalidRecordError, match=r" 118 record\(s\) in 6 batch"):
        unseen.raise_unseen()
    unseen.raise_unseen()


def test_a_seen_failure_makes_room_for_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unseen_failures, "_KEPT", 1)
    unseen = UnseenFailures()
    first, held = report(), report("held", held=True)
    unseen.add(first)
    first.seen = True
    unseen.add(held)
    unseen.raise_unseen()
    held._batch = lambda: None
    with pytest.raises(InvalidRecordError, match=r" 2 record\(s\) in 1 batch.*: held$"):
        unseen.raise_unseen()


def test_counted_failures_are_reported_with_the_next_raised_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unseen_failures, "_KEPT", 1)
    unseen = UnseenFailures()
    held = report("held", held=True)
    unseen.add(held)
    unseen.add(report(records=5))
    unseen.raise_unseen()
    held._batch = lambda: None
    with pytest.raises(InvalidRecordError, match=r" 7 record\(s\) in 2 batch.*: held$"):
        unseen.raise_unseen()


def test_all_unseen_failures_are_logged_at_the_end(caplog: pytest.LogCaptureFixture) -> None:
    unseen = UnseenFailures()
    for each in (report("one"), report("two", held=True)):
        unseen.add(each)
    unseen.log_unseen()
    unseen.log_unseen()
    assert len(caplog.records) == 2
    unseen.raise_unseen()
