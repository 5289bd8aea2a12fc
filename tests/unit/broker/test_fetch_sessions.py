"""Fetch sessions: epochs, limits, and eviction."""

from __future__ import annotations

import random

import pytest

from kafka.broker.error_codes import ErrorCode, RequestFailed
from kafka.broker.fetch_sessions import FetchSession, FetchSessions


def opened(sessions: FetchSessions) -> FetchSession:
    session = sessions.open()
    assert session is not None
    return session


def refused(sessions: FetchSessions, session_id: int, epoch: int) -> ErrorCode:
    with pytest.raises(RequestFailed) as caught:
        sessions.resume(session_id, epoch)
    return caught.value.code


def test_each_request_increments_the_epoch() -> None:
    sessions = FetchSessions(10, random.Random(1))
    session = opened(sessions)
    assert sessions.resume(session.session_id, 1) is session
    assert sessions.resume(session.session_id, 2) is session
    assert refused(sessions, session.session_id, 2) is ErrorCode.INVALID_FETCH_SESSION_EPOCH
    assert sessions.resume(session.session_id, 3) is session


def test_epochs_wrap_around_to_one() -> None:
    sessions = FetchSessions(10, random.Random(1))
    session = opened(sessions)
    session.epoch = 2**31 - 1
    sessions.resume(session.session_id, 2**31 - 1)
    assert session.epoch == 1


def test_a_closed_or_unknown_session_is_not_found() -> None:
    sessions = FetchSessions(10, random.Random(1))
    session = opened(sessions)
    sessions.close(session.session_id)
    assert refused(sessions, session.session_id, 1) is ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert refused(sessions, 12345, 1) is ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_the_least_recently_used_session_is_evicted() -> None:
    sessions = FetchSessions(2, random.Random(1))
    first, second = opened(sessions), opened(sessions)
    sessions.resume(first.session_id, 1)
    opened(sessions)
    assert len(sessions) == 2
    assert sessions.resume(first.session_id, 2) is first
    assert refused(sessions, second.session_id, 1) is ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_a_limit_of_zero_disables_sessions() -> None:
    assert FetchSessions(0, random.Random(1)).open() is None
