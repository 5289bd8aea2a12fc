"""Calls that block (name look-ups, token providers, key derivation), kept off the event loop.

A daemon thread for each call, instead of the loop's executor: the interpreter waits at its exit for the threads of an
executor, so a name server that does not answer would hold up every program.
"""

import asyncio
import functools
import threading
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def run_blocking(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Await ``function(*args, **kwargs)``, which runs in a thread of its own; cancelling abandons the thread.

    Where no thread can be had it runs on the loop: what is flushed at the end of a program may have to connect first.
    """
    loop = asyncio.get_running_loop()
    call_blocking = getattr(loop, "call_blocking", None)
    if call_blocking is not None:  # a simulated loop: there is one thread, and time passes only between events
        done: T = call_blocking(functools.partial(function, *args, **kwargs))
        return done
    future: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: BaseException | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)  # type: ignore[arg-type]  # None only where T allows it

    def work() -> None:
        result: T | None = None
        error: BaseException | None = None
        try:
            result = function(*args, **kwargs)
        except BaseException as raised:  # handed over to the awaiting side, whatever it is
            error = raised
        if isinstance(error, StopIteration):  # a future cannot carry it
            error = RuntimeError(f"{function!r} raised StopIteration")
        try:
            loop.call_soon_threadsafe(settle, result, error)
        except RuntimeError:  # the loop was closed meanwhile: nobody waits any more
            return

    try:
        threading.Thread(target=work, name="kafka-blocking", daemon=True).start()
    except RuntimeError:  # Python 3.12 and later start none once the interpreter is about to end
        work()
    return await future
