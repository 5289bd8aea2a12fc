"""What `commit_async` returns: its callbacks, and waiting for it in a thread and on a loop."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from typing import Any

import pytest

from kafka.consumer.commit.commit_future import CommitFuture
from kafka.errors import IllegalStateError, KafkaTimeoutError
from kafka.net import interruptible
from unit.interrupt import LIBRARY, PACKAGE, Interrupt, interrupts
from unit.sampling import EVERY

pytestmark = pytest.mark.once


def call_all(future: CommitFuture) -> None:
    for call in future.calls():
        call()


def test_callbacks_are_called_in_order_when_their_time_has_come() -> None:
    future = CommitFuture()
    calls: list[Any] = []
    future.add_callback(calls.append).add_errback(calls.append).add_both(calls.append)
    with pytest.raises(KafkaTimeoutError):
        future.get(0)
    future.resolve(None)
    assert calls == []
    call_all(future)
    assert calls == [None, None]
    future.add_callback(calls.append)
    assert len(calls) == 3
    assert (future.value, future.succeeded(), future.failed()) == (None, True, False)
    future.get(0)


def test_errbacks_get_their_arguments_and_the_error() -> None:
    future, error = CommitFuture(), ValueError("x")
    calls: list[Any] = []
    future.add_errback(lambda *args, **kwargs: calls.append((args, kwargs)), 1, name="n")
    future.resolve(error)
    call_all(future)
    assert calls == [((1, error), {"name": "n"})]
    with pytest.raises(ValueError, match="x"):
        future.get(0)


async def test_it_can_be_awaited_before_and_after_it_is_done() -> None:
    future = CommitFuture(asyncio.get_running_loop())
    with pytest.raises(IllegalStateError, match="await"):
        future.get()

    async def wait() -> None:
        await future

    waiting = asyncio.create_task(wait())
    await asyncio.sleep(0)
    thread = threading.Thread(target=future.resolve, args=(ValueError("x"),))
    thread.start()
    with pytest.raises(ValueError, match="x"):
        await waiting
    thread.join()
    with pytest.raises(ValueError, match="x"):
        await future


@pytest.mark.parametrize("every", EVERY)
def test_a_wait_interrupted_at_any_point_does_not_block_the_loop(every: int) -> None:
    def wait() -> None:
        with contextlib.suppress(KafkaTimeoutError):
            future.get(0)

    future = CommitFuture()
    for interrupt in interrupts(wait, PACKAGE, LIBRARY, every=every):
        future = CommitFuture()
        with contextlib.suppress(KeyboardInterrupt), interrupt:
            wait()
        loop = threading.Thread(target=future.resolve, args=(None,), daemon=True)
        loop.start()
        loop.join(60)
        assert not loop.is_alive(), interrupt.where


def test_waits_that_interrupts_cannot_end_are_sliced(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows: the clock is looked at after each slice, which is when an interrupt gets through."""
    looks: list[float] = []

    class Clock:
        def monotonic(self) -> float:
            looks.append(0.0)
            if len(looks) == 9:
                future.resolve(None)
            return 0.0

    future = CommitFuture()
    monkeypatch.setattr(interruptible, "SLICE_S", 0.0001)
    monkeypatch.setattr(interruptible, "time", Clock())
    future.get()
    assert len(looks) >= 9


def test_an_interrupt_ends_a_sliced_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interruptible, "SLICE_S", 0.0001)
    future = CommitFuture()
    with pytest.raises(KeyboardInterrupt), Interrupt(30, PACKAGE):
        future.get()
    future.resolve(None)
    future.get()


async def test_cancelling_an_await_is_harmless() -> None:
    told: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: told.append(context))
    future = CommitFuture()

    async def wait() -> None:
        await future

    patient, impatient = asyncio.create_task(wait()), asyncio.create_task(wait())
    await asyncio.sleep(0)
    impatient.cancel()
    future.resolve(None)
    await patient
    await asyncio.sleep(0)
    assert impatient.cancelled()
    assert told == []


def test_a_closed_loop_is_not_notified() -> None:
    future = CommitFuture()

    async def wait() -> None:
        await future

    loop = asyncio.new_event_loop()
    task = loop.create_task(wait())
    loop.run_until_complete(asyncio.sleep(0))
    task.cancel()
    loop.run_until_complete(asyncio.gather(task, return_exceptions=True))
    loop.close()
    future.resolve(None)
    assert future.succeeded()


def test_late_callbacks_run_immediately() -> None:
    done, failed = CommitFuture(), CommitFuture()
    assert not done.has_callbacks
    done.add_both(print)
    assert done.has_callbacks
    error = ValueError("x")
    for future, outcome in ((done, None), (failed, error)):
        future.resolve(outcome)
        future.calls()
        calls: list[Any] = []
        future.add_callback(lambda *given, calls=calls: calls.append(("succeeded", *given)))
        future.add_errback(lambda *given, calls=calls: calls.append(("failed", *given)))
        future.add_both(lambda *given, calls=calls: calls.append(("both", *given)))
        assert calls == [("failed" if outcome else "succeeded", outcome), ("both", outcome)]
        assert (future.succeeded(), future.failed()) == (outcome is None, outcome is not None)
