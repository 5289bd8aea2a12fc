"""Waiting in slices, as on Windows; Linux can do it too."""

import asyncio
import concurrent.futures
import threading

import pytest

from kafka.consumer.drive.thread_runner import ThreadRunner
from kafka.errors import KafkaTimeoutError
from kafka.net import LoopThread, interruptible


@pytest.fixture
def loop_thread(monkeypatch):
    monkeypatch.setattr(interruptible, "IN_SLICES", True)
    thread = LoopThread("test-loop")
    yield thread
    thread.stop()


class ScriptedLock:
    """Is not got before a signal's handler raises."""

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


def test_an_interrupt_ends_a_long_wait_for_news(loop_thread):
    runner = ThreadRunner(loop_thread)
    runner._gate = ScriptedLock()
    with pytest.raises(KeyboardInterrupt):
        runner.wait(3_600)
    assert all(0 < wait <= 0.1 for wait in runner._gate.waits)


def test_news_ends_the_wait(loop_thread):
    runner = ThreadRunner(loop_thread)
    runner.notify()
    runner.wait(float("inf"))
    runner.wait(0)


def test_an_interrupt_ends_a_blocking_call_and_cancels_it(loop_thread, monkeypatch):
    waits, cancelled = [], threading.Event()

    def wait(futures, timeout):
        waits.append(timeout)
        if len(waits) == 3:
            raise KeyboardInterrupt

    async def hang():
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    monkeypatch.setattr(concurrent.futures, "wait", wait)
    with pytest.raises(KeyboardInterrupt):
        loop_thread.run(hang())
    assert cancelled.wait(5)
    assert all(0 < wait <= 0.1 for wait in waits)


def test_a_blocking_call_gives_its_result_or_ends_when_the_time_is_up(loop_thread):
    assert loop_thread.run(value(7)) == 7
    assert loop_thread.run(asyncio.sleep(0.01, 8), 60.0) == 8
    with pytest.raises(KafkaTimeoutError):
        loop_thread.run(asyncio.Event().wait(), 0.01)


def test_a_lock_that_is_not_got_in_time(monkeypatch):
    monkeypatch.setattr(interruptible, "_SLICE_S", 0.001)
    lock = threading.Lock()
    assert interruptible.acquire(lock, 0.0)
    assert not interruptible.acquire(lock, 0.005)
