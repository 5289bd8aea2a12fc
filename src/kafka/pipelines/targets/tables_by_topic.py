"""The target `tables_by_topic`: for a source with a pattern, a table of its own for each topic.

The row's topic is in the struct column ``kafka``, which is not written. Tables of new topics are created when their
first rows arrive. A table keeps its schema: Delta, Iceberg and PostgreSQL in the table, Parquet in
``_committed/schema.json``. Each table commits the batch on its own, so a repeated batch completes the tables that an
interrupted one has not written, and changes nothing in the others.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field, ValidationError, ValidationInfo, field_validator, model_validator

from kafka.pipelines.problems import problem_text
from kafka.pipelines.targets.delta import DeltaSink
from kafka.pipelines.targets.iceberg import IcebergSink
from kafka.pipelines.targets.parquet import ParquetSink
from kafka.pipelines.targets.postgresql import PostgresqlSink
from kafka.pipelines.targets.target import (
    CHECK_S,
    Columns,
    Secret,
    Secrets,
    TargetError,
    TargetModel,
    Text,
    resolved,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_TOPIC = "{topic}"
_SAMPLE = "topic"
_POSITION = "kafka"
_FORMATS: dict[str, type[TargetModel]] = {
    "parquet": ParquetSink,
    "delta": DeltaSink,
    "iceberg": IcebergSink,
    "postgresql": PostgresqlSink,
}
_PLAIN_NAMES = ("iceberg", "postgresql")
"""Formats whose names of tables cannot contain dots; dots in topics become underscores."""


class TablesByTopicSink(TargetModel):
    """A table for each topic, in one of the formats of the other targets."""

    needs_position: ClassVar[bool] = True

    format: Literal["parquet", "delta", "iceberg", "postgresql"] = Field(description="Format of the tables.")
    tables_by_topic: Text = Field(
        description="Directory or name of the tables, with {topic} where the topic's name goes, such as "
        "/data/{topic} or raw.{topic}. For iceberg and postgresql, characters of the topic other than letters, digits "
        "and _ become _."
    )
    partition_by: Any = Field(default=None, description="For parquet and delta: as for that sink.")
    key: Columns = Field(default=(), description="For delta, iceberg and postgresql: as for that sink.")
    order: Text | None = Field(default=None, description="For delta, iceberg and postgresql: as for that sink.")
    options: Secrets = Field(default={}, repr=False, description="For parquet and delta: as for that sink.")
    catalog: Secrets = Field(default={}, repr=False, description="For iceberg: properties of the catalog.")
    catalog_name: Text | None = Field(default=None, description="For iceberg: name of the catalog.")
    url: Secret | None = Field(default=None, repr=False, description="For postgresql: connection.")
    user: Text | None = Field(default=None, description="For postgresql: user.")
    password: Secret | None = Field(default=None, repr=False, description="For postgresql: password.")

    @field_validator("tables_by_topic")
    @classmethod
    def _resolve(cls, value: str, info: ValidationInfo) -> str:
        return value if info.data.get("format") in _PLAIN_NAMES else resolved(value, info)

    @model_validator(mode="after")
    def _check(self) -> TablesByTopicSink:
        if _TOPIC not in self.tables_by_topic:
            raise ValueError(f"tables_by_topic: expected {_TOPIC} in the name, got {self.tables_by_topic!r}")
        try:
            self.table(_SAMPLE)
        except ValidationError as error:
            raise ValueError("; ".join(_problem(each, self.format) for each in error.errors())) from None
        return self

    def table(self, topic: str) -> TargetModel:
        """Return the target for the rows of a topic."""
        name = re.sub(r"\W", "_", topic, flags=re.ASCII) if self.format in _PLAIN_NAMES else topic
        names = ("partition_by", "key", "order", "options", "catalog", "catalog_name", "url", "user", "password")
        given = {each: getattr(self, each) for each in names if getattr(self, each)}
        return _FORMATS[self.format].model_validate({self.format: self.tables_by_topic.replace(_TOPIC, name), **given})

    def write(self, frame: DataFrame, run: str, batch: int) -> None:
        from pyspark.sql import functions as f

        if _POSITION not in frame.columns:
            raise TargetError(
                f"{self._what}: expected the struct column kafka in the result of the query, which has "
                f"{', '.join(frame.columns)}; select it, too"
            )
        topic = f.col(f"{_POSITION}.topic")
        was_persisted = frame.is_cached
        rows = frame if was_persisted else frame.persist()
        try:
            topics = sorted((row[0] for row in rows.select(topic).distinct().collect()), key=lambda each: each or "")
            self._check_topics(topics)
            for each in topics:
                self.table(each).write(rows.where(topic == each).drop(_POSITION), run, batch)
        finally:
            if not was_persisted:
                rows.unpersist()

    @property
    def is_remote(self) -> bool:
        return self.table(_SAMPLE).is_remote

    def check(self, limit_s: float = CHECK_S) -> list[str]:
        """Return the problems of the table for a topic that is named ``topic``."""
        return [
            problem.replace(self._sample_name, self.tables_by_topic) for problem in self.table(_SAMPLE).check(limit_s)
        ]

    @property
    def _what(self) -> str:
        return f"sink tables_by_topic {self.tables_by_topic}"

    @property
    def _sample_name(self) -> str:
        return self.tables_by_topic.replace(_TOPIC, _SAMPLE)

    def _check_topics(self, topics: list[str | None]) -> None:
        """Raise a `TargetError` for rows without a topic, and for topics that have the same table."""
        tables: dict[str, str] = {}
        for each in topics:
            if each is None:
                raise TargetError(f"{self._what}: expected kafka.topic in each row, got NULL")
            table = str(getattr(self.table(each), self.format))
            if table in tables:
                raise TargetError(
                    f"{self._what}: the topics {tables[table]} and {each} have the same table {table}; write one of "
                    "them with a pipeline of its own"
                )
            tables[table] = each


def _problem(problem: Any, name: str) -> str:
    path = ".".join(str(each) for each in problem["loc"])
    match problem["type"]:
        case "value_error":
            return str(problem["ctx"]["error"])
        case "missing":
            return f"format {name} needs {path}"
        case "extra_forbidden":
            return f"{path} does not apply to format {name}"
        case _:
            return problem_text(problem["loc"], problem, _FORMATS[name])
