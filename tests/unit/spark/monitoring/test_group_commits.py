"""Finished offsets are committed to a group soon, and at the end for certain; failures do not affect the query."""

import logging
import threading

import pytest

from kafka.errors import GroupAuthorizationFailedError, KafkaTimeoutError, NoError, UnknownTopicOrPartitionError
from kafka.spark.monitoring.group_commits import RENEWAL_S, SPACING_S, GroupCommits
from kafka.structs import TopicPartition

LIMIT_S = 30.0
T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


class Group:
    """A group with its committer, and a clock that stands still."""

    def __init__(self, *outcomes) -> None:
        self.outcomes = list(outcomes)
        self.commits: list[dict[TopicPartition, int]] = []
        self.now = 1_000.0
        self.gate = threading.Event()
        self.gate.set()
        self.changed = threading.Semaphore(0)
        self.closed = threading.Event()
        self.committing = GroupCommits("watched", self, lambda: self.now)

    def close(self):
        self.closed.set()

    def send(self, offsets):
        self.commits.append(offsets)
        self.changed.release()
        assert self.gate.wait(LIMIT_S)
        outcome = self.outcomes.pop(0) if self.outcomes else NoError
        if isinstance(outcome, Exception):
            raise outcome
        return dict.fromkeys(offsets, outcome)

    def wait_for_a_commit(self) -> None:
        assert self.changed.acquire(timeout=LIMIT_S)

    def finished(self, offset: int) -> None:
        self.committing.finished({T0: offset})

    def later(self, seconds: float, offset: int) -> None:
        """Advance the time and finish a micro-batch in one step: the thread may read the clock at any moment."""
        with self.committing._changed:
            self.now += seconds
            self.finished(offset)

    def commit_only_when_asked(self) -> None:
        """Stop commits by the clock, so that only `flush()` starts one, and a test can count them."""
        self.now = -1_000.0


@pytest.fixture
def group(request):
    made = Group(*getattr(request, "param", ()))
    yield made
    made.gate.set()
    made.committing.close(LIMIT_S)
    assert made.closed.is_set() or not made.commits


def test_finished_offsets_are_committed(group):
    group.finished(5)
    group.wait_for_a_commit()
    assert group.commits == [{T0: 5}]


def test_only_the_newest_offsets_are_committed(group):
    group.gate.clear()
    group.finished(1)
    group.wait_for_a_commit()
    for offset in range(2, 50):
        group.finished(offset)
    group.gate.set()
    assert group.committing.flush(LIMIT_S)
    assert group.commits == [{T0: 1}, {T0: 49}]


def test_commits_are_spaced_unless_the_query_ends(group):
    group.finished(1)
    assert group.committing.flush(LIMIT_S)
    group.finished(2)
    group.later(SPACING_S / 2, 3)
    assert group.commits == [{T0: 1}]
    group.later(SPACING_S / 2, 4)
    group.wait_for_a_commit()
    group.wait_for_a_commit()
    assert group.commits == [{T0: 1}, {T0: 4}]
    group.finished(5)
    assert group.committing.flush(LIMIT_S)
    assert group.commits[-1] == {T0: 5}


def test_unchanged_offsets_are_committed_again(group):
    group.finished(1)
    assert group.committing.flush(LIMIT_S)
    group.later(RENEWAL_S / 2, 1)
    assert group.committing.flush(LIMIT_S)
    assert group.commits == [{T0: 1}]
    group.later(RENEWAL_S / 2, 1)
    group.wait_for_a_commit()
    group.wait_for_a_commit()
    assert group.commits == [{T0: 1}, {T0: 1}]


@pytest.mark.parametrize(
    "group",
    [
        [GroupAuthorizationFailedError("no"), GroupAuthorizationFailedError("no")],
        [GroupAuthorizationFailedError, GroupAuthorizationFailedError],
        [KafkaTimeoutError("late"), KafkaTimeoutError("late")],
        [ValueError("a fault of ours"), ValueError("a fault of ours")],
    ],
    indirect=True,
)
def test_a_failure_is_logged_once_and_retried(group, caplog):
    group.commit_only_when_asked()
    group.finished(1)
    assert not group.committing.flush(LIMIT_S)
    assert not group.committing.flush(LIMIT_S)
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert (
        "could not commit the offsets of the query to the group 'watched' (option commitGroup)" in record.getMessage()
    )
    assert group.committing.flush(LIMIT_S)
    assert group.commits == [{T0: 1}] * 3


@pytest.mark.parametrize("group", [[GroupAuthorizationFailedError("no"), UnknownTopicOrPartitionError]], indirect=True)
def test_each_cause_is_logged(group, caplog):
    group.commit_only_when_asked()
    group.finished(1)
    assert not group.committing.flush(LIMIT_S)
    assert not group.committing.flush(LIMIT_S)
    assert ["GroupAuthorization" in each.getMessage() for each in caplog.records] == [True, False]


@pytest.mark.parametrize("group", [[KafkaTimeoutError("late")]], indirect=True)
def test_a_failed_commit_is_retried_after_a_pause(group):
    group.commit_only_when_asked()
    group.finished(1)
    assert not group.committing.flush(LIMIT_S)
    group.finished(2)
    group.later(0.5, 3)
    assert group.commits == [{T0: 1}]
    group.later(0.5, 4)
    group.wait_for_a_commit()
    group.wait_for_a_commit()
    assert group.commits == [{T0: 1}, {T0: 4}]


def test_the_end_of_a_query_waits_for_a_slow_group_with_a_limit(group):
    group.gate.clear()
    group.finished(1)
    assert not group.committing.flush(0.01)
    group.committing.close(0.01)
    assert not group.closed.is_set()


@pytest.mark.parametrize("group", [[KafkaTimeoutError("late"), KafkaTimeoutError("late")]], indirect=True)
def test_the_pause_doubles_with_each_failure(group):
    group.commit_only_when_asked()
    group.finished(1)
    for _ in range(2):
        assert not group.committing.flush(LIMIT_S)
    group.later(1.5, 2)
    assert group.commits == [{T0: 1}] * 2
    group.later(0.5, 3)
    for _ in range(3):
        group.wait_for_a_commit()
    assert group.commits == [{T0: 1}, {T0: 1}, {T0: 3}]


def test_no_thread_is_started_for_a_query_that_has_read_nothing(group):
    group.committing.finished({})
    assert not group.committing.flush(LIMIT_S)
    group.committing.close(LIMIT_S)
    assert not group.commits
    assert not group.closed.is_set()


def test_closing_commits_pending_offsets(group):
    group.finished(1)
    group.committing.close(LIMIT_S)
    assert group.commits == [{T0: 1}]
    assert group.closed.is_set()


def cannot_start(thread: threading.Thread) -> None:
    raise RuntimeError("can't start new thread")


def test_a_thread_that_cannot_start_is_reported_once_and_retried(group, monkeypatch, caplog):
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", cannot_start)
        group.finished(1)
        group.finished(2)
        assert not group.committing.flush(LIMIT_S)
    (record,) = caplog.records
    assert "can't start new thread" in record.getMessage()
    group.finished(3)
    group.wait_for_a_commit()
    assert group.commits == [{T0: 3}]


def test_a_query_ends_even_if_its_thread_never_started(monkeypatch):
    group = Group()
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", cannot_start)
        group.finished(1)
    group.committing.close(LIMIT_S)
    assert not group.commits
