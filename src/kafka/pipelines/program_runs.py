"""Leaves a Python file where it runs its pipeline, while `pipeline_files` reads it.

`Pipeline` calls `before_run` in each method that starts Spark or writes to Kafka. If the file is being read, this
raises `PipelineFound`, which ends its execution.
"""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Iterator
from typing import Any

_is_reading: contextvars.ContextVar[bool] = contextvars.ContextVar("kafka.pipelines.is_reading", default=False)


class PipelineFound(BaseException):
    """A Python file that is being read would run a pipeline. Handlers of `Exception` in the file do not catch this.

    Attributes:
        pipeline: the pipeline.
    """

    def __init__(self, pipeline: Any) -> None:
        super().__init__("a file that is being read cannot run its pipeline")
        self.pipeline = pipeline


@contextlib.contextmanager
def reading() -> Iterator[None]:
    """Make `before_run` raise `PipelineFound` inside the block, in this thread."""
    token = _is_reading.set(True)
    try:
        yield
    finally:
        _is_reading.reset(token)


def before_run(pipeline: object) -> None:
    """Raise `PipelineFound` inside `reading`; otherwise do nothing.

    Arguments:
        pipeline: the pipeline that is about to run.
    """
    if _is_reading.get():
        raise PipelineFound(pipeline)
