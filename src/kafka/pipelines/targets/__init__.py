"""Targets: where the rows of a query go, if not to a topic.

Each target is a model: the value of the key ``sink`` of a declaration, told apart by its key (`choice`), or the result
of a function (`constructors`). Its method `write` writes a batch exactly once: a repeated batch, also after a kill,
changes nothing. Its method `check` finds problems without Spark. `Target` is the protocol that a pipeline uses.

| target | module | how a batch is written once |
| --- | --- | --- |
| Parquet, by date | `parquet` | a manifest lists the files of the batch before they become visible |
| Delta | `delta` | the commit contains the number of the batch |
| Iceberg | `iceberg` | the commit contains the number of the batch |
| PostgreSQL | `postgresql` | the transaction stores the number of the batch |
| a table for each topic | `tables_by_topic` | as in the other targets, in each table |
| a function | `foreach_batch` | up to the function, which gets the number of the batch |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafka._old_names import of_a_package

if TYPE_CHECKING:
    from kafka.pipelines.targets.choice import AnyTarget
    from kafka.pipelines.targets.constructors import (
        delta_sink,
        foreach_batch_sink,
        iceberg_sink,
        parquet_sink,
        postgresql_sink,
        table_per_topic_sink,
    )
    from kafka.pipelines.targets.target import RejectedRowError, Target, TargetError, TargetModel

__all__ = [
    "AnyTarget",
    "RejectedRowError",
    "Target",
    "TargetError",
    "TargetModel",
    "delta_sink",
    "foreach_batch_sink",
    "iceberg_sink",
    "parquet_sink",
    "postgresql_sink",
    "table_per_topic_sink",
]

_HOMES = {
    name: f"kafka.pipelines.targets.{module}"
    for module, names in {
        "choice": ("AnyTarget",),
        "constructors": tuple(name for name in __all__ if name.endswith("_sink")),
        "target": ("RejectedRowError", "Target", "TargetError", "TargetModel"),
    }.items()
    for name in names
}


def __getattr__(name: str) -> Any:
    """Load a public name on first access."""
    return of_a_package(__name__, name, _HOMES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
