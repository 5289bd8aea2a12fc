"""How the demo starts its drivers, kills one, and starts another. Small programs stand in for the drivers."""

import os
import pathlib
import sys
import threading

import pytest

from kafka.cli.demo import driver_processes, spark_driver
from kafka.cli.demo.names import Names
from kafka.errors import KafkaError

pytestmark = pytest.mark.once

DRIVER = """
import json, pathlib, sys
parts = pathlib.Path("parts.json")
part, *others = json.loads(parts.read_text())
parts.write_text(json.dumps(others))
for folder, number in part.get("batches", []):
    path = pathlib.Path("checkpoints/flights/stream") / folder / str(number)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('{"flights":{"0":%d}}' % (10 * number + 10))
if "failure" in part:
    print("Error: " + part["failure"], file=sys.stderr)
print(part.get("prints", ""), end="", flush=True)
if part.get("waits"):
    sys.stdin.read()
sys.exit(part.get("status", 0))
"""
BUSY = '{"failure": "it ended: Python worker failed to connect back.", "status": 1}'
IN_FLIGHT = (
    '{"batches": [["offsets", 0], ["commits", 0], ["offsets", 1], ["commits", 1], ["offsets", 2]], "waits": true}'
)
DONE = "{}"


@pytest.fixture
def names(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Names:
    program = tmp_path / "driver.py"
    program.write_text(DRIVER)
    monkeypatch.setattr(driver_processes, "_DRIVER", (sys.executable, str(program)))
    monkeypatch.setattr(driver_processes, "_open_transactions", lambda names: 2)
    monkeypatch.setattr(driver_processes, "group_lag", lambda names: 1_234)
    return Names("host:1", "http://host:2", tmp_path)


def run(names: Names, *parts: str) -> tuple[driver_processes.Kill | None, list[str]]:
    """Run drivers that follow these scripts; return the kill, and the messages."""
    (names.output / "parts.json").write_text(f"[{', '.join(parts)}]")
    said: list[str] = []
    kill = driver_processes.run_with_a_kill(names, 4, 40, said.append)
    assert (names.output / "parts.json").read_text() == "[]"
    return kill, said


def test_a_driver_is_killed_in_the_middle_and_another_continues(names: Names) -> None:
    kill, said = run(names, IN_FLIGHT, DONE)
    assert kill == driver_processes.Kill(batch=2, rows=20, open_transactions=2, lag=1_234)
    assert said == [
        "$ kafka pipeline run flights.yaml",
        (
            "Killed the driver (kill -9) in the middle of micro-batch 2, after 20 of 40 records; "
            "it left 2 transactions open. The lag of the group is 1,234."
        ),
        "Restarted: a new driver continues from the checkpoint.",
        "$ kafka pipeline run flights.yaml",
    ]


def test_a_driver_that_failed_on_a_busy_machine_is_restarted(names: Names) -> None:
    kill, said = run(names, BUSY, IN_FLIGHT, BUSY, DONE)
    assert kill is not None
    assert sum("this machine is busy" in each for each in said) == 2


def test_a_driver_that_finishes_immediately_is_not_killed(names: Names) -> None:
    kill, said = run(names, DONE)
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
def test_a_failed_driver_is_an_error_with_its_reason(names: Names, parts: list[str], why: str) -> None:
    with pytest.raises(KafkaError, match=why):
        run(names, *parts)


def test_the_output_of_a_command_that_found_a_problem_is_a_result(names: Names) -> None:
    output = names.output / "audit.json"
    said: list[str] = []
    command = ("pipeline", "audit", "flights.yaml", "--json")
    (names.output / "parts.json").write_text('[{"prints": "found", "status": 1}, {"status": 1}]')
    assert driver_processes.run_command(names, command, said.append, output=output, fails=True)
    assert output.read_text() == "found"
    assert said == ["$ kafka pipeline audit flights.yaml"]
    with pytest.raises(KafkaError, match="its exit status is 1"):
        driver_processes.run_command(names, command, said.append, output=output, fails=True)


def checkpoint(folder: pathlib.Path, begun: int, done: int) -> pathlib.Path:
    """Create a checkpoint with these numbers of begun and finished micro-batches of 10 records."""
    for name, count in (("offsets", begun), ("commits", done)):
        (folder / name).mkdir(parents=True)
        for number in range(count):
            (folder / name / f".{number}.crc").touch()
            (folder / name / str(number)).write_text(f'v1\n{{}}\n{{"flights":{{"0":{10 * (number + 1)}}}}}')
    return folder


@pytest.mark.parametrize(("begun", "done", "found"), [(0, 0, None), (1, 0, 0), (3, 3, None), (12, 11, 11)])
def test_a_micro_batch_in_flight_is_unfinished(
    tmp_path: pathlib.Path, begun: int, done: int, found: int | None
) -> None:
    assert driver_processes.in_flight(checkpoint(tmp_path, begun, done)) == found


def test_the_checkpoint_shows_progress(tmp_path: pathlib.Path) -> None:
    names = Names("host:1", "http://host:2", tmp_path)
    assert driver_processes.rows_done(names) == 0
    checkpoint(names.stream, 4, 3)
    assert driver_processes.rows_done(names) == 30


def test_a_driver_ends_with_its_parent(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = threading.Event()
    read, write = os.pipe()
    with open(read) as standard_input:
        monkeypatch.setattr(sys, "stdin", standard_input)
        monkeypatch.setattr(os, "kill", lambda *_: ended.set())
        os.close(write)
        spark_driver._end_with_standard_input()
    assert ended.is_set()
