"""Consumers that are open when the program ends leave their groups, and do not hold it up for longer than one may."""

from __future__ import annotations

import functools
import gc
import os
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from kafka.consumer.runners import thread_runner
from kafka.errors import IllegalStateError

pytestmark = pytest.mark.once


class Clock:
    """Stands still, but for those who wait."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


class Call:
    """Takes as long as whoever waits for it has the patience for."""

    def __init__(self, clock: Clock) -> None:
        self.waited: list[float] = []
        self._clock = clock

    def wait(self, timeout_s: float) -> bool:
        self.waited.append(timeout_s)
        self._clock.now += timeout_s
        return False


class Core:
    """As much of a consumer as is looked at."""

    def __init__(self, group_id: str | None = None, closed: bool = False, close_begun: bool = False) -> None:
        self.config = SimpleNamespace(group=SimpleNamespace(group_id=group_id))
        self.closed = closed
        self.close_begun = close_begun

    def close(self, timeout_ms: float) -> None:
        """Stands for the coroutine."""


class Runner:
    """Begins what it is given."""

    def __init__(self, clock: Clock, error: Exception | None = None) -> None:
        self.call = Call(clock)
        self.last_call: Call | None = None
        self.begun: list[functools.partial[Any]] = []
        self._error = error

    def begin(self, close: functools.partial[Any]) -> Call:
        if self._error is not None:
            raise self._error
        self.begun.append(close)
        return self.call


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    """What the module goes by; and no consumer but those of the test."""
    clock = Clock()
    monkeypatch.setattr(thread_runner, "time", clock)
    monkeypatch.setattr(thread_runner, "_open", {})
    return clock


def open_one(core: Core, runner: Runner) -> None:
    thread_runner.close_at_exit(core, runner, core.config.group.group_id)  # type: ignore[arg-type]


def test_all_consumers_together_get_the_time_of_one(clock: Clock) -> None:
    runners = [Runner(clock) for _ in range(3)]
    for runner in runners:
        open_one(Core(), runner)
    thread_runner._at_exit()
    assert [runner.call.waited for runner in runners] == [[thread_runner._CLOSE_MS / 1000], [0.0], [0.0]]


@pytest.mark.parametrize(("group_id", "closed", "warned"), [("g", False, 1), ("g", True, 0), (None, False, 0)])
def test_open_consumers_are_closed_at_exit_with_a_warning_for_groups(
    clock: Clock, group_id: str | None, closed: bool, warned: int, caplog: pytest.LogCaptureFixture
) -> None:
    core, runner = Core(group_id, closed), Runner(clock)
    open_one(core, runner)
    thread_runner._at_exit()
    assert core.closed
    (close,) = runner.begun
    assert (close.func, close.args) == (core.close, (thread_runner._CLOSE_MS,))
    assert len(runner.call.waited) == 1
    told = [line for line in caplog.messages if "was not closed before the program ended" in line]
    assert len(told) == len(caplog.messages) == warned
    assert all("'g'" in line for line in told)


def test_one_that_is_being_closed_is_waited_for_and_not_closed_again(
    clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    closed, interrupted = Runner(clock), Runner(clock)
    interrupted.last_call = interrupted.call  # an interrupt has ended the wait for it
    for runner in (closed, interrupted):
        open_one(Core("g", closed=True, close_begun=True), runner)
    thread_runner._at_exit()
    assert closed.begun == interrupted.begun == []
    assert (closed.call.waited, len(interrupted.call.waited)) == ([], 1)
    assert caplog.messages == []


def test_one_that_cannot_be_closed_any_more_keeps_no_other_from_it(clock: Clock) -> None:
    failed, other = Runner(clock, IllegalStateError("the loop has failed")), Runner(clock)
    open_one(Core(), failed)
    open_one(Core(), other)
    thread_runner._at_exit()
    assert len(other.begun) == len(other.call.waited) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_child_leaves_the_consumers_of_its_parent_to_that() -> None:
    gc.collect()  # consumers of other tests that nobody holds
    core = Core("g")
    open_one(core, Runner(Clock()))
    child = os.fork()
    if not child:
        try:
            left = len(thread_runner._open)
            thread_runner._at_exit()
            os._exit(int(core.closed or left > 0))
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert core in thread_runner._open  # beside those that earlier tests have left, until they are collected
    assert not core.closed
