"""Runs functions in threads of their own: calls that would block the event loop, and several jobs at once."""

import asyncio
import functools
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from itertools import islice
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def run_blocking(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Await ``function(*args, **kwargs)``, which blocks, in a thread of its own; cancelling abandons the thread.

    Examples are name look-ups, token providers and key derivation. Each call has a daemon thread instead of one of the
    loop's executor: the interpreter waits at its exit for the threads of an executor, so a name server that does not
    answer would hold up every program. If no thread can be started, the call runs on the loop: flushing at the end of a
    program may have to connect first.
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
        except RuntimeError:  # the loop was closed meanwhile: there is no waiter left
            return

    try:
        threading.Thread(target=work, name="kafka-blocking", daemon=True).start()
    except RuntimeError:  # Python 3.12 and later start none once the interpreter is about to end
        work()
    return await future


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def results_in_order(jobs: Iterable[Callable[[], T]], helpers: int) -> Iterator[T]:
    """Yield the results of jobs, in order; the next jobs run in threads while the caller runs the first.

    This pays for jobs that release the GIL, as compression does, and that take milliseconds. A thread lives for one
    job, so there is none to stop when a client is closed or the process forks; the interpreter waits for it at exit.

    Arguments:
        jobs: taken one by one.
        helpers: how many of the following ones run meanwhile, each in a thread; 0: everything in the caller's.

    Raises what a job raises, when its turn comes. What was begun beyond it is finished, and forgotten.
    """
    rest = iter(jobs)
    for job in rest:
        begun = deque(_begin(each) for each in islice(rest, helpers))
        yield job()
        while begun:
            yield begun.popleft().result()


def _begin(job: Callable[[], T]) -> Future[T]:
    """Run a job in a new thread, or in this one if no thread can be started."""
    future: Future[T] = Future()

    def work() -> None:
        try:
            future.set_result(job())
        except BaseException as error:  # the future passes it on, whatever it is
            future.set_exception(error)

    try:
        threading.Thread(target=work, name="kafka-helper", daemon=False).start()
    except RuntimeError:  # as when the interpreter is about to end
        work()
    return future
