"""What makes a Spark worker process cheap to reuse."""

import gc
import itertools
import os
import sys

_calls = itertools.count(1)
_modules_frozen = 0


def begin_call() -> None:
    """Called when Spark begins a call of the source or sink in this process. Freezes the garbage collector's view.

    Spark keeps the processes in which it calls sources and sinks, and collects garbage after every call. A collection
    looks at everything that was imported: some 100,000 objects and 40 ms or more, which is longer than a small task
    takes. When the second call begins, a collection has just been done. What is alive then stays alive, so it is left
    out of later collections. Likewise later on where a call has imported more: the first write of a process that has
    only read before.

    In other processes nothing is done: a program's own collector is left alone.
    """
    global _modules_frozen
    if next(_calls) >= 2 and len(sys.modules) > _modules_frozen and os.environ.get("SPARK_REUSE_WORKER"):
        gc.freeze()
        _modules_frozen = len(sys.modules)
