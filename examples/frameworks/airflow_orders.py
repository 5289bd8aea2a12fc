"""A DAG of Airflow that adds up, every hour, the orders that a topic has received since its previous run.

`plan` fixes the range of offsets of a run: from the committed offsets of a consumer group to the current ends of the
partitions. `load` reads exactly this range, writes one file named after the logical date, and commits the end of the
range. Tasks may fail and be repeated at any point:

- A `load` that runs again reads the same range, and replaces its file.
- If a whole run is cleared and runs again, `plan` takes the range from the run's file.
- A run whose `load` has failed delays the following runs (`depends_on_past`, `wait_for_downstream`), so that no range
  is left out and none is read by two runs.

The connection has the type "Generic", and Kafka's options as extra, with the names of Java or librdkafka:

    pip install kafka-columnar apache-airflow
    export AIRFLOW_CONN_KAFKA_DEFAULT='{"conn_type": "generic", "extra": {"bootstrap.servers": "localhost:9092"}}'
    python airflow_orders.py 2026-11-28T10:00:00+00:00
"""

import collections
import json
import os
import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from airflow.sdk import Connection, dag, task

TOPIC = os.environ.get("KAFKA_TOPIC", "orders")
GROUP = os.environ.get("KAFKA_GROUP", "airflow-orders")
FOLDER = Path(os.environ.get("ORDERS_FOLDER", "/tmp/orders"))

Ranges = list[tuple[int, int, int]]
"""Partition, first offset, and the offset after the last one."""


def options(**more: Any) -> dict[str, Any]:
    """The connection's options as keyword arguments, in tasks only: parsing a DAG must not look up connections."""
    from kafka.config import from_librdkafka_names

    return {**from_librdkafka_names(Connection.get("kafka_default").extra_dejson), **more}


def file_of(logical_date: datetime) -> Path:
    return FOLDER / f"{logical_date:%Y-%m-%dT%H%M%S}.json"


@dag(
    schedule="@hourly",
    start_date=datetime.fromisoformat("2026-01-01T00:00:00+00:00"),
    catchup=False,
    max_active_runs=1,
    default_args={"retries": 3, "retry_delay": timedelta(minutes=1)},
)
def orders() -> None:
    @task(depends_on_past=True, wait_for_downstream=True)
    def plan(logical_date: datetime | None = None) -> Ranges:
        import kafka  # here, not at the top: the scheduler parses this file again and again

        assert logical_date is not None
        file = file_of(logical_date)
        if file.exists():
            return json.loads(file.read_text())["ranges"]
        ranges = []
        with (
            kafka.read(TOPIC, **options()) as found,
            kafka.KafkaConsumer(**options(group_id=GROUP, enable_auto_commit=False)) as consumer,
        ):
            for partition, bounds in found.ranges.items():
                committed = consumer.committed(partition) or 0
                if committed > bounds.end:
                    raise ValueError(
                        f"expected a committed offset of at most {bounds.end} in {partition}, found {committed}: if "
                        f"the topic was recreated, run kafka groups reset {GROUP} --topic {TOPIC} --to earliest"
                    )
                # Records that retention has deleted since the previous run are left out.
                ranges.append((partition.partition, max(committed, bounds.start), bounds.end))
        return ranges

    @task
    def load(ranges: Ranges, logical_date: datetime | None = None) -> int:
        import kafka

        assert logical_date is not None
        starts = {kafka.TopicPartition(TOPIC, partition): start for partition, start, _ in ranges}
        ends = {kafka.TopicPartition(TOPIC, partition): end for partition, _, end in ranges}
        totals: dict[str, int] = collections.defaultdict(int)
        for record in kafka.read(list(starts), start=starts, end=ends, **options()):
            totals[record.key.decode()] += json.loads(record.value)["amount"]

        FOLDER.mkdir(parents=True, exist_ok=True)
        file = file_of(logical_date)
        unfinished = file.with_suffix(".unfinished")
        unfinished.write_text(json.dumps({"ranges": ranges, "totals": totals}, sort_keys=True))
        unfinished.replace(file)  # the file is there as a whole, or not at all

        with kafka.KafkaConsumer(**options(group_id=GROUP, enable_auto_commit=False)) as consumer:
            consumer.assign(list(ends))
            # A run that is repeated after later ones must not take the group back.
            further = {each: end for each, end in ends.items() if end > (consumer.committed(each) or 0)}
            consumer.commit({each: kafka.OffsetAndMetadata(end, str(logical_date)) for each, end in further.items()})
        return sum(end - start for _, start, end in ranges)

    load(plan())


orders_dag = orders()

if __name__ == "__main__":
    ran = orders_dag.test(logical_date=datetime.fromisoformat(sys.argv[1]))
    sys.exit(ran.state != "success")
