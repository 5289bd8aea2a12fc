"""Airflow: each run loads its range of offsets once; repeated, killed between file and commit, and without a broker."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from harness.framework_programs import EXAMPLES, run
from kafka import KafkaConsumer, KafkaProducer, TopicPartition

if TYPE_CHECKING:
    from conftest import Broker, MakeTopic

FRAMEWORK = "airflow"
TEN, ELEVEN, TWELVE = (f"2026-11-27T{hour}:00:00+00:00" for hour in (10, 11, 12))
KILLED = """
import os, runpy, sys
import kafka
kafka.KafkaConsumer.commit = lambda *_, **__: os._exit(9)  # as if the process were killed before it commits
sys.argv = ["airflow_orders.py", sys.argv[1]]
runpy.run_path("airflow_orders.py", run_name="__main__")
"""


@pytest.fixture(scope="module")
def home(python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home of Airflow with a database, and the DAG in its folder of DAGs."""
    folder = tmp_path_factory.mktemp("airflow")
    (folder / "dags").mkdir()
    shutil.copy(EXAMPLES / "airflow_orders.py", folder / "dags")
    done = run(python, "-m", "airflow", "db", "migrate", cwd=folder, **settings(folder))
    assert done.returncode == 0, done.stderr[-2000:]
    return folder


def settings(folder: Path) -> dict[str, str]:
    """Variables of an Airflow in a folder."""
    return {
        "AIRFLOW_HOME": str(folder),
        "AIRFLOW__CORE__DAGS_FOLDER": str(folder / "dags"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__USAGE_DATA_COLLECTION__ENABLED": "False",
    }


def connection(servers: str) -> str:
    """The connection to a broker, with names of librdkafka."""
    extra = {"bootstrap.servers": servers, "socket.keepalive.enable": True}
    return json.dumps({"conn_type": "generic", "extra": extra})


def write(servers: str, topic: str, *amounts: int) -> None:
    """Write orders."""
    with KafkaProducer(bootstrap_servers=servers) as producer:
        for amount in amounts:
            producer.send(topic, json.dumps({"amount": amount}).encode(), key=b"ada")


def test_each_order_is_loaded_by_one_run(
    broker: Broker, make_topic: MakeTopic, python: Path, home: Path, tmp_path: Path
) -> None:
    servers, topic, dags = broker.bootstrap_servers, make_topic(), home / "dags"
    variables = settings(home) | {
        "AIRFLOW_CONN_KAFKA_DEFAULT": connection(servers),
        "KAFKA_TOPIC": topic,
        "KAFKA_GROUP": topic,
        "ORDERS_FOLDER": str(tmp_path),
    }

    def test_run(*command: str, status: int = 0) -> subprocess.CompletedProcess[str]:
        done = run(python, *command, cwd=dags, **variables)
        assert done.returncode == status, done.stdout[-3000:] + done.stderr[-2000:]
        return done

    def loaded() -> dict[str, list[int]]:
        found = {path.name: json.loads(path.read_text()) for path in sorted(tmp_path.glob("*.json"))}
        return {name: [*each["ranges"][0][1:], each["totals"].get("ada", 0)] for name, each in found.items()}

    def committed() -> int | None:
        with KafkaConsumer(bootstrap_servers=servers, group_id=topic) as consumer:
            return consumer.committed(TopicPartition(topic, 0))

    write(servers, topic, *range(10))
    test_run("-m", "airflow", "dags", "test", "orders", TEN)
    expected = {"2026-11-27T100000.json": [0, 10, 45]}
    assert (loaded(), committed()) == (expected, 10)

    write(servers, topic, 100, 200)
    test_run("-c", KILLED, ELEVEN, status=9)
    expected["2026-11-27T110000.json"] = [10, 12, 300]
    assert (loaded(), committed()) == (expected, 10), "written, but not committed"

    write(servers, topic, 1000)
    test_run("airflow_orders.py", ELEVEN)  # the whole run again, with its range
    assert (loaded(), committed()) == (expected, 12)
    test_run("airflow_orders.py", TWELVE)
    expected["2026-11-27T120000.json"] = [12, 13, 1000]
    assert (loaded(), committed()) == (expected, 13)
    test_run("airflow_orders.py", TEN)  # the first one again, after the others
    assert (loaded(), committed()) == (expected, 13), "the group must not go back"
    assert not list(tmp_path.glob("*.unfinished"))


def test_without_a_broker_the_task_fails_with_the_reason(python: Path, home: Path, nobody: str, tmp_path: Path) -> None:
    variables = settings(home) | {"AIRFLOW_CONN_KAFKA_DEFAULT": connection(nobody), "ORDERS_FOLDER": str(tmp_path)}
    done = run(python, "-m", "airflow", "tasks", "test", "orders", "plan", TEN, cwd=home / "dags", **variables)
    said = done.stdout + done.stderr
    assert done.returncode == 1 or "new_state=up_for_retry" in said, said[-3000:]  # 0 if Airflow will try it again
    assert "NoBrokersAvailable" in said
    assert nobody in said
    assert not list(tmp_path.iterdir())
