import asyncio
import contextlib
import gc
import logging
import os
import socket
import subprocess
import sys
import textwrap
import threading
import warnings

import pytest

from kafka.errors import ForkedClientError, IllegalStateError, KafkaTimeoutError
from kafka.net import loop_thread as loop_thread_module
from kafka.net.fork import close_in_children
from kafka.net.loop_thread import LoopThread
from unit.interrupt import LIBRARY, PACKAGE, interrupts
from unit.sampling import EVERY

pytestmark = pytest.mark.once


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


def test_run_returns_the_result_of_the_coroutine(loop_thread):
    assert loop_thread.run(value(7)) == 7


def test_run_raises_the_error_of_the_coroutine(loop_thread):
    with pytest.raises(ZeroDivisionError):
        loop_thread.run(fail(ZeroDivisionError()))
    with pytest.raises(TimeoutError, match="mine"):
        loop_thread.run(fail(TimeoutError("mine")), timeout_s=10)


def test_run_cancels_the_coroutine_after_the_timeout(loop_thread):
    began, cancelled, timeout_s = threading.Event(), threading.Event(), 0.01

    async def hang():
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    while not began.is_set():  # the timeout may expire before the loop starts it
        with pytest.raises(KafkaTimeoutError):
            loop_thread.run(hang(), timeout_s=timeout_s)
        timeout_s *= 2
    assert cancelled.wait(30)


def test_run_in_the_loop_thread_raises_instead_of_hanging(loop_thread):
    async def blocking_call():
        return loop_thread.run(value(1))

    with pytest.raises(IllegalStateError, match="own loop thread"):
        loop_thread.run(blocking_call(), timeout_s=60)


def test_an_exchange_returns_the_answer_or_raises_the_error(loop_thread):
    assert loop_thread.exchange(lambda reply: loop_thread.loop.call_soon(reply.set_result, 7)) == 7
    with pytest.raises(ZeroDivisionError):
        loop_thread.exchange(lambda reply: reply.set_exception(ZeroDivisionError()))
    with pytest.raises(SystemExit):
        loop_thread.exchange(lambda reply: sys.exit(3))

    async def blocks():
        return loop_thread.exchange(lambda reply: reply.set_result(1))

    with pytest.raises(IllegalStateError, match="own loop thread"):
        loop_thread.run(blocks())


def test_an_exchange_accepts_only_its_first_answer(loop_thread):
    def answered_twice(reply):
        assert not reply.done()
        reply.set_result(1)
        assert reply.done()
        reply.set_result(2)
        reply.set_exception(ZeroDivisionError())

    assert loop_thread.exchange(answered_twice) == 1


def test_the_waiter_of_an_exchange_gets_an_error_when_the_loop_fails(loop_thread, monkeypatch):
    with pytest.raises(IllegalStateError, match="has failed"):
        loop_thread.exchange(lambda reply: break_loop(loop_thread, monkeypatch))


def test_call_runs_on_the_loop(loop_thread):
    ran = threading.Event()
    loop_thread.call(lambda: loop_thread.in_loop_thread and ran.set())
    assert ran.wait(60)


def test_there_is_one_shared_thread_and_a_new_one_after_it_was_stopped():
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
    with pytest.raises(IllegalStateError, match="stopped before the call was done"):
        future.result(60)


@pytest.mark.parametrize("exits", [SystemExit(3), KeyboardInterrupt()])
def test_a_callback_that_exits_does_not_end_the_loop_of_all_clients(loop_thread, exits, caplog):
    async def waiting():
        await released.wait()
        return "done"

    def exit_in_callback():
        raise exits

    released = asyncio.Event()
    before = loop_thread.spawn(waiting())
    with caplog.at_level(logging.ERROR, "kafka"):
        loop_thread.call(exit_in_callback)
        assert loop_thread.run(value("continues"), timeout_s=60) == "continues"
    loop_thread.call(released.set)
    assert before.result(60) == "done"
    assert [type(exits).__name__ in record.getMessage() for record in caplog.records] == [True]


def test_a_coroutine_that_exits_only_affects_its_own_waiter(loop_thread):
    with pytest.raises(SystemExit):
        loop_thread.run(fail(SystemExit(3)), timeout_s=60)
    assert loop_thread.run(value("continues"), timeout_s=60) == "continues"


def test_a_callback_that_stops_the_loop_does_not_end_it(loop_thread):
    loop_thread.call(loop_thread.loop.stop)
    assert loop_thread.run(value("continues"), timeout_s=60) == "continues"


def broken_select(timeout=None):
    raise OSError(9, "Bad file descriptor")


def break_loop(thread, monkeypatch):
    """Make the loop's selector fail, as if other code had closed its file descriptor."""

    monkeypatch.setattr(thread.loop._selector, "select", broken_select)
    thread.call(lambda: None)


def test_all_waiters_get_an_error_when_the_loop_fails(loop_thread, monkeypatch, caplog):
    async def hang():
        await asyncio.Event().wait()

    class Owner:
        pass

    told, owner, gone = [], Owner(), Owner()
    loop_thread.on_death(owner, lambda owner, error: told.append((owner, type(error))))
    loop_thread.on_death(gone, lambda owner, error: told.append((owner, type(error))))
    del gone
    waiting = [loop_thread.spawn(hang()) for _ in range(3)]
    with caplog.at_level(logging.CRITICAL, "kafka"):
        break_loop(loop_thread, monkeypatch)
        for future in waiting:
            with pytest.raises(IllegalStateError, match=r"event loop of this client has failed.*Bad file descriptor"):
                future.result(60)
        loop_thread._thread.join(60)
    with pytest.raises(IllegalStateError, match="create a new one"):
        loop_thread.run(value(1), timeout_s=60)
    with pytest.raises(IllegalStateError, match="create a new one"):
        loop_thread.call(print)
    assert told == [(owner, IllegalStateError)]
    assert len(caplog.records) == 1


class SocketOwner:
    def __init__(self, loop, transport):
        self.loop, self._transport = loop, transport

    def abort(self, error):
        self._transport.abort()


def test_a_failed_loop_closes_its_connections_even_those_being_closed(loop_thread, monkeypatch):
    async def connect(sock):
        transport, _ = await loop_thread.loop.create_connection(asyncio.Protocol, sock=sock)
        owner = SocketOwner(loop_thread.loop, transport)
        close_in_children(owner, transport.get_extra_info("socket"))
        return owner

    pairs = [socket.socketpair() for _ in range(2)]
    closing, still_open = (loop_thread.run(connect(ours), 5) for ours, _ in pairs)
    monkeypatch.setattr(loop_thread.loop._selector, "select", broken_select)
    loop_thread.call(closing.abort, None)  # callbacks for the next iteration never run
    loop_thread._thread.join(60)
    del closing, still_open
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        gc.collect()
    assert [each for each in caught if "transport" in str(each.message)] == []
    for _, theirs in pairs:
        theirs.settimeout(60)
        assert theirs.recv(1) == b""
        theirs.close()


def test_a_task_that_does_not_end_with_its_failed_loop_delays_nothing(loop_thread, monkeypatch):
    async def resist():
        while True:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(3600)

    monkeypatch.setattr("kafka.net.loop_thread._TASKS_TIMEOUT_S", 0.01)
    stubborn = loop_thread.spawn(resist())
    loop_thread.run(value(None))
    break_loop(loop_thread, monkeypatch)
    with pytest.raises(IllegalStateError, match="create a new one"):
        stubborn.result(60)


def test_after_the_shared_loop_failed_the_next_client_gets_a_new_one(monkeypatch):
    first = LoopThread.shared()
    break_loop(first, monkeypatch)
    first._thread.join(60)
    second = LoopThread.shared()
    assert second is not first
    assert second.run(value(2), timeout_s=60) == 2


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_gets_its_own_thread_and_a_clear_error_for_the_old_one():
    parent = LoopThread.shared()
    assert parent.run(value(1)) == 1
    child = os.fork()
    if child == 0:
        try:
            with pytest.raises(ForkedClientError):
                parent.run(value(1), timeout_s=60)
            with pytest.raises(ForkedClientError):
                parent.call(print)
            fresh = LoopThread.shared()
            os._exit(0 if fresh is not parent and fresh.run(value(2), timeout_s=60) == 2 else 1)
        finally:
            os._exit(9)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert parent.run(value(3)) == 3


def test_keyboard_interrupt_ends_a_blocking_call_at_once():
    done = python(
        """
        import asyncio, signal, threading, time
        from kafka.net.loop_thread import LoopThread
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
        try:
            thread.run(hang())
        except KeyboardInterrupt:
            print(cancelled.wait(15))
        """
    )
    assert (done.stdout, done.stderr, done.returncode) == ("True\n", "", 0)


def test_the_interpreter_exits_silently_while_calls_are_running():
    done = python(
        """
        import asyncio, sys, time
        from kafka.net.loop_thread import LoopThread
        from kafka.net.helper_threads import run_blocking
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


async def test_a_blocking_call_runs_on_the_loop_if_no_thread_can_be_started(monkeypatch):
    from kafka.net.helper_threads import run_blocking

    def refuse(thread):
        raise RuntimeError("can't create new thread at interpreter shutdown")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert await run_blocking(threading.current_thread) is threading.current_thread()
    with pytest.raises(ZeroDivisionError):
        await run_blocking(lambda: 1 // 0)


async def test_a_blocking_call_runs_in_a_thread_and_passes_its_error_on():
    from kafka.net.helper_threads import run_blocking

    assert await run_blocking(lambda: threading.current_thread().daemon) is True
    with pytest.raises(ZeroDivisionError):
        await run_blocking(lambda: 1 // 0)
    with pytest.raises(RuntimeError, match="StopIteration"):
        await run_blocking(lambda: next(iter(())))


def test_an_infinite_timeout_is_accepted(loop_thread):
    assert loop_thread.run(value(7), float("inf")) == 7


def test_a_finalizer_may_call_the_loop_while_a_call_is_registered(loop_thread):
    class Collected(set):
        def add(self, future):
            if calls:
                nested.append(loop_thread.spawn(calls.pop()))
            super().add(future)

    calls, nested = [value(1)], []
    loop_thread._waiting = Collected()
    done = threading.Thread(target=lambda: loop_thread.run(value(2), 20), daemon=True)
    done.start()
    done.join(20)
    assert not done.is_alive()
    assert nested[0].result(20) == 1


@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("every", EVERY)
def test_the_loop_continues_wherever_a_blocking_call_is_interrupted(loop_thread, every):
    def call():
        loop_thread.run(value(7), 5)

    call()
    for interrupt in interrupts(call, PACKAGE, LIBRARY, every=every):
        with contextlib.suppress(KeyboardInterrupt), interrupt:
            call()
        assert loop_thread.run(value(8), 5) == 8, interrupt.where
    assert loop_thread._waiting == set()


def test_a_loop_whose_creation_was_interrupted_is_collected_without_an_error(monkeypatch):
    def interrupted():
        raise KeyboardInterrupt

    unraisable = []
    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)
    monkeypatch.setattr(loop_thread_module, "selector_for_loop", interrupted)
    with pytest.raises(KeyboardInterrupt):
        loop_thread_module._ClientLoop()
    gc.collect()
    assert unraisable == []


def test_a_call_passed_to_a_failing_loop_is_started_and_ended(loop_thread, monkeypatch):
    told = []

    async def open_and_close():
        told.append("begun")
        try:
            await asyncio.Event().wait()
        finally:
            told.append("ended")

    def spawn_and_break():
        monkeypatch.setattr(loop_thread.loop._selector, "select", broken_select)
        told.append(loop_thread.spawn(open_and_close()))

    loop_thread.call(spawn_and_break)
    loop_thread._thread.join(60)
    assert told[1:] == ["begun", "ended"]
    with pytest.raises(IllegalStateError, match="create a new one"):
        told[0].result(60)


def test_coroutines_are_closed_if_ending_the_tasks_fails(loop_thread, monkeypatch, caplog):
    ended = []

    async def hang():
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("hung")

    waiting = loop_thread.spawn(hang())
    loop_thread.run(value(None))
    monkeypatch.setattr(loop_thread.loop, "watch_nothing", broken_select)
    break_loop(loop_thread, monkeypatch)
    with pytest.raises(IllegalStateError, match="create a new one"):
        waiting.result(60)
    loop_thread._thread.join(60)
    assert ended == ["hung"]
    assert "could not be ended" in caplog.text
    del waiting
    gc.collect()
    destroyed = [message for message in caplog.messages if "was destroyed but it is pending" in message]
    assert not any(hang.__qualname__ in message for message in destroyed)  # a task of another test may end here


def test_a_task_has_some_iterations_of_the_loop_to_end(loop_thread):
    ended = threading.Event()

    async def hang():
        try:
            await asyncio.Event().wait()
        finally:
            for _ in range(20):
                await asyncio.sleep(0)
            ended.set()

    loop_thread.spawn(hang())
    loop_thread.run(value(None))
    loop_thread.stop()
    assert ended.is_set()


def test_running_tasks_are_ended_when_the_interpreter_exits():
    done = python(
        """
        import asyncio
        from kafka.net.loop_thread import LoopThread
        thread = LoopThread.shared()
        async def hang():
            try:
                await asyncio.Event().wait()
            finally:
                print("ended", flush=True)
        call = thread.spawn(hang())
        thread.run(asyncio.sleep(0))
        """
    )
    assert (done.stdout, done.stderr, done.returncode) == ("ended\n", "", 0)


def test_a_thread_woken_by_a_finalizer_while_the_loop_goes_to_sleep_does_not_wait_for_the_loop(loop_thread):
    """The loop may sleep for minutes; only other threads and timers wake it."""
    loop, lock, in_time = loop_thread.loop, threading.Lock(), []
    lock.acquire()

    class Finalizing(list):
        """The locks to release; a garbage collection runs after they have been released, before the loop sleeps."""

        def __delitem__(self, which):
            super().__delitem__(which)
            if lock.locked():
                loop.release_soon(lock)

    async def sleep():
        selector = loop._selector
        selector.to_release = Finalizing([threading.Lock()])
        selector.select(0)
        in_time.append(not lock.locked())

    loop_thread.run(sleep(), 20)
    assert in_time == [True]
