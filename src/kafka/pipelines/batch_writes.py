"""Writes combined frames: in `foreachBatch`, and for the slices of replays and backfills."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from kafka.errors import IllegalStateError
from kafka.pipelines.combined_rows import result_columns, result_counts
from kafka.pipelines.declaration import Declaration, Sink
from kafka.pipelines.kafka_rows import dead_letter_rows, output_rows, write_options
from kafka.pipelines.observations import BatchCounts
from kafka.pipelines.planning import RESULT
from kafka.pipelines.source_rows import KAFKA, Hidden, quoted
from kafka.spark.queries import FORMAT

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclasses.dataclass(frozen=True, slots=True)
class StreamRun:
    """What identifies a streaming query for a target.

    With a new checkpoint, the numbers of micro-batches begin at 0 again, so that the pipeline's name is not enough.
    Spark writes the query's id into the checkpoint before the first micro-batch.

    Arguments:
        pipeline: the name of the pipeline.
        checkpoint: the directory of the checkpoint.
    """

    pipeline: str
    checkpoint: Path

    def __call__(self) -> str:
        """Return the identity. Raises `IllegalStateError` if the checkpoint cannot be read here."""
        metadata = self.checkpoint / "metadata"
        try:
            query_id = json.loads(metadata.read_text(encoding="utf-8"))["id"]
        except FileNotFoundError:
            raise IllegalStateError(
                f"pipeline {self.pipeline}: expected the checkpoint of the query at {metadata}, found no such file; "
                "put 'checkpoint' on storage that has the same path for the program and for Spark's driver, which, "
                "with Spark Connect, is the server"
            ) from None
        return f"{self.pipeline}/stream/{query_id}"


class BatchWrite:
    """Writes micro-batches in `foreachBatch`.

    With Spark Connect, an object of this class is pickled, and called in a Python process of the server.

    The target's rows are written first and the dead letters last, each exactly once by the number of the micro-batch.

    Arguments:
        declaration: the pipeline.
        combine: returns the combined frame of a micro-batch.
        ids: the ids of source topics, by name.
        prefix: the `transactionalIdPrefix`.
        run: returns what identifies the run for the target.
        out: receives the number of result rows, by batch; None if they are observed in the query.
    """

    def __init__(
        self,
        declaration: Declaration,
        combine: Callable[[DataFrame], DataFrame],
        ids: Mapping[str, str],
        prefix: str,
        run: Callable[[], str],
        out: dict[int, int] | None = None,
    ) -> None:
        self._declaration = declaration
        self._combine = combine
        self._ids = ids
        self._prefix = prefix
        self._run = run
        self._out = out

    def __call__(self, batch: DataFrame, number: int, options: Mapping[str, str] | None = None) -> None:
        batch.persist()
        try:
            frame = self._combine(batch)
            if self._out is None:
                self.write(frame, number, options)
            else:
                counted = BatchCounts(RESULT)
                self.write(counted.on(frame, result_counts()), number, options)
                self._out[number] = counted.values()["out"]
        finally:
            batch.unpersist()

    def write(
        self,
        frame: DataFrame,
        number: int,
        options: Mapping[str, str] | None = None,
        count: Callable[[DataFrame], DataFrame] = lambda frame: frame,
    ) -> None:
        """Write a combined frame.

        Arguments:
            frame: the frame, which is persisted if it is not written to Kafka alone.
            number: the number of the batch.
            options: more options of the Kafka sink.
            count: observes the counts of rows that are written to a topic.
        """
        from pyspark.sql import functions as f

        declaration, sink = self._declaration, self._declaration.sink
        if isinstance(sink, Sink):
            rows = output_rows(frame, declaration, sink, self._ids, count)
            kafka = write_options(declaration, sink, self._prefix)
            rows.write.format(FORMAT).options(**kafka, **(options or {})).mode("append").save()
            return
        names = result_columns(frame)
        if sink.needs_position and KAFKA in frame.columns:
            names.append(KAFKA)
        good = frame.where(f.col(Hidden.PASSES)).select(*[quoted(name) for name in names])
        sink.write(good, self._run(), number)
        if declaration.dead_letters is not None:
            rows = dead_letter_rows(frame, declaration, self._ids)
            kafka = write_options(declaration, None, self._prefix)
            rows.write.format(FORMAT).options(**kafka, **(options or {})).mode("append").save()
