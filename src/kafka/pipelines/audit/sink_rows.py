"""Reads columns of a pipeline's result from its sink, for the comparison of windows.

Only topics are read, with Spark and the format that the sink writes. To read another target: add it to `sink_rows`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka.pipelines.declaration import Declaration
from kafka.pipelines.source_rows import client_options, field_options
from kafka.spark.queries import FORMAT

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

_WITH_COLUMNS = ("json", "json-schema", "avro", "protobuf")


def sink_rows(declaration: Declaration, spark: SparkSession, schema: StructType, most: int) -> pa.Table | None:
    """Return columns of all rows in the sink; None if the sink is not a topic, or its values have no columns.

    Records that are not rows, because another program wrote them in another format, are left out.

    Arguments:
        declaration: the pipeline.
        spark: the session.
        schema: the columns.
        most: maximum number of rows.
    """
    from pyspark.sql import functions as f

    sink = declaration.topic_sink
    if sink is None or sink.value.format not in _WITH_COLUMNS:
        return None
    value = sink.value
    options = client_options(declaration, [value]) | {
        "kafka.isolation.level": "read_committed",
        "subscribe": sink.topic,
        "startingOffsets": "earliest",
        "endingOffsets": "latest",
        "valueErrors": "null",
    }
    options |= field_options("value", value)
    if value.format == "json":
        ddl = ", ".join(f"`{each.name}` {each.dataType.simpleString()}" for each in schema.fields)
        options |= {"valueFormat": "json", "valueSchema": ddl}
        options.pop("valueSchemaFile", None)
    elif declaration.registry and value.text is None and value.file is None:
        options.setdefault("valueSubject", f"{sink.topic}-value")
    records = spark.read.format(FORMAT).options(**options).load().where(f.col("value").isNotNull())
    columns = [f.col("value")[each.name].alias(each.name) for each in schema.fields]
    found: pa.Table = records.select(*columns).limit(most).toArrow()
    return found
