"""Locks that a thread releases while it waits for the loop, and that are free in a forked child."""

import os
import threading

import pytest

from kafka.net.buffers import BufferPool
from kafka.net.interruptible import Latch, loop_lock


def test_a_waiting_thread_releases_its_loop_locks_and_reacquires_them() -> None:
    lock, other, latch = loop_lock(), loop_lock(), Latch()

    def use() -> None:
        if lock.acquire(timeout=10):
            lock.release()
            latch.set()

    thread = threading.Thread(target=use)
    with lock, lock:
        thread.start()
        assert latch.wait(20)
        thread.join()
        got: list[bool] = []
        for each in (lock, other):
            beside = threading.Thread(target=lambda each=each: got.append(each.acquire(blocking=False)))
            beside.start()
            beside.join()
        assert got == [False, True]
    lock.acquire()
    lock.release()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_does_not_wait_for_a_thread_of_its_parent() -> None:
    """This includes the pool of receive buffers, which a client created in the child uses too."""
    pool = BufferPool()
    has_it, may_end = Latch(), Latch()

    def hold() -> None:
        with pool._lock:
            has_it.set()
            _sleep_until(may_end)

    def _sleep_until(latch: Latch) -> None:
        waiter = threading.Lock()
        waiter.acquire()
        latch.add(waiter)
        waiter.acquire()

    holder = threading.Thread(target=hold)
    holder.start()
    assert has_it.wait(10)
    child = os.fork()
    if not child:
        os._exit(0 if pool._lock.acquire(timeout=60) and pool.take(10) else 1)
    status = os.waitpid(child, 0)[1]
    may_end.set()
    holder.join()
    assert os.waitstatus_to_exitcode(status) == 0
