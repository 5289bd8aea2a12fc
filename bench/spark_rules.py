"""The Spark job that measures what the rules of a pipeline cost: the same pipeline with and without them.

Both read JSON values, and write a part of their fields as JSON to another topic, with the headers of pipelines. Values
that cannot be decoded become dead letters. With rules, each row is also evaluated against ten rules, failures are
counted by rule, and rejected rows become dead letters, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bench.job import Job, Watch
from bench.spark_jobs import READ_OPTIONS, WRITE_OPTIONS, Bench, Source, bench, other_topic, timed
from bench.spark_typed import FIELDS, event_table

RULES = {
    "carrier is known": "carrier in ('UA', 'AA', 'B6', 'DL')",
    "origin is ours": "origin in ('EWR', 'JFK', 'LGA')",
    "they differ": "carrier <> origin",
    "carrier has two letters": "length(carrier) = 2",
    "delay is plausible": "dep_delay between -120 and 165",
    "year is recent": "year between 2000 and 2030",
    "month exists": "month between 1 and 12",
    "day exists": "day between 1 and 31",
    "id counts": "id >= 0",
    "not every thousandth": "id % 1000 <> 7",
}
"""Rules by name. One row in 50 fails one of them."""


DEAD = "-dead"
"""The end of the name of the topic of dead letters."""


def rules(source: Source, job: Job, watch: Watch, *, with_rules: bool) -> None:
    """Run a pipeline over the whole topic several times."""
    import pyarrow as pa

    import kafka
    from kafka.formats import Json

    values = Json(FIELDS).encode_rows(event_table(job.count))
    keys = pa.array([b"%08d" % number for number in range(job.count)], pa.binary())
    with kafka.KafkaProducer(bootstrap_servers=job.bootstrap_servers) as producer:
        producer.send_arrow(job.topic, pa.table({"key": keys, "value": values}))
    with bench(source, job) as made, other_topic(job) as other:
        write, counted = _planned(made, _declaration(job, other, with_rules=with_rules))
        made.warm_up(write)
        timed(made, watch, write)
        if counted() != job.count:
            raise RuntimeError("the pipeline did not count all rows")
    watch.sums.count = job.count


def _declaration(job: Job, target: str, *, with_rules: bool) -> Any:
    from kafka.pipelines.declaration import declare

    given: dict[str, Any] = {
        "pipeline": "bench",
        "kafka": {"bootstrap.servers": job.bootstrap_servers},
        "source": {"topic": job.topic, "value": {"format": "json", "schema": FIELDS}},
        "query": "select carrier, origin, dep_delay from source where dep_delay > 0",
        "sink": {"topic": target, "key": "origin", "exactly_once": False},
        "dead_letters": {"topic": target + DEAD},
    }
    if with_rules:
        given["rules"] = [{"name": name, "holds": holds} for name, holds in RULES.items()]
    return declare(given)


def _planned(made: Bench, declaration: Any) -> tuple[Callable[[], object], Callable[[], int]]:
    """Plan a pipeline, as at the start of a stream.

    Returns a function that processes the topic, and one that returns the number of rows that the first call counted.
    """
    from pyspark.sql import Observation

    from kafka.pipelines.kafka_rows import output_rows, write_options
    from kafka.pipelines.planning import observed_source, plan
    from kafka.pipelines.source_rows import read_options, topic_options
    from kafka.spark.queries import FORMAT

    observations = {}

    def observe(frame: Any, name: str, counts: Any) -> Any:
        observations[name] = Observation(name)
        return frame.observe(observations[name], *counts)

    (source,) = declaration.all_sources.values()
    options = READ_OPTIONS | dict(made.source.read_options) | read_options(declaration, source) | topic_options(source)
    records = {"source": made.spark.read.format(FORMAT).options(**options).load()}
    planned = plan(declaration, records, None, observe)
    rows = output_rows(planned.frame, declaration, declaration.sink, {}, planned.count)
    kafka = WRITE_OPTIONS | write_options(declaration, declaration.sink, "bench")

    def write() -> None:
        rows.write.format(FORMAT).options(**kafka).mode("append").save()

    return write, lambda: int(observations[observed_source("source")].get["rows"])
