"""Runs functions in separate threads: calls that would block the event loop, and jobs in parallel."""

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
    """Await the blocking call ``function(*args, **kwargs)`` in a new thread. Cancelling abandons the thread.

    Examples are name lookups, token providers and key derivation. Each call has its own daemon thread, instead of a
    thread of the loop's executor: at exit, the interpreter waits for the threads of executors, so a name server that
    does not answer would delay every program. If no thread can be started, the call runs on the loop, because flushing
    at the end of a program may require a new connection.
    """
    loop = asyncio.get_running_loop()
    call_blocking = getattr(loop, "call_blocking", None)
    if call_blocking is not None:  # a simulated loop has only one thread, and its time advances only between events
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
        except BaseException as raised:  # any exception is passed to the awaiting caller
            error = raised
        if isinstance(error, StopIteration):  # futures do not accept StopIteration
            error = RuntimeError(f"{function!r} raised StopIteration")
        try:
            loop.call_soon_threadsafe(settle, result, error)
        except RuntimeError:  # the loop has been closed: nothing waits for the result
            return

    try:
        threading.Thread(target=work, name="kafka-blocking", daemon=True).start()
    except RuntimeError:  # Python 3.12 and later start no threads once the interpreter is exiting
        work()
    return await future


def processors() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def results_in_order(jobs: Iterable[Callable[[], T]], helpers: int) -> Iterator[T]:
    """Yield the results of jobs, in order; the next jobs run in threads while the caller runs the first.

    This is faster for jobs that release the GIL, such as compression, and take milliseconds. Each thread runs one job,
    so no thread has to be stopped when a client is closed or the process forks. The interpreter waits for the threads
    at exit.

    Arguments:
        jobs: consumed one by one.
        helpers: maximum number of jobs that run ahead, each in a thread; 0: all jobs run in the caller's thread.

    If a job raises an exception, the exception is raised when the job's result would be yielded. Jobs started after
    that one are completed, and their results are discarded.
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
        except BaseException as error:  # the future passes on any exception
            future.set_exception(error)

    try:
        threading.Thread(target=work, name="kafka-helper", daemon=False).start()
    except RuntimeError:  # for example because the interpreter is exiting
        work()
    return future
