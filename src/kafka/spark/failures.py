"""What a user reads of a failure in one of Spark's processes: the cause, on the first line, with no traceback above."""

import functools
import logging
import os
from collections.abc import Callable, Iterator
from typing import ParamSpec, TypeVar

from kafka.errors import KafkaError
from kafka.spark.requirements import SparkRequirementError

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
