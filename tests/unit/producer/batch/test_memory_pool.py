"""The count of bytes that unsent records may take, and the threads and coroutines that wait for some."""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Callable

import pytest

from kafka.producer.batch.memory_pool import MemoryPool, Reservation
from unit.interrupt import LIBRARY, PACKAGE, interrupts
from unit.sampling import EVERY

pytestmark = pytest.mark.once

PATIENCE_S = 10.0


@pytest.fixture
def pool() -> MemoryPool:
    return MemoryPool(100, threading.RLock())


def blocking(pool: MemoryPool, amount: int, give_up: Callable[[], bool] = lambda: False) -> Callable[[], bool]:
    """Have a thread wait for memory, and return once it does; what is returned waits for its answer."""
    answers: list[bool] = []
    thread = threading.Thread(target=lambda: answers.append(pool.block(amount, math.inf, give_up, Reservation())))
    thread.start()
    while not pool.contended:
        time.sleep(0)

    def answer() -> bool:
        thread.join(PATIENCE_S)
        return answers[0]

    return answer


def test_bytes_are_reserved_while_available(pool: MemoryPool) -> None:
    assert pool.reserve(60)
    assert not pool.reserve(41)
    assert pool.reserve(40)
    assert pool.free == 0
    assert not pool.reserve(1)
    pool.release(1)
    assert pool.reserve(1)


def test_an_oversized_request_succeeds_if_nothing_is_reserved(pool: MemoryPool) -> None:
    assert pool.reserve(250)
    assert pool.free == -150
    assert not pool.reserve(1)
    pool.release(250)
    assert pool.free == 100
    assert pool.reserve(1)
    assert not pool.reserve(250)


def test_callbacks_may_use_memory_held_by_finished_batches(pool: MemoryPool) -> None:
    assert pool.reserve(100)
    pool.hold(30)
    assert not pool.reserve(30)
    assert not pool.reserve(31, in_callback=True)
    assert pool.reserve(30, in_callback=True)
    assert (pool.free, pool.held) == (-30, 30)
    pool.release(30, held=True)
    assert (pool.free, pool.held) == (0, 0)


def test_a_thread_waits_until_there_is_enough(pool: MemoryPool) -> None:
    assert pool.reserve(100)
    answer = blocking(pool, 50)
    with pool._lock:
        pool.release(49)
    assert pool.contended, "that was too little"
    with pool._lock:
        pool.release(1)
    assert answer()
    assert not pool.contended
    assert pool.free == 0


def test_a_thread_gives_up_on_request(pool: MemoryPool) -> None:
    assert pool.reserve(100)
    closed: list[bool] = []
    answer = blocking(pool, 50, lambda: bool(closed))
    closed.append(True)
    with pool._lock:
        pool.release(100)
    assert not answer()
    assert pool.free == 100
    assert not pool.block(1, math.inf, lambda: True, Reservation())


def test_a_thread_gives_up_after_its_timeout(pool: MemoryPool) -> None:
    assert pool.reserve(100)
    assert not pool.block(1, 0.001, lambda: False, Reservation())
    assert not pool.contended
    assert not pool.block(1, 0, lambda: False, Reservation())
    pool.hold(100)
    assert pool.block(1, 0, lambda: False, Reservation(), in_callback=True)


@pytest.mark.parametrize("taken", [0, 100])
@pytest.mark.parametrize("every", EVERY)
def test_an_interrupted_wait_loses_no_memory(pool: MemoryPool, taken: int, every: int) -> None:
    reserved = Reservation()

    def block() -> None:
        pool.block(60, 0, lambda: False, reserved)

    assert pool.reserve(taken)
    for interrupt in interrupts(block, PACKAGE, LIBRARY, every=every):
        pool.give_back(reserved)
        with contextlib.suppress(KeyboardInterrupt), interrupt:
            block()
        assert not pool._lock._is_owned(), interrupt.where  # type: ignore[attr-defined]
        assert pool.free == 100 - taken - reserved.held, interrupt.where
        assert not pool.contended


async def test_coroutines_get_returned_memory_in_order(pool: MemoryPool) -> None:
    assert pool.reserve(100)
    reservations = [Reservation() for _ in range(4)]
    first, second, third, fourth = (pool.waiter(30, reserved) for reserved in reservations)
    assert pool.contended
    second.cancel()
    pool.release(29)
    assert not first.done()
    pool.release(31)
    assert first.done()
    assert third.done()
    assert not fourth.done()
    assert [reserved.held for reserved in reservations] == [30, 0, 30, 0]
    fourth.cancel()
    pool.wake()
    assert not pool.contended
    assert pool.free == 0


async def test_coroutines_are_released_without_memory_at_the_end(pool: MemoryPool) -> None:
    assert pool.reserve(100)
    reserved = Reservation()
    waiting, cancelled = pool.waiter(1, reserved), pool.waiter(1, Reservation())
    cancelled.cancel()
    pool.end_waiting()
    assert waiting.done()
    assert not reserved.held
    assert not pool.contended
