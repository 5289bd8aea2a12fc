"""How the asyncio consumer waits, in virtual time."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from kafka.consumer.runners import loop_runner
from kafka.consumer.runners.loop_runner import AnyCaller, LoopRunner
from kafka.errors import KafkaTimeoutError
from unit.virtual_loop import simulate

PATIENCE_S = 10.0


def play(scenario: Callable[[LoopRunner], Awaitable[None]]) -> None:
    async def main() -> None:
        await scenario(LoopRunner())

    simulate(main)


def test_news_from_the_loop_itself_are_there_at_once_and_those_of_others_wake_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scenario(runner: LoopRunner) -> None:
        woken: list[Callable[[], None]] = []
        monkeypatch.setattr(runner.loop, "call_soon_threadsafe", woken.append)
        runner.notify()
        assert (bool(runner._news), woken) == (True, [])
        runner.clear()

        async def on_another_loop() -> None:
            runner.notify()

        for target in (runner.notify, lambda: asyncio.run(on_another_loop())):
            thread = threading.Thread(target=target)
            thread.start()
            thread.join(PATIENCE_S)
        assert not runner._news
        for wake in woken[-1:]:
            wake()
        assert runner._news
        assert runner._tell in woken
        assert woken.count(runner._tell) == 2

    play(scenario)


def test_a_wait_ends_with_news_or_with_its_time_and_leaves_no_timer() -> None:
    async def scenario(runner: LoopRunner) -> None:
        begun = runner.time()
        await runner.wait(7)
        assert runner.time() - begun == pytest.approx(7)
        runner.clear()
        runner.loop.call_later(2, runner.notify)
        await runner.wait(100)
        assert runner.time() - begun == pytest.approx(9)
        runner.clear()
        await asyncio.sleep(200)
        assert not runner._news

    play(scenario)


def test_waits_share_a_timer_and_none_ends_before_its_time() -> None:
    async def scenario(runner: LoopRunner) -> None:
        set_at: list[float] = []
        call_at = runner.loop.call_at

        def counted(when: float, *args: Any, **options: Any) -> asyncio.TimerHandle:
            set_at.append(when)
            return call_at(when, *args, **options)

        begun = runner.time()
        for wait in range(3):
            runner.loop.call_soon(runner.notify)
            runner.clear()
            runner.loop.call_at = counted  # type: ignore[method-assign]
            await runner.wait(7 + wait)
            runner.loop.call_at = call_at  # type: ignore[method-assign]
        assert (set_at, runner.time()) == ([begun + 7], begun)
        runner.clear()
        await runner.wait(20)
        assert runner.time() - begun == pytest.approx(20)

    play(scenario)


def test_news_in_the_iteration_of_an_earlier_waits_timer_are_not_lost() -> None:
    async def scenario(runner: LoopRunner) -> None:
        begun = runner.time()
        runner.loop.call_soon(runner.notify)
        runner.clear()
        await runner.wait(7)  # its timer outlives it
        runner.loop.call_at(begun + 7, runner.notify)  # in the same iteration as that timer
        runner.clear()
        await runner.wait(20)
        assert runner.time() == begun + 7

    play(scenario)


def test_the_timer_of_a_wait_does_not_keep_an_abandoned_runner() -> None:
    async def main() -> None:
        runner = LoopRunner()
        runner.loop.call_soon(runner.notify)
        runner.clear()
        await runner.wait(3600)
        gone = weakref.ref(runner)
        del runner
        await asyncio.sleep(0)
        gc.collect()
        assert gone() is None

    simulate(main)


def test_news_reach_every_waiter_even_if_one_of_them_forgets_them_first() -> None:
    async def scenario(runner: LoopRunner) -> None:
        async def poll() -> float:
            await runner.wait(60)
            runner.clear()
            return runner.time()

        begun = runner.time()
        runner.loop.call_later(1, runner.notify)
        assert await asyncio.gather(poll(), poll()) == [begun + 1] * 2

    play(scenario)


def test_a_call_is_over_for_all_tasks_when_it_has_returned() -> None:
    async def scenario(runner: LoopRunner) -> None:
        seen: list[Any] = []
        go = asyncio.Event()

        async def task() -> None:
            seen.append(("within", runner.is_in_a_call, LoopRunner().is_in_a_call))
            await go.wait()
            seen.append(("after", runner.is_in_a_call))

        tasks: list[asyncio.Task[None]] = []

        async def listener() -> None:
            tasks.append(asyncio.create_task(task()))
            await asyncio.sleep(1)
            seen.append(("listener", runner.is_in_a_call))

        assert not runner.is_in_a_call
        await runner.call(listener)
        assert not runner.is_in_a_call
        assert loop_runner._innermost.get() is None, "a task that is called in for ever would keep all its calls"
        go.set()
        await tasks[0]
        assert seen == [("within", True, False), ("listener", True), ("after", False)]

    play(scenario)


def test_a_concurrent_close_waits_for_its_timeout() -> None:
    async def scenario(runner: LoopRunner) -> None:
        first = asyncio.create_task(runner.close_once(lambda: asyncio.sleep(60), 0))
        await asyncio.sleep(1)
        begun = runner.time()
        with pytest.raises(KafkaTimeoutError, match="within 5000 ms"):
            await runner.close_once(lambda: asyncio.sleep(0), 5_000)
        assert runner.time() - begun == pytest.approx(5)
        await runner.close_once(lambda: asyncio.sleep(0), 60_000)
        assert runner.time() - begun == pytest.approx(59)
        await first

    play(scenario)


def test_a_loop_that_continues_in_another_thread_takes_polling_tasks_with_it() -> None:
    loop = asyncio.new_event_loop()
    guard = AnyCaller()
    done: list[str] = []

    async def polling(name: str, until: asyncio.Event) -> None:
        with guard:
            await until.wait()
        done.append(name)

    def end() -> None:
        async def main() -> None:
            another = asyncio.Event()
            task = loop.create_task(polling("second", another))
            another.set()
            begun.set()
            await asyncio.wait({task, *started})

        loop.run_until_complete(main())

    begun, started = asyncio.Event(), []

    async def begin() -> None:
        started.append(loop.create_task(polling("first", begun)))
        await asyncio.sleep(0)

    loop.run_until_complete(begin())
    thread = threading.Thread(target=end, daemon=True)
    thread.start()
    thread.join(PATIENCE_S)
    assert not thread.is_alive(), "the second task waits for the thread of the first one"
    loop.close()
    assert sorted(done) == ["first", "second"]
