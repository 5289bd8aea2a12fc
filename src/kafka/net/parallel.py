"""Runs the next jobs of a sequence in threads of their own while the caller runs the first.

This pays for jobs that release the GIL, as compression does, and that take milliseconds. A thread lives for one job, so
that there is none to stop when a client is closed or the process forks; the interpreter waits for it at its exit.
"""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def results_in_order(jobs: Iterable[Callable[[], T]], helpers: int) -> Iterator[T]:
    """Give what jobs return, in their order.

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
    """Run a job in a thread; in this one, where no other can be had."""
    future: Future[T] = Future()

    def work() -> None:
        try:
            future.set_result(job())
        except BaseException as error:  # handed over to whoever asks, whatever it is
            future.set_exception(error)

    try:
        threading.Thread(target=work, name="kafka-helper", daemon=False).start()
    except RuntimeError:  # as when the interpreter is about to end
        work()
    return future
