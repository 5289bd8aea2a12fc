"""Worker threads run their functions in order, whatever the functions do."""

from __future__ import annotations

import asyncio
import sys
import threading

import pytest

from kafka.net.callback_thread import WorkerThread

PATIENCE_S = 30.0


def test_functions_run_in_order_in_one_separate_thread() -> None:
    worker = WorkerThread("worker-under-test")
    seen: list[tuple[int, threading.Thread, bool]] = []
    for i in range(100):
        worker.submit(lambda i=i: seen.append((i, threading.current_thread(), WorkerThread.is_current())))
    assert worker.drain(PATIENCE_S)
    assert [i for i, *_ in seen] == list(range(100))
    assert {(thread.name, thread.daemon, inside) for _, thread, inside in seen} == {("worker-under-test", True, True)}
    assert not WorkerThread.is_current()
    worker.finish()


def test_an_error_of_a_function_ends_nothing(caplog: pytest.LogCaptureFixture) -> None:
    worker = WorkerThread("worker-under-test")
    seen: list[str] = []

    def interrupt() -> None:
        raise KeyboardInterrupt

    for function in (sys.exit, interrupt, lambda: 1 / 0, lambda: seen.append("after")):
        worker.submit(function)
    assert worker.drain(PATIENCE_S)
    assert seen == ["after"]
    assert [record.exc_info[0] for record in caplog.records if record.exc_info] == [
        SystemExit,
        KeyboardInterrupt,
        ZeroDivisionError,
    ]
    worker.finish()


def test_a_worker_without_functions_has_no_thread() -> None:
    worker = WorkerThread("idle-worker")
    assert worker.drain(0)
    worker.finish()
    assert not [thread for thread in threading.enumerate() if thread.name == "idle-worker"]


def test_a_finished_worker_runs_pending_functions_and_restarts_for_new_ones() -> None:
    worker = WorkerThread("worker-under-test")
    release, seen = threading.Event(), list[int]()
    worker.submit(lambda: release.wait(PATIENCE_S))
    worker.submit(lambda: seen.append(1))
    worker.finish()
    release.set()
    assert worker.drain(PATIENCE_S)
    worker.finish()
    worker.submit(lambda: seen.append(2))
    assert worker.drain(PATIENCE_S)
    assert seen == [1, 2]
    worker.finish()


def test_draining_ends_after_its_timeout() -> None:
    worker = WorkerThread("worker-under-test")
    release = threading.Event()
    worker.submit(lambda: release.wait(PATIENCE_S))
    assert not worker.drain(0.01)
    release.set()
    assert worker.drain(PATIENCE_S)
    worker.finish()


async def test_a_loop_can_wait_until_it_is_idle() -> None:
    worker = WorkerThread("worker-under-test")
    await worker.idle()
    release, seen = threading.Event(), list[int]()
    worker.submit(lambda: (release.wait(PATIENCE_S), seen.append(1)))
    waiting = asyncio.create_task(worker.idle())
    await asyncio.sleep(0)
    assert not waiting.done()
    release.set()
    await asyncio.wait_for(waiting, PATIENCE_S)
    assert seen == [1]
    worker.finish()


def test_draining_runs_pending_functions_if_no_thread_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    worker = WorkerThread("worker-under-test")
    seen: list[int] = []
    worker.submit(lambda: seen.append(1))
    assert seen == []
    assert worker.drain(PATIENCE_S)
    assert seen == [1]


def test_a_thread_ends_even_if_functions_follow_its_end_marker() -> None:
    worker = WorkerThread("worker-that-ends")
    begun, go_on = threading.Event(), threading.Event()

    def slow() -> None:
        begun.set()
        go_on.wait(PATIENCE_S)

    worker.submit(slow)
    assert begun.wait(PATIENCE_S)
    (thread,) = (each for each in threading.enumerate() if each.name == "worker-that-ends")
    worker.finish()
    seen: list[str] = []
    worker.submit(lambda: seen.append("behind"))
    go_on.set()
    thread.join(PATIENCE_S)
    assert not thread.is_alive()
    assert seen == ["behind"]
