"""What the caller's thread has run on the loop: in order, all of it, and without waking the loop for each call."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from kafka.consumer.runners.thread_runner import ThreadRunner
from kafka.errors import IllegalStateError, KafkaTimeoutError
from kafka.net import LoopThread, interruptible

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


def test_submitted_calls_run_before_later_coroutines(thread: LoopThread) -> None:
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


def test_a_wait_begins_without_old_news_and_says_that_the_loop_has_ended(
    thread: LoopThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller = ThreadRunner(thread)
    waits: list[tuple[bool, float]] = []
    monkeypatch.setattr(interruptible, "acquire", lambda lock, timeout_s: waits.append((lock.locked(), timeout_s)))
    caller.notify()
    caller.clear()
    caller.wait(2.5)
    assert waits == [(True, 2.5)]
    thread.stop()
    with pytest.raises(IllegalStateError, match="stopped"):
        caller.wait(0.0)


def test_a_failing_loop_wakes_waiters(thread: LoopThread, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[ThreadRunner] = []
    monkeypatch.setattr(ThreadRunner, "notify", lambda runner: told.append(runner))
    deaths: list[Any] = []
    monkeypatch.setattr(thread, "on_death", lambda owner, tell: deaths.append((owner, tell)))
    caller = ThreadRunner(thread)
    for owner, tell in deaths:
        tell(owner, ValueError("on purpose"))
    assert told == [caller]


def test_waiting_for_the_loop_has_a_margin(thread: LoopThread, monkeypatch: pytest.MonkeyPatch) -> None:
    caller = ThreadRunner(thread)
    waited: list[float | None] = []

    def run(coroutine: Any, timeout_s: float | None) -> None:
        coroutine.close()
        waited.append(timeout_s)

    monkeypatch.setattr(thread, "run", run)
    caller.run(asyncio.sleep(0), 2_000)
    caller.run(asyncio.sleep(0))
    call = SimpleNamespace(result=waited.append)
    with monkeypatch.context() as patch:
        patch.setattr(caller, "begin", lambda close: call)
        coroutine = asyncio.sleep(0)
        caller.run_through(coroutine, 3_000)
        coroutine.close()
    assert waited == [7.0, None, 8.0]
    assert caller.last_call is call


@pytest.mark.parametrize("polling", [True, False])
def test_a_user_function_may_poll_and_the_guard_is_restored(thread: LoopThread, polling: bool) -> None:
    caller = ThreadRunner(thread)
    seen: list[tuple[bool, bool]] = []

    def function() -> None:
        seen.append((caller.is_in_a_call, caller.poll_guard.is_polling))
        raise ZeroDivisionError

    with caller.poll_guard:
        caller.poll_guard.is_polling = polling
        with pytest.raises(ZeroDivisionError):
            caller.call(function)
        assert seen == [(True, False)]
        assert (caller.is_in_a_call, caller.poll_guard.is_polling) == (False, polling)
        caller.poll_guard.is_polling = False


def test_closing_in_another_thread_waits_until_closed_or_timed_out(
    thread: LoopThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller = ThreadRunner(thread)
    told: list[Any] = []

    def close_beside() -> None:
        def close() -> None:
            try:
                caller.close_once(lambda: told.append("again"), 2_000)
            except KafkaTimeoutError as error:
                told.append(str(error))

        other = threading.Thread(target=close)
        other.start()
        other.join(PATIENCE_S)

    def close() -> None:
        caller.close_once(lambda: told.append("within"), 0)  # as a listener may
        close_beside()

    wait = caller._closed.wait

    def wait_a_little(timeout_s: float) -> bool:
        told.append(timeout_s)
        return wait(0)

    monkeypatch.setattr(caller, "_closed", SimpleNamespace(wait=wait_a_little, set=caller._closed.set))
    caller.close_once(close, 0)
    close_beside()
    assert told == [2.0, "another thread has not closed the consumer within 2000 ms", 2.0]
