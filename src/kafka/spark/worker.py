"""What makes a worker process of Spark cheap to use again."""

import gc
import itertools
import os

_calls = itertools.count(1)


def begin_call() -> None:
    """Say that Spark begins a task, or a part of planning one, in this process: once for each call of Spark's.

    Spark keeps the processes in which it calls sources and sinks, and collects garbage in them after every call. That
    goes through all that is imported, some 100,000 objects and 40 ms or more, in which the process takes no other call
    and others have a core less: longer than a small task lasts. When the second call begins this has just been done, so
    what is alive is there to stay, and is left out of collections from then on.

    Elsewhere nothing is done: a program's own process is not ours to arrange.
    """
    if next(_calls) == 2 and os.environ.get("SPARK_REUSE_WORKER"):
        gc.freeze()
