"""What surrounds each call that Spark makes in one of its Python processes.

- `begin_call` makes a worker process cheap to reuse.
- `told_plainly` shows users the cause of a failure on the first line, without a traceback above.
- `travelling` pickles readers and writers, so that a task without this package, or with another version of it, says so.
"""

import functools
import gc
import itertools
import logging
import os
import pickle
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ParamSpec, TypeVar

from kafka.errors import KafkaError
from kafka.spark.requirements import SparkRequirementError
from kafka.version import DISTRIBUTION_VERSION

log = logging.getLogger(__name__)

P = ParamSpec("P")
R = TypeVar("R")

_HIDDEN = "SPARK_HIDE_TRACEBACK"
"""Spark leaves the traceback out of what it shows where a process of it has this in its environment."""
_OF_SPARK = ("PYTHON_WORKER_FACTORY_SECRET", "PYTHON_WORKER_FACTORY_SOCK_PATH", "PYTHON_WORKER_FACTORY_SOCK_DIR")
"""At least one of these is in the environment of each process that Spark starts."""


def told_plainly(call: Callable[P, R]) -> Callable[P, R]:
    """Have Spark show the cause alone where a call fails for a reason that its message tells.

    Spark ends the process then, so that nobody else is without a traceback. In other processes, and for errors that
    stand for a fault of ours, nothing changes. The traceback is logged at the level DEBUG.
    """

    @functools.wraps(call)
    def plain(*arguments: P.args, **named: P.kwargs) -> R:
        try:
            return call(*arguments, **named)
        except (KafkaError, SparkRequirementError):
            _hide_traceback()
            raise

    return plain


def rows_told_plainly(rows: Iterator[R]) -> Iterator[R]:
    """The same for what is made one by one."""
    try:
        yield from rows
    except KafkaError:
        _hide_traceback()
        raise


def _hide_traceback() -> None:
    if any(name in os.environ for name in _OF_SPARK):
        log.debug("a call of Spark failed", exc_info=True)
        os.environ[_HIDDEN] = "1"


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


def travelling(reader: object, state: Mapping[str, Any]) -> tuple[Any, ...]:
    """What `__reduce__` of a reader or writer gives.

    Spark's pickler takes functions of installed modules by their name, and others with their code. The function that
    makes the object again passes for one of the latter: it has to run where this package is missing. So the state,
    which needs the package, travels as bytes.
    """
    home = type(reader)
    return _TRAVELLER, (home.__module__, home.__qualname__, DISTRIBUTION_VERSION, pickle.dumps(dict(state)))


def _made_again(module: str, name: str, version: str, state: bytes) -> Any:
    import importlib
    import pickle
    import socket
    import sys

    where = f"the Python of this Spark process, {sys.executable} on {socket.gethostname()}"
    try:
        home = getattr(importlib.import_module(module), name)
    except ModuleNotFoundError as error:
        lacks = error.name or ""
        package = "kafka-columnar" if lacks.partition(".")[0] == "kafka" else lacks
        raise ImportError(
            f"{package} is not installed in {where}: install it there, or send it along with spark.archives "
            "(see docs/SPARK.md, Deployment)"
        ) from None
    here = importlib.import_module("kafka.version")
    if version != here.DISTRIBUTION_VERSION:
        raise ImportError(
            f"kafka-columnar is {here.DISTRIBUTION_VERSION} in {where}, and {version} in the process "
            "that sent the work: install one version in both"
        )
    made = home.__new__(home)
    made.__dict__.update(pickle.loads(state))
    return made


_TRAVELLER = types.FunctionType(_made_again.__code__, {"__builtins__": __builtins__, "__name__": "__main__"})
_TRAVELLER.__module__ = "__main__"
_TRAVELLER.__qualname__ = _TRAVELLER.__name__ = "_kafka_columnar_made_again"
