"""Wrappers for the calls that Spark makes in its Python processes.

- `begin_call` makes a worker process cheap to reuse.
- `without_traceback` shows users the cause of a failure on the first line, without a traceback before it.
- `reduce_with_version` pickles readers and writers, so that a task reports an error if this package is missing or has
  another version there.
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
"""If this environment variable is set in a process, Spark omits the tracebacks of that process."""
_OF_SPARK = ("PYTHON_WORKER_FACTORY_SECRET", "PYTHON_WORKER_FACTORY_SOCK_PATH", "PYTHON_WORKER_FACTORY_SOCK_DIR")
"""At least one of these environment variables is set in each process that Spark starts."""


def without_traceback(call: Callable[P, R]) -> Callable[P, R]:
    """Decorate a call so that Spark shows only the message of a self-explanatory error.

    These errors are `KafkaError` and `SparkRequirementError`. Spark ends the process afterwards, so later errors keep
    their tracebacks. Other errors, which may be bugs, and other processes are not affected. The traceback is logged at
    level DEBUG.
    """

    @functools.wraps(call)
    def plain(*arguments: P.args, **named: P.kwargs) -> R:
        try:
            return call(*arguments, **named)
        except (KafkaError, SparkRequirementError):
            _hide_traceback()
            raise

    return plain


def rows_without_traceback(rows: Iterator[R]) -> Iterator[R]:
    """Yield rows, and treat errors during the iteration as `without_traceback` does."""
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
    """Exclude imported modules from garbage collection. To be called at the start of each of Spark's calls.

    Spark reuses the processes in which it calls sources and sinks, and collects garbage after every call. A collection
    visits all of the about 100,000 imported objects and takes 40 ms or more, which is longer than a small task. When
    the second call starts, a collection has just finished. Objects that are alive then will stay alive, so they are
    frozen. This is repeated when a call has imported more modules, such as the first write of a process that has only
    read before.

    Does nothing in processes that Spark does not reuse, such as a user's program.
    """
    global _modules_frozen
    if next(_calls) >= 2 and len(sys.modules) > _modules_frozen and os.environ.get("SPARK_REUSE_WORKER"):
        gc.freeze()
        _modules_frozen = len(sys.modules)


def reduce_with_version(reader: object, state: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return a result for the `__reduce__` method of a reader or writer.

    Spark's pickler stores functions of installed modules by name, and other functions with their code. The function
    that recreates the object is disguised as one of the latter, because it must run where this package is missing. The
    state, which requires the package, is stored as bytes.
    """
    home = type(reader)
    return _UNPICKLE, (home.__module__, home.__qualname__, DISTRIBUTION_VERSION, pickle.dumps(dict(state)))


def _unpickled(module: str, name: str, version: str, state: bytes) -> Any:
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


_UNPICKLE = types.FunctionType(_unpickled.__code__, {"__builtins__": __builtins__, "__name__": "__main__"})
_UNPICKLE.__module__ = "__main__"
_UNPICKLE.__qualname__ = _UNPICKLE.__name__ = "_kafka_columnar_unpickle"
