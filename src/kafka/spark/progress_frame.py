"""Micro-batches as a pandas frame, for notebooks."""

from collections.abc import Sequence

import pandas as pd

from kafka.spark.progress import QueryProgress

COLUMNS = (
    "time", "query", "batch", "seconds", "source", "topic", "partition", "start", "end", "latest", "lag", "lost",
    "log_bytes",
)  # fmt: skip


def progress_frame(progress: Sequence[QueryProgress]) -> pd.DataFrame:
    """A row for each partition of each micro-batch, times in UTC; what is not known is missing."""
    rows = [
        (
            each.time, each.query, each.batch, each.seconds, source.source, partition.topic, partition.partition,
            found.start, found.end, found.latest, found.lag, found.lost,
            found.log_bytes,
        )
        for each in progress
        for source in each.sources
        for partition, found in source.partitions.items()
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    frame["time"] = pd.to_datetime(frame["time"], utc=True, format="ISO8601")
    return frame.astype(dict.fromkeys(("start", "latest", "lag", "log_bytes"), "Int64"))
