"""What makes a worker process of Spark cheap to use again."""

import gc
import itertools

_tasks = itertools.count(1)


def begin_task() -> None:
    """Say that a task begins in this process, which Spark made and keeps.

    Spark lets a worker collect garbage after every task. That goes through all that is imported, some 100,000 objects
    and 40 ms or more, in which the worker takes no other task: longer than a small one lasts. When the second task
    begins this has just been done, so what is alive is there to stay, and is left out of collections from then on.
    """
    if next(_tasks) == 2:
        gc.freeze()
