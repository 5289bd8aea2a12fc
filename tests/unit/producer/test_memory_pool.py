"""The count of bytes that unsent records may take, and the threads and coroutines that wait for some."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable

import pytest

from kafka.producer.batch.memory_pool import MemoryPool

PATIENCE_S = 10.0


@pytest.fixture
def pool() -> MemoryPool:
    return MemoryPool(100, threading.Lock())


def blocking(pool: MemoryPool, amount: int, give_up: Callable[[], bool] = lambda: False) -> Callable[[], bool]:
    """Have a thread wait for memory, and return once it does; what is returned waits for its answer."""
    answers: list[bool] = []
    thread = threading.Thread(target=lambda: answers.append(pool.block(amount, math.inf, give_up)))
    thread.start()
    while True:
        with pool._freed:  # held by the thread but while it waits
            if pool.contended:
                break

    def answer() -> bool:
        thread.join(PATIENCE_S)
        return answers[0]

    return answer


def test_bytes_are_taken_as_long_as_there_are_some(pool: MemoryPool) -> None:
    assert pool.reserve(60)
    assert not pool.reserve(41)
    assert pool.reserve(40)
    assert pool.free == 0
    assert not pool.reserve(1)
    pool.release(1)
    assert pool.reserve(1)


def test_more_than_there_is_can_be_had_when_nobody_has_any(pool: MemoryPool) -> None:
    assert pool.reserve(250)
    assert pool.free == -150
    assert not pool.reserve(1)
    pool.release(250)
    assert pool.free == 100
    assert pool.reserve(1)
    assert not pool.reserve(250)


def test_a_callback_may_use_what_batches_hold_whose_callbacks_have_not_run(pool: MemoryPool) -> None:
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
    with pool._freed:
        pool.release(49)
    assert pool.contended, "that was too little"
    with pool._freed:
        pool.release(1)
    assert answer()
    assert not pool.contended
    assert pool.free == 0


def test_a_thread_gives_up_when_it_is_told_to(pool: MemoryPool) -> None:
    assert pool.reserve(100)
    closed: list[bool] = []
    answer = blocking(pool, 50, lambda: bool(closed))
    closed.append(True)
    with pool._freed:
        pool.release(100)
    assert not answer()
    assert pool.free == 100
    assert not pool.block(1, math.inf, lambda: True)


def test_a_thread_gives_up_when_its_time_is_up(pool: MemoryPool) -> None:
    assert pool.reserve(100)
    assert not pool.block(1, 0.001, lambda: False)
    assert not pool.contended
    assert not pool.block(1, 0, lambda: False)
    pool.hold(100)
    assert pool.block(1, 0, lambda: False, in_callback=True)


def test_an_interrupted_wait_gives_back_what_it_had_reserved(pool: MemoryPool, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(look: Callable[[], bool], timeout: float | None) -> bool:
        assert look()
        raise KeyboardInterrupt

    monkeypatch.setattr(pool._freed, "wait_for", interrupted)
    with pytest.raises(KeyboardInterrupt):
        pool.block(60, 1, lambda: False)
    assert pool.free == 100
    assert not pool.contended


async def test_coroutines_look_again_when_something_was_given_back(pool: MemoryPool) -> None:
    assert pool.reserve(100)
    first, second = pool.waiter(), pool.waiter()
    assert pool.contended
    second.cancel()
    pool.release(1)
    assert first.done()
    assert not pool.contended
    third = pool.waiter()
    pool.hold(1)
    assert third.done(), "a callback may look at what is held"
