import asyncio
import os
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from kafka.errors import ForkedClientError, IllegalStateError, KafkaTimeoutError
from kafka.net.loop import LoopThread


@pytest.fixture
def loop_thread():
    thread = LoopThread("test-loop")
    yield thread
    thread.stop()


def python(program, timeout=20):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=timeout, check=False
    )


async def value(result):
    await asyncio.sleep(0)
    return result


async def fail(error):
    raise error


def test_run_gives_the_result_of_the_coroutine(loop_thread):
    assert loop_thread.run(value(7)) == 7


def test_run_raises_what_the_coroutine_raises(loop_thread):
    with pytest.raises(ZeroDivisionError):
        loop_thread.run(fail(ZeroDivisionError()))
    with pytest.raises(TimeoutError, match="mine"):
        loop_thread.run(fail(TimeoutError("mine")), timeout_s=10)


def test_run_ends_and_cancels_when_the_time_is_up(loop_thread):
    cancelled = threading.Event()

    async def hang():
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    with pytest.raises(KafkaTimeoutError):
        loop_thread.run(hang(), timeout_s=0.01)
    assert cancelled.wait(5)


def test_run_in_the_loops_own_thread_is_refused_instead_of_hanging(loop_thread):
    async def blocking_call():
        return loop_thread.run(value(1))

    with pytest.raises(IllegalStateError, match="own loop thread"):
        loop_thread.run(blocking_call(), timeout_s=5)


def test_call_runs_on_the_loop(loop_thread):
    ran = threading.Event()
    loop_thread.call(lambda: loop_thread.in_loop_thread and ran.set())
    assert ran.wait(5)


def test_the_shared_thread_is_one_and_is_made_anew_after_it_was_stopped():
    first = LoopThread.shared()
    assert LoopThread.shared() is first
    first.stop()
    assert LoopThread.shared() is not first
    with pytest.raises(IllegalStateError):
        first.run(value(1))


def test_a_stopped_thread_ends_its_tasks(loop_thread):
    ended = threading.Event()

    async def hang():
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    future = loop_thread.spawn(hang())
    loop_thread.run(value(None))
    loop_thread.stop()
    assert ended.is_set()
    assert future.cancelled()


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_gets_a_thread_of_its_own_and_a_clear_error_for_the_old_one():
    parent = LoopThread.shared()
    assert parent.run(value(1)) == 1
    child = os.fork()
    if child == 0:
        try:
            with pytest.raises(ForkedClientError):
                parent.run(value(1), timeout_s=5)
            with pytest.raises(ForkedClientError):
                parent.call(print)
            fresh = LoopThread.shared()
            os._exit(0 if fresh is not parent and fresh.run(value(2), timeout_s=5) == 2 else 1)
        finally:
            os._exit(9)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert parent.run(value(3)) == 3


def test_keyboard_interrupt_ends_a_blocking_call_at_once():
    done = python(
        """
        import asyncio, signal, threading, time
        from kafka.net.loop import LoopThread
        signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell starts in the background ignores it
        thread = LoopThread.shared()
        cancelled = threading.Event()
        async def hang():
            try:
                main = threading.main_thread().ident
                asyncio.get_running_loop().call_later(0.05, signal.pthread_kill, main, signal.SIGINT)
                await asyncio.Event().wait()
            finally:
                cancelled.set()
        began = time.monotonic()
        try:
            thread.run(hang())
        except KeyboardInterrupt:
            print(time.monotonic() - began < 5, cancelled.wait(5))
        """
    )
    assert (done.stdout, done.stderr, done.returncode) == ("True True\n", "", 0)


def test_the_interpreter_exits_at_once_and_silently_whatever_still_runs():
    began = time.monotonic()
    done = python(
        """
        import asyncio, sys, time
        from kafka.net.loop import LoopThread
        from kafka.net.blocking import run_blocking
        thread = LoopThread.shared()
        async def hang():
            await asyncio.Event().wait()
        async def stuck_lookup():
            await run_blocking(time.sleep, 600)
        futures = [thread.spawn(hang()), thread.spawn(stuck_lookup())]
        thread.run(asyncio.sleep(0.01))
        sys.exit(3)
        """
    )
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 3)
    assert time.monotonic() - began < 10


async def test_a_blocking_call_runs_beside_the_loop_and_hands_over_its_error():
    from kafka.net.blocking import run_blocking

    assert await run_blocking(lambda: threading.current_thread().daemon) is True
    with pytest.raises(ZeroDivisionError):
        await run_blocking(lambda: 1 // 0)
    with pytest.raises(RuntimeError, match="StopIteration"):
        await run_blocking(lambda: next(iter(())))
