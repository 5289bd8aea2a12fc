"""Dagster: hours of a topic as partitions, and a sensor that requests them; late orders, repetition, no broker."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.framework_programs import PATIENCE_S, Start, run
from kafka import KafkaProducer

if TYPE_CHECKING:
    from conftest import Broker, MakeTopic

FRAMEWORK = "dagster"
HOUR_MS = 3_600_000
TEN = 1_795_773_600_000  # 2026-11-27 10:00 UTC
FOLLOW = """
import json, sys
import dagster as dg
from dagster_orders import defs, hourly_orders, new_orders

instance = dg.DagsterInstance.get()
resources = defs.resources
context = dg.build_sensor_context(instance=instance, cursor=sys.argv[1] or None, resources=resources, definitions=defs)
said = new_orders(context)
ran = {}
for request in getattr(said, "run_requests", None) or []:
    done = dg.materialize([hourly_orders], instance=instance, partition_key=request.partition_key, resources=resources)
    assert done.success
    ran[request.partition_key] = done.output_for_node("hourly_orders")
skipped = said.skip_message if isinstance(said, dg.SkipReason) else None
cursor = None if skipped else said.cursor
keys = [] if skipped else [request.run_key for request in said.run_requests]
print("RESULT " + json.dumps({"ran": ran, "skipped": skipped, "cursor": cursor, "keys": keys}))
"""


def write(servers: str, topic: str, *orders: tuple[float, int]) -> None:
    """Write orders, each of an hour after ten, and an amount."""
    with KafkaProducer(bootstrap_servers=servers) as producer:
        for hours, amount in orders:
            at = TEN + round(hours * HOUR_MS)
            producer.send(topic, json.dumps({"amount": amount}).encode(), key=b"ada", timestamp_ms=at)


def follow(python: Path, variables: dict[str, str], cursor: str) -> dict[str, Any]:
    """Evaluate the sensor once, from a cursor, and materialize what it requests."""
    done = run(python, "-c", FOLLOW, cursor, **variables)
    assert done.returncode == 0, done.stderr[-3000:]
    result: dict[str, Any] = json.loads(done.stdout.split("RESULT ")[1])
    return result


def home(folder: Path, servers: str, topic: str) -> dict[str, str]:
    """Variables of an empty instance of Dagster."""
    (folder / "dagster.yaml").write_text("telemetry:\n  enabled: false\n")
    return {"DAGSTER_HOME": str(folder), "KAFKA_BOOTSTRAP_SERVERS": servers, "KAFKA_TOPIC": topic}


def test_the_sensor_requests_the_hours_of_new_and_late_orders(
    broker: Broker, make_topic: MakeTopic, python: Path, tmp_path: Path
) -> None:
    servers, topic = broker.bootstrap_servers, make_topic()
    variables = home(tmp_path, servers, topic)
    write(servers, topic, (0, 1), (0.9999, 2), (1, 4), (2.5, 8))
    first = follow(python, variables, "")
    assert first["ran"] == {
        "2026-11-27-10:00": {"ada": 3},
        "2026-11-27-11:00": {"ada": 4},
        "2026-11-27-12:00": {"ada": 8},
    }
    assert json.loads(first["cursor"]) == {"0": 4}
    assert follow(python, variables, first["cursor"])["skipped"] == "no new orders"
    again = follow(python, variables, "")
    assert again == first, "a tick that is repeated requests the same runs, by the same keys"

    write(servers, topic, (0.5, 16))  # an order of an earlier hour
    late = follow(python, variables, first["cursor"])
    assert late["ran"] == {"2026-11-27-10:00": {"ada": 19}}
    assert json.loads(late["cursor"]) == {"0": 5}


def test_a_hour_is_materialized_by_dagster_in_a_process_of_its_own(
    broker: Broker, make_topic: MakeTopic, python: Path, start: Start, tmp_path: Path
) -> None:
    servers, topic = broker.bootstrap_servers, make_topic(partitions=3)
    write(servers, topic, *[(number / 100, 1) for number in range(200)])
    command = ("-m", "dagster", "asset", "materialize", "-f", "dagster_orders.py", "--select", "hourly_orders")
    options = ("--partition", "2026-11-27-10:00")
    variables = home(tmp_path, servers, topic)
    for _ in range(2):  # a duplicate run replaces the result
        process = start(*command, *options, **variables)
        assert process.finish(PATIENCE_S) == 0, process.output()[-3000:]
        assert "RUN_SUCCESS" in process.output()
    loading = "from dagster_orders import defs; import dagster as dg\n"
    loading += "print(defs.load_asset_value('hourly_orders', partition_key='2026-11-27-10:00', "
    loading += "instance=dg.DagsterInstance.get()))"
    done = run(python, "-c", loading, **variables)
    assert done.stdout == "{'ada': 100}\n", done.stderr[-3000:]


def test_without_a_broker_the_sensor_skips_and_a_run_fails_with_the_reason(
    python: Path, tmp_path: Path, nobody: str
) -> None:
    variables = home(tmp_path, nobody, "orders")
    skipped = follow(python, variables, "")["skipped"]
    assert skipped.startswith("the topic cannot be read at the moment: ")
    assert nobody in skipped
