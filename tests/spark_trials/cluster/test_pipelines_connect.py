"""Pipelines with Spark Connect: each sink, a flush of windows, a replay, a backfill, an audit, and errors."""

from __future__ import annotations

import subprocess
import sys

import pytest

from harness.process import Supervised
from harness.spark_cluster import connect_server

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
    table_ids,
    with_environment,
)

NUMBERS = range(160)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    pytest.importorskip("grpc_status", reason="requirements/spark-trials.txt is not installed; make does it")
    with connect_server(tmp_path_factory.mktemp("connect")) as (url, process):
        yield url, process


@pytest.fixture
def flights(embedded_broker, tmp_path):
    found = Flights(embedded_broker.bootstrap_servers, tmp_path / "written")
    found.produce(NUMBERS)
    return found


def carried_out(server, folder, *works):
    """Run a client of the server; gives what came of each work."""
    url, process = server
    command = with_environment([sys.executable, str(PROGRAM), *works], {"SPARK_REMOTE": url})
    client = Supervised(command, folder / "client.log", folder)
    try:
        return results(client)
    finally:
        client.end()
        (folder / "server.log").write_text(process.output())


def test_rows_reach_a_topic_and_dead_letters_are_replayed(server, flights, tmp_path):
    works = [
        flights.work("run", "rows", offsets=80),
        flights.work("replay", "rows", missing="keep"),
        flights.work("backfill", "rows", to=flights.other),
        flights.work("audit", "rows"),
        flights.work("run", "rows", missing="fail"),
    ]
    ran, replayed, backfilled, audit, nothing = carried_out(server, tmp_path, *works)
    dead = letters_of(NUMBERS)
    out = late_flights(NUMBERS)
    assert (ran["rows"], ran["out"], ran["dead"]) == (len(NUMBERS), len(out), len(dead))
    assert ran["rules"] == {"decodes": 16, "carrier is known": len(dead) - 16}
    kept = [each for each in range(51, 160) if each % 10]
    assert flights.ids(flights.sink) == kept
    assert (replayed["rows"], replayed["out"], replayed["dead"]) == (len(dead), len(kept) - len(out), 16)
    assert (backfilled["rows"], flights.ids(flights.other)) == (len(NUMBERS), out)
    assert audit["faults"] == []
    assert nothing["rows"] == 0
    assert [attempt for *_, attempt in flights.letters()].count(1) == 2 * len(dead)  # of the run and of the backfill


def test_targets_get_each_batch_once(server, flights, tmp_path):
    flights.produce(range(100, 160))
    works = [flights.work("run", kind, offsets=110) for kind in ("unique", "delta", "function")]
    works += [flights.work("run", "unique"), flights.work("replay", "unique")]
    unique, delta, function, again, refused = carried_out(server, tmp_path, *works)
    assert [each["rows"] for each in (unique, delta, function)] == [220, 220, 220]
    assert table_ids(str(flights.folder / "unique.parquet")) == late_flights(NUMBERS)
    twice = sorted([*late_flights(NUMBERS), *late_flights(range(100, 160))])
    assert delta_ids(flights.folder / "table.delta") == twice
    assert len(list((flights.folder / "function").glob("trial-function-stream-*.json"))) == 2
    assert again["rows"] == 0
    assert refused["error"] == "InvalidDeclaration"
    assert "the query keeps state" in refused["text"]


def test_the_last_windows_are_written_and_errors_name_their_cause(server, flights, tmp_path):
    works = [flights.work("run", "windows"), flights.work("run", "rows", missing="fail")]
    works.append(flights.work("run", "delta", max_bad=0.05))
    windows, failed, rejected = carried_out(server, tmp_path, *works)
    assert (windows["rows"], windows["dead"]) == (len(NUMBERS), len(NUMBERS) - len(good(NUMBERS)))
    assert {each["hour"]: each["flights"] for each in flights.values(flights.sink)} == hours(NUMBERS)
    assert failed["error"] == "PipelineFailedError"
    assert f"The record at TOPIC/PARTITION/OFFSET {flights.source}/" in failed["text"]
    assert "fails rules, at least one with the outcome 'fail': carrier is known" in failed["text"]
    assert rejected["error"] == "TooManyRejectedError"
    assert "but max_bad is 0.05" in rejected["text"]
    assert delta_ids(flights.folder / "table.delta") == late_flights(NUMBERS)


def test_the_command_connects_to_a_server(server, flights, tmp_path):
    topics = {"source": flights.source, "sink": flights.sink, "dead": flights.dead}
    (tmp_path / "flights.yaml").write_text(DECLARATION.format(servers=flights.servers, **topics))
    kafka = [sys.executable, "-m", "kafka", "pipeline", "run", "flights.yaml", "--master", server[0]]
    done = subprocess.run(with_environment(kafka, {}), cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2_000:] + done.stderr[-4_000:]
    assert flights.ids(flights.sink) == late_flights(NUMBERS)
