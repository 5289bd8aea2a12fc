"""Turns combined frames into the columns and options of the Kafka sink: output records and dead letters together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from kafka.pipelines import record_headers
from kafka.pipelines.combined_rows import result_columns
from kafka.pipelines.declaration import Declaration, FieldFormat, InvalidDeclaration, Sink
from kafka.pipelines.source_rows import Hidden, client_options, field_options, quoted

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_CONNECT_CLASS = "kafka.pipelines"


def output_rows(
    frame: DataFrame,
    declaration: Declaration,
    sink: Sink,
    ids: Mapping[str, str],
    count: Callable[[DataFrame], DataFrame] = lambda frame: frame,
) -> DataFrame:
    """Return the records to write: those of the query's result, and the dead letters.

    Arguments:
        frame: a combined frame (`combined_rows`).
        declaration: the pipeline.
        sink: the topic of the result.
        ids: the ids of source topics, by name.
        count: observes the counts of rows (`planning.Planned`). They are observed before rows are left out.

    Raises `InvalidDeclaration` if the sink names a column that the query does not return.
    """
    from pyspark.sql import functions as f

    passes, dead = f.col(Hidden.PASSES), f.col(Hidden.DEAD)
    source = position_column(ids)
    own = f.when(f.col(Hidden.OFFSET).isNotNull(), f.array(_header(record_headers.SOURCE, source)))
    value = _value(frame, sink)
    key = _key(frame, sink)
    if declaration.dead_letters is None:
        columns = {"topic": f.lit(sink.topic), "key": key, "value": value, "headers": own}
        return _written(frame, columns, count)
    columns = {
        "topic": f.when(passes, f.lit(sink.topic)).otherwise(f.lit(declaration.dead_letters.topic)),
        "key": f.when(passes, key).otherwise(f.col(Hidden.KEY)),
        "headers": f.when(passes, own).otherwise(dead_letter_headers(declaration, source)),
    }
    if sink.value.format == "bytes":
        columns["value"] = f.when(passes, value).otherwise(f.col(Hidden.VALUE))
    else:
        columns["value"] = f.when(passes, value)
        columns["value_bytes"] = f.when(dead, f.col(Hidden.VALUE))
    return _written(frame, columns, count)


def _written(frame: DataFrame, columns: Mapping[str, Column], count: Callable[[DataFrame], DataFrame]) -> DataFrame:
    """Return the columns of the rows that are written."""
    from pyspark.sql import functions as f

    written = [column.alias(name) for name, column in columns.items()]
    counted = [name for name in (Hidden.FAILURES, Hidden.PASSES, Hidden.DEAD) if name in frame.columns]
    rows = count(frame.select(*written, *counted))
    return rows.where(f.col(Hidden.PASSES) | f.col(Hidden.DEAD)).select(*columns)


def dead_letter_rows(frame: DataFrame, declaration: Declaration, ids: Mapping[str, str]) -> DataFrame:
    """Return the dead letters of a combined frame as records, for pipelines whose sink is not a topic."""
    from pyspark.sql import functions as f

    assert declaration.dead_letters is not None, "only called for pipelines with dead letters"
    columns = {
        "topic": f.lit(declaration.dead_letters.topic),
        "key": f.col(Hidden.KEY),
        "headers": dead_letter_headers(declaration, position_column(ids)),
        "value": f.col(Hidden.VALUE),
    }
    return frame.where(f.col(Hidden.DEAD)).select(*[column.alias(name) for name, column in columns.items()])


def write_options(declaration: Declaration, sink: Sink | None, prefix: str) -> dict[str, str]:
    """Return the options of the Kafka sink.

    Arguments:
        declaration: the pipeline.
        sink: the topic of the result; None for a write of dead letters alone.
        prefix: the `transactionalIdPrefix`.
    """
    format_ = FieldFormat() if sink is None else sink.value
    options = client_options(declaration, [format_])
    options.pop("kafka.isolation.level", None)
    if sink is None or sink.exactly_once:
        options |= {"exactlyOnce": "true", "transactionalIdPrefix": prefix}
    if sink is not None and format_.format != "bytes":
        options |= field_options("value", format_)
        if format_.format in ("avro", "json-schema", "protobuf") and declaration.registry:
            options.setdefault("valueSubject", f"{sink.topic}-value")
        if declaration.dead_letters is not None:
            options["originalBytes"] = "true"
    return options | (sink.options if sink is not None else {})


def position_column(ids: Mapping[str, str]) -> Column:
    """Return the text of the header `SOURCE`, as in `record_headers.Position`."""
    from pyspark.sql import functions as f

    topic = f.col(Hidden.TOPIC)
    parts = [topic, f.lit("/"), f.col(Hidden.PARTITION).cast("string"), f.lit("/"), f.col(Hidden.OFFSET).cast("string")]
    suffix = f.lit("")
    for name, topic_id in ids.items():
        suffix = f.when(topic == name, f.lit(f"/{topic_id}")).otherwise(suffix)
    return f.concat(*parts, suffix) if ids else f.concat(*parts)


def dead_letter_headers(declaration: Declaration, source: Column) -> Column:
    """Return the headers of a dead letter: those of the record, of this package, and of Kafka Connect (KIP-298).

    `PIPELINE` comes first after those of the record, so that readers know where these end.
    """
    from pyspark.sql import functions as f

    connect = record_headers.CONNECT_PREFIX
    given = {
        record_headers.SOURCE: source,
        record_headers.CAUSE: f.col(Hidden.CAUSE),
        record_headers.ATTEMPT: (f.col(Hidden.ATTEMPT) + 1).cast("string"),
        record_headers.TIMESTAMP: f.unix_millis(Hidden.TIMESTAMP).cast("string"),
        f"{connect}topic": f.col(Hidden.TOPIC),
        f"{connect}partition": f.col(Hidden.PARTITION).cast("string"),
        f"{connect}offset": f.col(Hidden.OFFSET).cast("string"),
        f"{connect}connector.name": f.lit(declaration.pipeline),
        f"{connect}task.id": f.lit("0"),
        f"{connect}stage": f.lit("TRANSFORMATION"),
        f"{connect}class.name": f.lit(_CONNECT_CLASS),
        f"{connect}exception.class.name": f.lit(_CONNECT_CLASS),
        f"{connect}exception.message": f.col(Hidden.CAUSE),
    }
    pipeline = _header(record_headers.PIPELINE, f.lit(declaration.pipeline))
    rules = f.transform(f.col(Hidden.RULES), lambda name: _header(record_headers.RULE, name))
    own = f.array(*[_header(name, text) for name, text in given.items()])
    return f.concat(f.coalesce(f.col(Hidden.HEADERS), f.array().cast(_HEADERS)), f.array(pipeline), rules, own)


_HEADERS = "array<struct<key:string,value:binary>>"


def _header(name: str, text: Column) -> Column:
    from pyspark.sql import functions as f

    return f.struct(f.lit(name).alias("key"), text.cast("binary").alias("value"))


def _value(frame: DataFrame, sink: Sink) -> Column:
    from pyspark.sql import functions as f

    names = result_columns(frame)
    if sink.value.format in ("json", "json-schema", "avro", "protobuf"):
        if not names:
            raise InvalidDeclaration("query: expected at least one column for the sink, got none")
        return f.struct(*[f.col(quoted(name)) for name in names])
    if "value" not in names:
        raise InvalidDeclaration(
            f"sink: the format {sink.value.format} writes the column 'value', but the query returns {', '.join(names)}"
        )
    return f.col("value").cast("binary") if sink.value.format == "bytes" else f.col("value")


def _key(frame: DataFrame, sink: Sink) -> Column:
    from pyspark.sql import functions as f

    if sink.key is None:
        return f.lit(None).cast("binary")
    if sink.key not in frame.columns:
        raise InvalidDeclaration(
            f"sink: key names the column {sink.key!r}, but the query returns {', '.join(result_columns(frame))}"
        )
    column = f.col(sink.key)
    return (
        column if frame.schema[sink.key].dataType.simpleString() == "binary" else column.cast("string").cast("binary")
    )
