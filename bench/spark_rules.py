"""The Spark job that measures what the rules of a pipeline cost: a query from topic to topic, with and without them.

With rules, each row is evaluated against ten rules and the built-in ones, and failures are counted, as in a pipeline.
"""

from __future__ import annotations

from typing import Any

from bench.job import Job, Watch
from bench.spark_jobs import Bench, Source, bench, other_topic, timed
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


def rules(source: Source, job: Job, watch: Watch, *, with_rules: bool) -> None:
    """Read JSON values, and write a part of their fields as JSON to another topic."""
    import pyarrow as pa

    import kafka
    from kafka.formats import Json

    values = Json(FIELDS).encode_rows(event_table(job.count))
    keys = pa.array([b"%08d" % number for number in range(job.count)], pa.binary())
    with kafka.KafkaProducer(bootstrap_servers=job.bootstrap_servers) as producer:
        producer.send_arrow(job.topic, pa.table({"key": keys, "value": values}))
    with bench(source, job) as made, other_topic(job) as other:

        def query() -> int:
            rows, counted = _evaluated(made) if with_rules else (_read(made), None)
            rows = rows.where("dep_delay > 0").selectExpr(
                "origin as key", "struct(carrier, origin, dep_delay) as value"
            )
            writer = made.to_topic(rows.write, other, "rules").option("valueFormat", "json")
            writer.mode("append").save()
            return job.count if counted is None else int(counted().rows)

        made.warm_up(query)
        if timed(made, watch, query) != job.count:
            raise RuntimeError("the query did not count all rows")
    watch.sums.count = job.count


def _read(made: Bench) -> Any:
    typed = {"valueFormat": "json", "valueSchema": FIELDS, "valueErrors": "column"}
    return made.columns(**typed).select("value.*", "offset", "value_error")


def _evaluated(made: Bench) -> tuple[Any, Any]:
    """Return the rows that pass all rules, and a function that returns the counts after the query."""
    from pyspark.sql import Observation
    from pyspark.sql.functions import col

    from kafka.pipelines import kafka_source, rule
    from kafka.pipelines.rules import Evaluation, built_in, counts

    source = kafka_source("events", value_format="json", value_schema=FIELDS, required=["id"])
    evaluation = Evaluation([*built_in(source), *(rule(name, holds) for name, holds in RULES.items())], col("offset"))
    counted = counts(evaluation.rules, col("failures"))
    observation = Observation()
    rows = evaluation.add_to(_read(made), "failures").observe(observation, *counted.columns)
    return rows.where(evaluation.is_processed(col("failures"))), lambda: counted.read(observation.get)
