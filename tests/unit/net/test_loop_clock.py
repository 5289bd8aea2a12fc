"""The clock that clients read: the loop's own, whatever the loop or the program has put in its place."""

from __future__ import annotations

import asyncio
import sys
import time

import pytest

from kafka.consumer.runners.loop_runner import LoopRunner
from kafka.net.own_loop import clock_of
from unit.virtual_loop import simulate
from unit.waiting import settable_clock


def test_ordinary_loops_are_read_without_a_python_function() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        assert clock_of(loop) is time.monotonic
        clock = settable_clock()
        assert clock_of(loop) is clock

    asyncio.run(main())


def test_a_loop_with_a_clock_of_its_own_keeps_it() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        before = clock_of(loop)()
        await asyncio.sleep(1000)
        assert clock_of(loop)() == before + 1000

    simulate(main)


def test_a_wait_ends_where_a_program_freezes_the_clock_for_all_but_asyncio(monkeypatch: pytest.MonkeyPatch) -> None:
    """`freezegun.freeze_time(..., real_asyncio=True)` does the same."""
    real = time.monotonic

    def frozen() -> float:
        caller = sys._getframe(1).f_globals["__name__"]
        return real() if caller.startswith("asyncio") else 1.7e9

    monkeypatch.setattr(time, "monotonic", frozen)

    async def main() -> None:
        async with asyncio.timeout(30):
            await LoopRunner().wait(0.01)

    asyncio.run(main())
