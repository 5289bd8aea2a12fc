"""The target `foreach_batch`: a function of the user that writes each batch.

Exactly once is up to the function. It gets the number of the batch for that purpose: the rows of a repeated batch are
the same, so a function that stores the number together with the rows can ignore a batch that it has already stored.
The stream, each replay and each backfill number their batches from 0. A function with a parameter `run` also gets the
run.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Field, field_serializer

from kafka.pipelines.field_types import shown
from kafka.pipelines.targets.target import CHECK_S, TargetError, TargetModel, in_time

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_RUN = "run"
_PATH = re.compile(r"^[A-Za-z_][\w.]*:[A-Za-z_][\w.]*$")


def _function(value: Any) -> Any:
    if isinstance(value, str) and _PATH.match(value):
        return value
    if callable(value):
        return value
    raise ValueError(f"expected a function, or its address as module:function, got {shown(value)}")


class ForeachBatchSink(TargetModel):
    """A function that writes each batch."""

    foreach_batch: Annotated[Any, BeforeValidator(_function)] = Field(
        description="Function as module:function. It is called with the rows, a DataFrame, and the number of the "
        "batch; if it has a parameter run, also with the run, such as NAME/stream or NAME/replay/1. A batch may be "
        "repeated with the same number and rows: the function must ensure that each row is written once.",
        json_schema_extra={"type": "string"},
    )

    @field_serializer("foreach_batch")
    def _address(self, value: Any) -> str:
        if isinstance(value, str):
            return value
        return f"{getattr(value, '__module__', '')}:{getattr(value, '__qualname__', type(value).__qualname__)}"

    def write(self, frame: DataFrame, run: str, batch: int) -> None:
        """Call the function; see `Target.write`. Its errors propagate."""
        function = self.function()
        function(frame, batch, **({_RUN: run} if _RUN in inspect.signature(function).parameters else {}))

    @property
    def is_remote(self) -> bool:
        return False

    def check(self, limit_s: float = CHECK_S) -> list[str]:
        def look() -> list[str]:
            self.function()
            return []

        return in_time("sink foreach_batch", look, limit_s, may_take_longer=True)  # imports take their time

    def function(self) -> Callable[..., Any]:
        """Return the function. Raises `TargetError` if it cannot be imported, or takes other arguments."""
        found = self.foreach_batch
        if isinstance(found, str):
            module, _, name = found.partition(":")
            try:
                found = importlib.import_module(module)
                for part in name.split("."):
                    found = getattr(found, part)
            except (ImportError, AttributeError) as error:
                raise TargetError(
                    f"sink foreach_batch {self.foreach_batch}: expected module:function that Python can import: {error}"
                ) from error
        try:
            signature = inspect.signature(found)
            signature.bind(None, 0, **({_RUN: ""} if _RUN in signature.parameters else {}))
        except TypeError as error:
            raise TargetError(
                f"sink foreach_batch {self.foreach_batch}: expected a function with two parameters, the rows and the "
                f"number of the batch, and optionally one called {_RUN}: {error}"
            ) from error
        return found  # type: ignore[no-any-return]
