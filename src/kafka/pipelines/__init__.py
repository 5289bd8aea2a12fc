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
    from kafka.pipelines.audit import AuditResult, Fault, FaultKind, audit_pipeline
    from kafka.pipelines.checks import Problem, Report, check, check_file
    from kafka.pipelines.dead_letters import DeadLetter, DeadLetterTopic, Selection
    from kafka.pipelines.declaration import Declaration, InvalidDeclaration, Otherwise, Rule, json_schema
    from kafka.pipelines.events import Event, SourceCounts, read_events
    from kafka.pipelines.pipeline import Pipeline, kafka_sink, kafka_source, rule
    from kafka.pipelines.run import RunningPipeline
    from kafka.pipelines.run_results import PipelineFailedError, RunResult, TooManyRejectedError
    from kafka.pipelines.status import PipelineStatus, status_of
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
    "AuditResult",
    "DeadLetter",
    "DeadLetterTopic",
    "Declaration",
    "Event",
    "Fault",
    "FaultKind",
    "InvalidDeclaration",
    "Otherwise",
    "Pipeline",
    "PipelineFailedError",
    "PipelineStatus",
    "Problem",
    "Report",
    "Rule",
    "RunResult",
    "RunningPipeline",
    "Selection",
    "SourceCounts",
    "TooManyRejectedError",
    "audit_pipeline",
    "check",
    "check_file",
    "delta_sink",
    "foreach_batch_sink",
    "iceberg_sink",
    "json_schema",
    "kafka_sink",
    "kafka_source",
    "load",
    "parquet_sink",
    "postgresql_sink",
    "read_events",
    "rule",
    "status_of",
    "table_per_topic_sink",
]

_HOMES = {
    name: f"kafka.pipelines.{module}"
    for module, names in {
        "audit": ("AuditResult", "Fault", "FaultKind", "audit_pipeline"),
        "checks": ("Problem", "Report", "check", "check_file"),
        "dead_letters": ("DeadLetter", "DeadLetterTopic", "Selection"),
        "declaration": ("Declaration", "InvalidDeclaration", "Otherwise", "Rule", "json_schema"),
        "events": ("Event", "SourceCounts", "read_events"),
        "pipeline": ("Pipeline", "kafka_sink", "kafka_source", "rule"),
        "run": ("RunningPipeline",),
        "run_results": ("PipelineFailedError", "RunResult", "TooManyRejectedError"),
        "status": ("PipelineStatus", "status_of"),
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
