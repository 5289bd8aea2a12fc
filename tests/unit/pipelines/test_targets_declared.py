"""Targets in declarations: in YAML and in Python, with the lines of problems, and without secrets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kafka.pipelines import (
    InvalidDeclaration,
    Pipeline,
    foreach_batch_sink,
    json_schema,
    kafka_source,
    load,
    parquet_sink,
)
from kafka.pipelines.targets.parquet import ParquetSink
from kafka.pipelines.yaml_file import parse

TEXT = """pipeline: flights
kafka: {bootstrap.servers: localhost:9092}
source: {topic: flights, value: {format: json, schema: "id bigint, ts timestamp"}}
sink: SINK
"""
SECRET = "hunter-2"


def declared(sink: str) -> Any:
    return parse(TEXT.replace("SINK", sink), "flights.yaml")


@pytest.mark.parametrize(
    ("sink", "kind"),
    [
        ("{topic: delays}", "Sink"),
        ('{parquet: /data, partition_by: "to_date(ts)"}', "ParquetSink"),
        ("{delta: s3://bucket/t, key: [id], order: ts}", "DeltaSink"),
        ("{iceberg: a.b, key: id, order: ts, catalog: {type: sql}}", "IcebergSink"),
        ("{postgresql: t, url: 'postgresql://localhost/x', user: u, password: 1234}", "PostgresqlSink"),
        ("{tables_by_topic: '/data/{topic}', format: parquet}", "TablesByTopicSink"),
        ("{foreach_batch: 'my.module:write'}", "ForeachBatchSink"),
    ],
)
def test_the_key_tells_the_target(sink: str, kind: str) -> None:
    found = declared(sink)
    assert type(found.sink).__name__ == kind
    assert (found.topic_sink is not None) == (kind == "Sink")
    assert found.fingerprint() != declared("{topic: another}").fingerprint()
    assert found.shown()["sink"]


@pytest.mark.parametrize(
    ("sink", "problem"),
    [
        ("{parquet: /data, partition: x}", "flights.yaml:4: sink.partition: unknown key; did you mean 'partition_by'?"),
        ("{delta: /data, key: [id]}", "flights.yaml:4: sink: expected key and order together, or neither"),
        ("{postgresql: t}", "flights.yaml:4: sink.url: this key is missing"),
        ("{topic: 'a b'}", "flights.yaml:4: sink.topic: expected the name of a topic"),
        ("{topics: a}", "flights.yaml:4: sink.topic: this key is missing"),
        ("delays", "flights.yaml:4: sink: expected keys and values"),
    ],
)
def test_problems_name_the_key_and_the_line(sink: str, problem: str) -> None:
    with pytest.raises(InvalidDeclaration) as caught:
        declared(sink)
    assert problem in str(caught.value)


def test_unknown_keys_are_explained_with_those_of_the_target() -> None:
    with pytest.raises(InvalidDeclaration, match="known are parquet, partition_by, options"):
        declared("{parquet: /data, colour: x}")


@pytest.mark.parametrize(
    "sink",
    [
        f"{{postgresql: t, url: 'postgresql://u:{SECRET}@localhost/x', password: {SECRET}}}",
        f"{{delta: /data, options: {{AWS_SECRET_ACCESS_KEY: {SECRET}}}}}",
        f"{{iceberg: a.b, catalog: {{uri: 'postgresql://u:{SECRET}@localhost/x'}}}}",
    ],
)
def test_declarations_do_not_show_secrets(sink: str) -> None:
    found = declared(sink)
    assert SECRET not in repr(found) + str(found.shown())


@pytest.mark.parametrize(
    "sink", [f"{{postgresql: t, url: [{SECRET}]}}", f"{{postgresql: t, url: x, password: [{SECRET}]}}"]
)
def test_problems_do_not_show_secrets(sink: str) -> None:
    with pytest.raises(InvalidDeclaration) as caught:
        declared(sink)
    assert SECRET not in str(caught.value)


def test_paths_start_from_the_directory_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "flights.yaml"
    for sink, expected in (
        ("{parquet: rows}", f"{tmp_path}/rows"),
        ("{parquet: 's3://bucket/rows'}", "s3://bucket/rows"),
        ("{parquet: /data}", "/data"),
    ):
        file.write_text(TEXT.replace("SINK", sink))
        assert load(file).sink == ParquetSink(parquet=expected)
    file.write_text(TEXT.replace("SINK", "{tables_by_topic: 'rows/{topic}', format: delta}"))
    assert load(file).shown()["sink"]["tables_by_topic"] == f"{tmp_path}/rows/{{topic}}"


def test_python_and_yaml_are_the_same() -> None:
    pipeline = Pipeline("flights", kafka={"bootstrap.servers": "localhost:9092"})
    pipeline.source(kafka_source("flights", value_format="json", value_schema="id bigint, ts timestamp"), "source")
    pipeline.sink(parquet_sink("/data", partition_by="to_date(ts)"))
    assert pipeline.declaration.sink == declared('{parquet: /data, partition_by: "to_date(ts)"}').sink


def test_a_function_is_shown_by_its_address() -> None:
    pipeline = Pipeline("flights", kafka={"bootstrap.servers": "localhost:9092"})
    pipeline.source(kafka_source("flights", value_format="json", value_schema="id bigint"))
    pipeline.sink(foreach_batch_sink(write))
    assert pipeline.declaration.shown()["sink"] == {"foreach_batch": f"{__name__}:write"}


def write(frame: Any, batch: int) -> None:
    """A function for `foreach_batch`."""


def test_the_schema_for_editors_has_all_targets() -> None:
    text = str(json_schema())
    assert all(name in text for name in ("ParquetSink", "DeltaSink", "IcebergSink", "ForeachBatchSink"))
