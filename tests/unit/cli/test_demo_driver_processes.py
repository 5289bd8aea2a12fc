"""How the demo starts its drivers, kills one, and starts another. Small programs stand in for the drivers."""

import os
import pathlib
import sys
import threading

import pytest

from kafka.cli.demo import driver_processes, spark_driver
from kafka.cli.demo.plan import TOPIC_QUERY, Plan
from kafka.errors import KafkaError

pytestmark = pytest.mark.once

DRIVER = """
import json, pathlib, sys
plan = json.loads(pathlib.Path(sys.argv[-1]).read_text())
work = pathlib.Path(plan["work"])
part = json.loads((work / "parts.json").read_text())
(work / "parts.json").write_text(json.dumps(part[1:]))
checkpoint = work / "checkpoints" / "flight-delays-to-the-topic"
for folder, number in part[0].get("batches", []):
    (checkpoint / folder).mkdir(parents=True, exist_ok=True)
    (checkpoint / folder / str(number)).write_text('{"flights":{"0":%d}}' % (10 * number + 10))
if "failure" in part[0]:
    (work / "failure.txt").write_text(part[0]["failure"])
if part[0].get("waits"):
    sys.stdin.read()
sys.exit(part[0].get("status", 0))
"""
BUSY = '{"failure": "it ended: Python worker failed to connect back.", "status": 1}'
IN_FLIGHT = (
    '{"batches": [["offsets", 0], ["commits", 0], ["offsets", 1], ["commits", 1], ["offsets", 2]], "waits": true}'
)
DONE = "{}"


def run(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, *parts: str, left: int = 2
) -> tuple[driver_processes.Kill | None, list[str]]:
    """Run drivers that follow these scripts; return the kill, and the messages."""
    program = tmp_path / "driver.py"
    program.write_text(DRIVER)
    (tmp_path / "parts.json").write_text(f"[{', '.join(parts)}]")
    monkeypatch.setattr(driver_processes, "_COMMAND", (sys.executable, str(program)))
    monkeypatch.setattr(driver_processes, "_open_transactions", lambda plan: left)
    monkeypatch.setattr(driver_processes, "lag_of", lambda plan: {"group": 1_234})
    plan = Plan("host:1", {0: 0}, 10, "prefix", {TOPIC_QUERY: "group"}, "parquet", str(tmp_path), [], [])
    said: list[str] = []
    kill, again = driver_processes.run_with_a_kill(plan, 40, tmp_path / "spark.log", said.append)
    assert (kill is None) == (again is None)
    assert (tmp_path / "parts.json").read_text() == "[]"
    return kill, said


def test_a_driver_is_killed_in_the_middle_and_another_continues(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kill, said = run(tmp_path, monkeypatch, IN_FLIGHT, DONE)
    assert kill is not None
    assert (kill.batch, kill.rows, kill.open_transactions, kill.lag) == (2, 20, 2, {"group": 1_234})
    assert said == [
        "Started a Spark driver with two queries.",
        (
            "Killed the driver (kill -9) in the middle of micro-batch 2, after 20 of 40 records; "
            "it left 2 transactions open."
        ),
        "Group lag at that point: group 1,234.",
        "Restarted: a new driver continues from the checkpoints.",
    ]


def test_a_driver_that_failed_on_a_busy_machine_is_restarted(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kill, said = run(tmp_path, monkeypatch, BUSY, IN_FLIGHT, BUSY, DONE)
    assert kill is not None
    assert sum("this machine is busy" in each for each in said) == 2


def test_a_driver_that_finishes_immediately_is_not_killed(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kill, said = run(tmp_path, monkeypatch, DONE)
    assert kill is None
    assert said[-1] == "The driver finished before it could be killed."


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        (['{"failure": "no such topic", "status": 1}'], "no such topic; its log is"),
        (['{"status": 3}'], "its exit status is 3"),
        ([BUSY] * 5, "failed to connect back"),
    ],
)
def test_a_failed_driver_is_an_error_with_its_reason(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, parts: list[str], why: str
) -> None:
    with pytest.raises(KafkaError, match=why):
        run(tmp_path, monkeypatch, *parts)


def test_a_driver_ends_with_its_parent(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = threading.Event()
    read, write = os.pipe()
    with open(read) as standard_input:
        monkeypatch.setattr(spark_driver.sys, "stdin", standard_input)
        monkeypatch.setattr(spark_driver.os, "kill", lambda *_: ended.set())
        os.close(write)
        spark_driver._end_with_standard_input()
    assert ended.is_set()
