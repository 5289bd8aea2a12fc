"""Counts rows of a batch while it is written.

Spark computes the counts in the write itself (`Observation`). Clients of Spark Connect before 4.2 do not receive the
counts of writes: there, they are computed with a query of their own after the write, which reads the batch again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kafka.pipelines.connect_plans import is_connect

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


class BatchCounts:
    """Counts rows of a batch frame under a name.

    Arguments:
        name: the name of the observation.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._observation: Any = None
        self._query: DataFrame | None = None

    def on(self, frame: DataFrame, counts: Sequence[Column]) -> DataFrame:
        """Count the rows of a frame. Returns the frame to write instead of it.

        Arguments:
            frame: the frame.
            counts: aggregates with names.
        """
        from pyspark.sql import Observation

        from kafka.spark.pyspark_versions import TELLS_TRIGGER

        if is_connect(frame.sparkSession) and not TELLS_TRIGGER:
            self._query = frame.agg(*counts)
            return frame
        self._observation = Observation(self._name)
        return frame.observe(self._observation, *counts)

    def values(self) -> Mapping[str, Any]:
        """Return the counts by name, after the write."""
        if self._query is not None:
            (row,) = self._query.collect()
            return dict(row.asDict())
        return dict(self._observation.get)
