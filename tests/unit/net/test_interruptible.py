"""Waiting in slices, as on Windows, also tested on Linux."""

import asyncio
import contextlib
import threading

import pytest

from kafka.consumer.runners.thread_runner import ThreadRunner
from kafka.errors import KafkaTimeoutError
from kafka.net import LoopThread, interruptible
from unit.interrupt import LIBRARY, PACKAGE, interrupts
from unit.sampling import EVERY

pytestmark = pytest.mark.once


@pytest.fixture
def loop_thread(monkeypatch):
    monkeypatch.setattr(interruptible, "SLICE_S", 0.1)
    thread = LoopThread("test-loop")
    yield thread
    thread.stop()


class ScriptedLock:
    """A lock that is not acquired before a signal handler raises."""

    def __init__(self):
        self.waits = []

    def acquire(self, timeout=-1):
        self.waits.append(timeout)
        if len(self.waits) == 3:
            raise KeyboardInterrupt
        return False


async def value(result):
    await asyncio.sleep(0)
    return result


def test_an_interrupt_ends_a_long_wait(loop_thread):
    runner = ThreadRunner(loop_thread)
    runner._gate = ScriptedLock()
    with pytest.raises(KeyboardInterrupt):
        runner.wait(3_600)
    assert all(0 < wait <= 0.1 for wait in runner._gate.waits)


def test_a_signal_just_before_a_wait_is_noticed_soon(monkeypatch):
    """A signal arrives after Python has checked for signals and before the wait: its handler runs after the slice."""
    monkeypatch.setattr(interruptible, "SLICE_S", 1.0)
    lock = ScriptedLock()
    with pytest.raises(KeyboardInterrupt):
        interruptible.acquire(lock, float("inf"))
    assert lock.waits == [1.0, 1.0, 1.0]
    lock.waits.clear()
    assert not interruptible.acquire(lock, 0.5)
    assert lock.waits == [0.5]


def test_a_change_ends_the_wait(loop_thread):
    runner = ThreadRunner(loop_thread)
    runner.notify()
    runner.wait(float("inf"))
    runner.wait(0)


def test_an_interrupt_ends_a_blocking_call_and_cancels_it(loop_thread, monkeypatch):
    cancelled = threading.Event()

    def interrupted(lock, timeout_s):
        raise KeyboardInterrupt

    async def hang():
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    loop_thread.run(value(1))
    monkeypatch.setattr(interruptible, "acquire", interrupted)
    with pytest.raises(KeyboardInterrupt):
        loop_thread.run(hang())
    loop_thread.call(cancelled.set)  # if it had not started yet
    assert cancelled.wait(60)


def test_a_blocking_call_returns_its_result_or_times_out(loop_thread):
    assert loop_thread.run(value(7)) == 7
    assert loop_thread.run(asyncio.sleep(0.01, 8), 60.0) == 8
    with pytest.raises(KafkaTimeoutError):
        loop_thread.run(asyncio.Event().wait(), 0.01)


def test_a_lock_is_not_acquired_in_time(monkeypatch):
    monkeypatch.setattr(interruptible, "SLICE_S", 0.001)
    lock = threading.Lock()
    assert interruptible.acquire(lock, 0.0)
    assert not interruptible.acquire(lock, 0.005)


def test_threads_wait_for_a_latch():
    latch, waiting, arrived = interruptible.Latch(), threading.Lock(), []
    waiting.acquire()
    latch.add(waiting)
    assert not latch.wait(0.001)
    threads = [threading.Thread(target=lambda: arrived.append(latch.wait(60))) for _ in range(3)]
    for thread in threads:
        thread.start()
    latch.set()
    for thread in threads:
        thread.join()
    assert arrived == [True, True, True]
    assert not waiting.locked()
    late = threading.Lock()
    late.acquire()
    latch.add(late)
    assert not late.locked()
    assert latch.wait(0)
    latch.set()


@pytest.mark.parametrize("every", EVERY)
def test_a_latch_can_be_set_wherever_a_wait_was_interrupted(every):
    for interrupt in interrupts(lambda: interruptible.Latch().wait(0), PACKAGE, LIBRARY, every=every):
        latch = interruptible.Latch()
        with contextlib.suppress(KeyboardInterrupt), interrupt:
            latch.wait(0)
        other = threading.Thread(target=latch.set, daemon=True)
        other.start()
        other.join(60)
        assert not other.is_alive(), interrupt.where
        assert latch.wait(60)


def test_the_condition_is_checked_after_each_change():
    news, looks = threading.Lock(), []

    def look():
        looks.append(news.locked())
        if len(looks) == 2:
            news.release()
        return len(looks) == 3

    assert interruptible.wait_until(look, news, 5)
    assert looks == [False, True, True]
    assert not interruptible.wait_until(lambda: False, news, 0)
