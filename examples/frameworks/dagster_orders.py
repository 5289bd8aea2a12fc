"""Dagster: the orders of each hour as a partitioned asset, and a sensor that follows the topic.

The asset `hourly_orders` adds up the orders whose timestamps are in its hour. It reads by time and replaces its result,
so it can be materialized again at any time. The sensor looks for records that came after its cursor, and requests the
hours to which they belong, also those of orders that came late.

    pip install kafka-columnar dagster dagster-webserver
    KAFKA_BOOTSTRAP_SERVERS=localhost:9092 dagster dev -f dagster_orders.py
"""

import collections
import json
import os
from datetime import UTC, datetime, timedelta
from typing import Any

import dagster as dg

import kafka
from kafka.errors import KafkaError

HOURS = dg.HourlyPartitionsDefinition("2026-01-01-00:00", timezone="UTC")
AT_ONCE = 100_000
"""Number of offsets of each partition that the sensor looks at in one tick."""


class KafkaTopic(dg.ConfigurableResource[Any]):
    """A topic. It opens a client for each read, so that it works in any process in which Dagster runs a step."""

    bootstrap_servers: str
    topic: str

    def read(self, **bounds: Any) -> Any:
        """`kafka.read` of the topic, between the bounds. It fails soon enough for a sensor, which has 60 seconds."""
        return kafka.read(self.topic, bootstrap_servers=self.bootstrap_servers, bootstrap_timeout_ms=10_000, **bounds)


@dg.asset(partitions_def=HOURS, retry_policy=dg.RetryPolicy(max_retries=3, delay=10))
def hourly_orders(context: dg.AssetExecutionContext, orders_topic: KafkaTopic) -> dict[str, int]:
    """Total of each customer's orders in an hour."""
    hour = context.partition_time_window
    begin_ms, end_ms = (int(each.timestamp() * 1000) for each in (hour.start, hour.end))
    totals: dict[str, int] = collections.defaultdict(int)
    count = 0
    # Up to the current end, not to the first record of the next hour: an order may have come late.
    for record in orders_topic.read(start=hour.start):
        if begin_ms <= record.timestamp < end_ms:
            totals[record.key.decode()] += json.loads(record.value)["amount"]
            count += 1
    context.add_output_metadata({"orders": count, "customers": len(totals)})
    return dict(totals)


@dg.sensor(target=hourly_orders, minimum_interval_seconds=30)
def new_orders(context: dg.SensorEvaluationContext, orders_topic: KafkaTopic) -> dg.SensorResult | dg.SkipReason:
    """Requests the hours of the records that came after the cursor, a JSON object from partition to offset."""
    cursor = {int(partition): offset for partition, offset in json.loads(context.cursor or "{}").items()}
    try:
        with orders_topic.read() as found:
            ranges = {
                each: (cursor.get(each.partition, bounds.start), bounds.end) for each, bounds in found.ranges.items()
            }
        starts = {each: start for each, (start, _) in ranges.items()}
        ends = {each: min(start + AT_ONCE, end) for each, (start, end) in ranges.items()}
        hours = set()
        for columns in orders_topic.read(start=starts, end=ends).columns():
            hours |= {timestamp // 3_600_000 for timestamp in columns.timestamps}
    except KafkaError as error:
        return dg.SkipReason(f"the topic cannot be read at the moment: {error}")
    if starts == ends:
        return dg.SkipReason("no new orders")
    position = json.dumps({each.partition: end for each, end in ends.items()})
    keys = [
        (datetime.fromtimestamp(0, UTC) + timedelta(hours=int(hour))).strftime("%Y-%m-%d-%H:00")
        for hour in sorted(hours)
    ]
    # The key of a run contains the position: a tick that is repeated does not start its runs again.
    return dg.SensorResult(
        run_requests=[dg.RunRequest(run_key=f"{key} {position}", partition_key=key) for key in keys], cursor=position
    )


defs = dg.Definitions(
    assets=[hourly_orders],
    sensors=[new_orders],
    resources={
        "orders_topic": KafkaTopic(
            bootstrap_servers=os.environ.get("KAFKA_BOOTSTRAP_SERVERS", "localhost:9092"),
            topic=os.environ.get("KAFKA_TOPIC", "orders"),
        )
    },
)
