"""Pipelines: sources with rules, a query and a sink, declared in YAML or Python.

Layer 7. `declaration` defines the models of a pipeline, and `yaml_file` and `pipeline` are the two ways to create them.
`run` runs a pipeline as a streaming query, `replay` and `backfill` run it on fixed ranges of offsets, and `audit`
accounts for each record. `targets` are where rows go if not to a topic. `checks` finds problems without Spark, and
`testing` runs pipelines on an embedded broker. This package requires PyYAML, pydantic and sqlglot, which
``pip install 'kafka-columnar[pipelines]'`` installs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafka._old_names import of_a_package

if TYPE_CHECKING:
    from kafka.pipelines.declaration import Declaration, InvalidDeclaration, Otherwise, Rule, json_schema
    from kafka.pipelines.pipeline import Pipeline, kafka_sink, kafka_source, rule
    from kafka.pipelines.targets.constructors import (
        delta_sink,
        foreach_batch_sink,
        iceberg_sink,
        parquet_sink,
        postgresql_sink,
        table_per_topic_sink,
    )
    from kafka.pipelines.yaml_file import load

__all__ = [
    "Declaration",
    "InvalidDeclaration",
    "Otherwise",
    "Pipeline",
    "Rule",
    "delta_sink",
    "foreach_batch_sink",
    "iceberg_sink",
    "json_schema",
    "kafka_sink",
    "kafka_source",
    "load",
    "parquet_sink",
    "postgresql_sink",
    "rule",
    "table_per_topic_sink",
]

_HOMES = {
    name: f"kafka.pipelines.{module}"
    for module, names in {
        "declaration": ("Declaration", "InvalidDeclaration", "Otherwise", "Rule", "json_schema"),
        "pipeline": ("Pipeline", "kafka_sink", "kafka_source", "rule"),
        "targets.constructors": (
            "delta_sink",
            "foreach_batch_sink",
            "iceberg_sink",
            "parquet_sink",
            "postgresql_sink",
            "table_per_topic_sink",
        ),
        "yaml_file": ("load",),
    }.items()
    for name in names
}


def __getattr__(name: str) -> Any:
    """Load a public name on first access. Raises `ModuleNotFoundError` if a required library is missing."""
    try:
        return of_a_package(__name__, name, _HOMES)
    except ModuleNotFoundError as error:
        if error.name not in ("pydantic", "yaml"):
            raise
        raise ModuleNotFoundError(
            f"kafka.pipelines needs {error.name}: pip install 'kafka-columnar[pipelines]'", name=error.name
        ) from error


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
