"""What the caller's thread has run on the loop: in order, all of it, and without waking the loop for each call."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest

from kafka.consumer.drive.thread_runner import ThreadRunner
from kafka.errors import IllegalStateError
from kafka.net import LoopThread

PATIENCE_S = 10.0


@pytest.fixture
def thread() -> Iterator[LoopThread]:
    """A loop thread of the test's own."""
    thread = LoopThread("test-loop")
    yield thread
    thread.stop()


def held_up(thread: LoopThread) -> threading.Event:
    """Keep the loop busy until the event is set."""
    begun, go_on = threading.Event(), threading.Event()

    def hold() -> None:
        begun.set()
        go_on.wait(PATIENCE_S)

    thread.call(hold)
    assert begun.wait(PATIENCE_S)
    return go_on


def test_many_calls_wake_the_loop_once_and_run_in_order(thread: LoopThread, monkeypatch: pytest.MonkeyPatch) -> None:
    caller = ThreadRunner(thread)
    ran: list[int] = []
    wakes: list[object] = []
    call = thread.call
    monkeypatch.setattr(thread, "call", lambda *what: (wakes.append(what), call(*what)))
    go_on = held_up(thread)
    del wakes[:]
    for number in range(1000):
        caller.submit(ran.append, number)
    go_on.set()
    thread.run(asyncio.sleep(0), PATIENCE_S)
    assert ran == list(range(1000))
    assert len(wakes) == 1
    caller.submit(ran.append, 1000)
    thread.run(asyncio.sleep(0), PATIENCE_S)
    assert ran[-1] == 1000
    assert len(wakes) == 2


def test_what_was_submitted_comes_before_what_is_spawned_after_it(thread: LoopThread) -> None:
    caller = ThreadRunner(thread)
    order: list[str] = []

    async def spawned() -> None:
        order.append("spawned")

    go_on = held_up(thread)
    caller.submit(order.append, "first")
    caller.submit(order.append, "second")
    future = thread.spawn(spawned())
    go_on.set()
    future.result(PATIENCE_S)
    assert order == ["first", "second", "spawned"]


def test_a_call_that_raises_does_not_take_the_others_along(thread: LoopThread) -> None:
    caller = ThreadRunner(thread)
    told: list[object] = []
    thread.loop.set_exception_handler(lambda loop, context: told.append(context["exception"]))
    ran: list[int] = []
    error = ValueError("on purpose")

    def fail() -> None:
        raise error

    go_on = held_up(thread)
    for number in range(3):
        caller.submit(ran.append, number)
        caller.submit(fail)
    go_on.set()
    for _ in range(5):
        thread.run(asyncio.sleep(0), PATIENCE_S)
    assert ran == [0, 1, 2]
    assert told == [error] * 3


def test_nothing_is_kept_for_a_loop_that_has_ended(thread: LoopThread) -> None:
    caller = ThreadRunner(thread)
    thread.stop()
    for _ in range(2):
        with pytest.raises(IllegalStateError, match="stopped"):
            caller.submit(print)
    assert not caller._calls


def test_an_interrupt_while_the_loop_is_woken_does_not_keep_later_calls_from_it(
    thread: LoopThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller = ThreadRunner(thread)
    ran: list[int] = []

    def interrupted(*what: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(thread, "call", interrupted)
        with pytest.raises(KeyboardInterrupt):
            caller.submit(ran.append, 1)
    caller.submit(ran.append, 2)
    thread.run(asyncio.sleep(0), PATIENCE_S)
    assert ran == [1, 2]
