"""One thread at a time polls a consumer, and none within a `poll()` of its own."""

from __future__ import annotations

import contextlib
import threading

import pytest

from kafka.consumer.runners import thread_runner
from kafka.consumer.runners.thread_runner import PollGuard
from kafka.errors import IllegalStateError

PATIENCE_S = 10.0


def enter_in(caller: PollGuard, name: str) -> str | None:
    """Enter in a thread of that name: what is raised, None if nothing is. It must not wait."""
    told: list[str | None] = []

    def enter() -> None:
        try:
            with caller:
                told.append(None)
        except IllegalStateError as error:
            told.append(str(error))

    thread = threading.Thread(target=enter, name=name)
    thread.start()
    thread.join(PATIENCE_S)
    assert len(told) == 1, "it waits"
    return told[0]


def test_a_second_thread_is_refused_with_the_name_of_the_first() -> None:
    caller = PollGuard()
    with caller:
        for _ in range(2):
            told = enter_in(caller, "the-second")
            assert told is not None
            assert f"'the-second' polls a consumer that thread {threading.current_thread().name!r} is polling" in told
    assert enter_in(caller, "the-second") is None


def test_a_thread_that_has_ended_is_identified_by_number() -> None:
    assert thread_runner._name(0) == "number 0"


def test_a_thread_may_enter_again_unless_it_is_polling_and_is_refused_without_losing_its_place() -> None:
    caller = PollGuard()
    assert not caller.is_polling_here
    with caller:
        with caller:
            assert not caller.is_polling_here
        caller.is_polling = True
        assert caller.is_polling_here
        with pytest.raises(IllegalStateError, match="polled from within its own poll"), caller:
            raise AssertionError("it must not come here")
        assert enter_in(caller, "the-second") is not None
        caller.is_polling = False
    assert enter_in(caller, "the-second") is None


def test_only_the_thread_inside_is_the_one_that_polls() -> None:
    caller = PollGuard()
    seen: list[bool] = []
    with caller:
        caller.is_polling = True
        other = threading.Thread(target=lambda: seen.append(caller.is_polling_here))
        other.start()
        other.join(PATIENCE_S)
        caller.is_polling = False
    assert seen == [False]


def test_an_exception_inside_releases_the_guard() -> None:
    caller = PollGuard()
    with contextlib.suppress(ZeroDivisionError), caller:
        raise ZeroDivisionError
    assert enter_in(caller, "the-second") is None
