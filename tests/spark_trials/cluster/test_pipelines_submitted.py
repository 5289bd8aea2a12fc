"""Pipelines on a standalone cluster: submitted, killed, restarted, replayed and audited."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile

import pytest

from harness.spark_cluster import Standalone

from .pipeline_support import (
    DECLARATION,
    PROGRAM,
    Flights,
    delta_ids,
    good,
    hours,
    late_flights,
    letters_of,
    results,
    submit,
    table_ids,
    with_environment,
)
from .test_standalone import OURS, SOURCES, environment
from .trial_support import CLUSTER

__all__ = ["environment"]

COMMAND = "from kafka_columnar import main\n\nmain()\n"
"""The program `kafka_command.py` of docs/PIPELINES.md: spark-submit takes a file without .py for a JAR."""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with Standalone(tmp_path_factory.mktemp("standalone")) as running:
        yield running


def test_the_command_is_submitted_and_connects_to_a_master(cluster, embedded_broker, tmp_path):
    flights = Flights(embedded_broker.bootstrap_servers, tmp_path)
    flights.produce(range(100))
    topics = {"source": flights.source, "sink": flights.sink, "dead": flights.dead}
    text = DECLARATION.format(servers=flights.servers, **topics)
    (tmp_path / "flights.yaml").write_text(text)
    (tmp_path / "kafka_command.py").write_text(COMMAND)

    def submitted(*command: str) -> None:
        arguments = ["kafka_command.py", "pipeline", command[0], "flights.yaml", *command[1:]]
        process = submit(cluster.url, arguments, tmp_path / f"{command[0]}.log", PYSPARK_PYTHON=sys.executable)
        assert process.finish(900) == 0, process.output()[-6_000:]

    submitted("run", "--once")
    assert flights.ids(flights.sink) == late_flights(range(100))
    flights.produce(range(100, 160))
    settings = [part for name, value in CLUSTER.items() for part in ("--conf", f"{name}={value}")]
    kafka = [sys.executable, "-m", "kafka", "pipeline", "run", "flights.yaml", "--master", cluster.url, *settings]
    done = subprocess.run(with_environment(kafka, {}), cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2_000:] + done.stderr[-4_000:]
    assert flights.ids(flights.sink) == late_flights(range(160))
    assert flights.letters() == letters_of(range(160))
    rule = "{name: carrier is known, holds: carrier is not null}"
    (tmp_path / "flights.yaml").write_text(text.replace(rule, rule.replace("}", ", otherwise: keep}")))
    submitted("replay")
    kept = [each for each in range(51, 160) if each % 10]
    assert flights.ids(flights.sink) == kept
    again = [each for each in range(160) if each % 10 == 0]
    assert [attempt for *_, attempt in flights.letters()].count(2) == len(again)
    submitted("audit")


@pytest.mark.parametrize("kind", ["unique", "delta"])
def test_each_row_is_written_once_when_a_worker_and_the_driver_are_killed(cluster, embedded_broker, tmp_path, kind):
    flights = Flights(embedded_broker.bootstrap_servers, tmp_path / "written")
    order = [*range(160), *(range(100, 160) if kind == "unique" else ())]
    flights.produce(order)
    env = {"PYSPARK_PYTHON": sys.executable}
    killed = submit(cluster.url, [str(PROGRAM), flights.work("run", kind, offsets=20)], tmp_path / "killed.log", **env)
    try:
        assert killed.wait_for('{"event": "batch", "batch": 0}', 900), killed.output()[-6_000:]
        cluster.kill_worker()
        assert killed.wait_for('{"event": "batch", "batch": 3}', 900), killed.output()[-6_000:]
    finally:
        killed.kill()
    cluster.add_worker()
    works = [flights.work("run", kind), flights.work("audit", kind)]
    if kind == "delta":
        works[1:1] = [flights.work("replay", kind, missing="keep")]
    again = submit(cluster.url, [str(PROGRAM), *works], tmp_path / "again.log", **env)
    *runs, audit = results(again)
    assert audit["faults"] == []
    assert not [each for each in runs if "error" in each]
    letters = letters_of(order)
    if kind == "unique":
        assert table_ids(str(flights.folder / "unique.parquet")) == late_flights(range(160))
        assert flights.letters() == letters
        return
    assert delta_ids(flights.folder / "table.delta") == [each for each in range(51, 160) if each % 10]
    undecodable = sum(1 for each in order if each % 10 == 0)
    assert runs[-1]["dead"] == undecodable
    assert [attempt for *_, attempt in flights.letters()].count(1) == len(letters)


def test_windows_are_flushed_and_a_function_gets_each_batch(cluster, embedded_broker, tmp_path):
    flights = Flights(embedded_broker.bootstrap_servers, tmp_path / "written")
    flights.produce(range(160))
    works = [flights.work("run", "windows"), flights.work("run", "function", offsets=80)]
    done = submit(cluster.url, [str(PROGRAM), *works], tmp_path / "run.log", PYSPARK_PYTHON=sys.executable)
    windows, function = results(done)
    assert json.dumps({"event": "session", "master": cluster.url}) in done.output()
    assert (windows["rows"], windows["dead"]) == (160, 160 - len(good(range(160))))
    assert {each["hour"]: each["flights"] for each in flights.values(flights.sink)} == hours(range(160))
    assert function["out"] == len(late_flights(range(160)))
    assert len(list((flights.folder / "function").glob("*.json"))) == 2


def test_the_package_is_sent_along(cluster, embedded_broker, environment, tmp_path):
    """The executors and the planning processes of the driver have the libraries, and a ZIP file brings the package."""
    flights = Flights(embedded_broker.bootstrap_servers, tmp_path / "written")
    flights.produce(range(60))
    package = tmp_path / "kafka_columnar.zip"
    with zipfile.ZipFile(package, "w") as packed:
        for name in OURS:
            for each in sorted((SOURCES / name).rglob("*")):
                if each.suffix in (".py", ".json", ".typed"):
                    packed.write(each, each.relative_to(SOURCES))
    folder, _ = environment
    libraries = str(folder / "bin" / "python")
    assert subprocess.run([libraries, "-c", "import kafka"], capture_output=True, check=False).returncode != 0
    env = {"PYSPARK_PYTHON": libraries, "PYSPARK_DRIVER_PYTHON": sys.executable, "PYTHONPATH": str(package)}
    arguments = ["--py-files", str(package), str(PROGRAM), flights.work("run", "rows")]
    (result,) = results(submit(cluster.url, arguments, tmp_path / "run.log", **env))
    assert result["out"] == len(late_flights(range(60)))
    assert flights.ids(flights.sink) == late_flights(range(60))
