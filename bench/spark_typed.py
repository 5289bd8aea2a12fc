"""The Spark jobs of the benchmarks that decode values, and the one that starts queries.

Ours decodes values in the source. With Spark's connector they are bytes, which Spark's `from_json` and `from_avro`
decode; the latter takes one schema for all and no schema ids, so that these are cut off.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.job import Job, Watch
from bench.spark_jobs import Bench, Source, add_streamed, bench, timed, used

FIELDS = "id bigint, year int, month int, day int, carrier string, origin string, dep_delay double"
SUBJECT = "events-value"
STARTS = 6
"""The number of queries started one after the other; the first runs in a fresh session."""
PATIENCE_S = 120.0


def json_parquet(source: Source, job: Job, watch: Watch) -> None:
    """Read JSON values into Parquet files, a column for each field."""
    from kafka.formats import Json

    def frame(made: Bench) -> Any:
        if source.decodes:
            return made.columns(valueFormat="json", valueSchema=FIELDS, columns="value").select("value.*")
        decoded = made.columns().selectExpr(f"from_json(cast(value as string), '{FIELDS}') as value")
        return decoded.select("value.*")

    _to_parquet(source, job, watch, Json(FIELDS).encode_rows(event_table(job.count)), frame)


def avro_parquet(source: Source, job: Job, watch: Watch) -> None:
    """Read Avro values behind the id of one schema into Parquet files, a column for each field."""
    import pyarrow as pa
    import pyarrow.compute

    from kafka.broker import EmbeddedBroker
    from kafka.formats.avro.arrow_types import avro_schema_of
    from kafka.formats.avro.codec import Avro
    from kafka.schema_registry import Schema, SchemaRegistryClient

    compute: Any = pyarrow.compute
    events = event_table(job.count)
    text = json.dumps(avro_schema_of(pa.struct(list(events.schema)), "Event"))
    with EmbeddedBroker(registry=True) as beside:
        url = str(beside.registry_url)
        with SchemaRegistryClient({"url": url}) as registry:
            number = registry.register_schema(SUBJECT, Schema(text))
        prefix = pa.scalar(b"\0" + number.to_bytes(4), pa.binary())
        values = compute.binary_join_element_wise(prefix, Avro(text).encode_rows(events), pa.scalar(b"", pa.binary()))

        def frame(made: Bench) -> Any:
            if source.decodes:
                typed = {"valueFormat": "avro", "schemaRegistryUrl": url, "valueSubject": SUBJECT}
                return made.columns(**typed, columns="value").select("value.*")
            from pyspark.sql.avro.functions import from_avro
            from pyspark.sql.functions import expr

            return made.columns().select(from_avro(expr("substring(value, 6)"), text).alias("value")).select("value.*")

        _to_parquet(source, job, watch, values, frame)


def start(source: Source, job: Job, watch: Watch) -> None:
    """Start queries, and tell how long each took until its first micro-batch, of the whole topic, was done."""
    with bench(source, job) as made:
        with used(watch):
            watch.latency([_first_batch(made, number) for number in range(STARTS)])
        add_streamed(made, watch)


def _first_batch(made: Bench, number: int) -> float:
    """The seconds from `start()` to the end of the first micro-batch."""
    writer = made.stream().writeStream.format("noop").option("checkpointLocation", str(made.folder / f"start-{number}"))
    begin = time.perf_counter()
    query = writer.start()
    try:
        while not any(each["numInputRows"] for each in query.recentProgress):
            if query.exception() is not None or time.perf_counter() - begin > PATIENCE_S:
                raise RuntimeError(f"the first micro-batch did not end: {query.exception()}")
            time.sleep(0.005)
        seconds = time.perf_counter() - begin
        rows = sum(each["numInputRows"] for each in query.recentProgress)
    finally:
        query.stop()
    if rows != made.job.count:
        raise RuntimeError(f"the first micro-batch had {rows} rows instead of {made.job.count}")
    return seconds


def event_table(count: int) -> Any:
    """Rows with the columns of `FIELDS`."""
    import numpy as np
    import pyarrow as pa

    numbers = np.arange(count)
    return pa.table(
        {
            "id": pa.array(numbers, pa.int64()),
            "year": pa.array(2000 + numbers % 26, pa.int32()),
            "month": pa.array(1 + numbers % 12, pa.int32()),
            "day": pa.array(1 + numbers % 28, pa.int32()),
            "carrier": pa.array(np.array(["UA", "AA", "B6", "DL"])[numbers % 4], pa.string()),
            "origin": pa.array(np.array(["EWR", "JFK", "LGA"])[numbers % 3], pa.string()),
            "dep_delay": pa.array((numbers % 400 - 60) / 2, pa.float64()),
        }
    )


def _to_parquet(source: Source, job: Job, watch: Watch, values: Any, frame: Callable[[Bench], Any]) -> None:
    """Write values to the topic, read them into Parquet files, and check what is in these."""
    import pyarrow as pa

    import kafka

    numbers = range(job.count)
    table = pa.table({"key": pa.array([b"%08d" % number for number in numbers], pa.binary()), "value": values})
    with kafka.KafkaProducer(bootstrap_servers=job.bootstrap_servers) as producer:
        producer.send_arrow(job.topic, table)
    with bench(source, job) as made:

        def query() -> Path:
            return made.to_parquet(lambda: frame(made))

        made.warm_up(query)
        _check(timed(made, watch, query), event_table(job.count))
    watch.sums.count = job.count


def _check(folder: Path, events: Any) -> None:
    """Raise where the rows in Parquet files are others than those that were written."""
    import pyarrow.parquet as pq

    read = pq.read_table(str(folder)).sort_by("id").cast(events.schema)
    if not read.equals(events):
        raise RuntimeError(f"the {read.num_rows} rows that were read are not the {events.num_rows} that were written")
