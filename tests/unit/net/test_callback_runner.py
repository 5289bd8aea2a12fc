"""Callbacks and waiting coroutines on event loops."""

from __future__ import annotations

import asyncio
import threading

from kafka.net.callback_thread import LoopCallbacks
from kafka.producer.future import LoopWaiter


async def test_callbacks_run_in_a_later_iteration_and_can_be_awaited() -> None:
    callbacks = LoopCallbacks(asyncio.get_running_loop())
    run: list[int] = []
    callbacks.submit(lambda: run.append(1))
    callbacks.submit(lambda: run.append(2))
    assert not run
    await callbacks.idle()
    assert run == [1, 2]
    waiting = asyncio.create_task(callbacks.idle())
    await asyncio.sleep(0)
    waiting.cancel()  # a late result for a cancelled waiter does no harm
    await asyncio.gather(waiting, return_exceptions=True)
    assert waiting.cancelled()
    callbacks.finish()


async def test_a_coroutine_callback_continues_at_once_on_its_own_loop() -> None:
    loop = asyncio.get_running_loop()
    here, there = LoopWaiter(loop), LoopWaiter(loop)
    here.release()
    assert here.arrived.done()
    here.release()
    thread = threading.Thread(target=there.release)
    thread.start()
    await asyncio.wait_for(there.arrived, 10)
    thread.join()


def test_a_coroutine_of_a_closed_loop_is_ignored() -> None:
    loop = asyncio.new_event_loop()
    waiter = LoopWaiter(loop)
    loop.close()
    waiter.release()
    assert not waiter.arrived.done()
