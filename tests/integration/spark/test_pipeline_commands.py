"""``kafka pipeline run``, ``replay`` and ``backfill`` on Spark: what they do, print and exit with."""

from __future__ import annotations

import itertools
import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import kafka
from kafka.broker import EmbeddedBroker
from kafka.cli.commands import commands
from kafka.cli.pipeline.run_display import RunDisplay
from kafka.errors import UnknownTopicOrPartitionError
from kafka.pipelines.directories import PipelineDirectory
from kafka.pipelines.events import Event, read_events, to_json
from kafka.pipelines.start_checks import run_lock

from .spark_support import Rec, produce, spark

__all__ = ["spark"]

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

_NUMBERS = itertools.count()
TEXT = """
pipeline: {name}
kafka: {{bootstrap.servers: "{servers}"}}
source:
  topic: {name}
  value: {{format: json, schema: a int}}
  max_offsets_per_trigger: {most}
rules:
  - {{name: a is small, holds: a < {limit}, otherwise: {outcome}}}
  - {{name: a is even, holds: a % 2 = 0, otherwise: drop}}
query: {query}
sink: {{topic: {name}.out}}
dead_letters: {{topic: {name}.dead}}
{more}
"""


@pytest.fixture(scope="module")
def broker() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker() as running:
        yield running


class Case:
    """A pipeline in a file, whose source contains the numbers from 0 to 29."""

    def __init__(self, broker: EmbeddedBroker, directory: Path) -> None:
        self.name = f"p{next(_NUMBERS)}"
        self.file = directory / "p.yaml"
        self.directory = PipelineDirectory(directory / "checkpoints" / self.name)
        self._servers = broker.bootstrap_servers
        now_ms = time.time_ns() // 1_000_000  # the broker would delete old records while a slow test runs
        records = [Rec(b'{"a": %d}' % number, timestamp_ms=now_ms) for number in range(30)]
        produce(self._servers, self.name, records)
        self.declare()

    def declare(self, text: str = TEXT, **given: object) -> None:
        """Write the file."""
        values: dict[str, object] = {
            "most": 1000,
            "limit": 20,
            "outcome": "dead_letter",
            "query": "select a from source",
            "more": "",
            "name": self.name,
            "servers": self._servers,
            "directory": self.directory.base,
        }
        self.file.write_text(text.format(**values | given))

    def __call__(self, command: str, *arguments: str, status: int = 0) -> Result:
        """Run a command in this process, and check its exit status."""
        found = CliRunner().invoke(commands, ["pipeline", command, str(self.file), *arguments])
        assert found.exit_code == status, found.output
        return found

    def values(self, topic: str) -> list[int]:
        """Return the numbers in a topic, in order; [] if it does not exist."""
        try:
            records = kafka.read(topic, bootstrap_servers=self._servers, isolation_level="read_committed")
            return sorted(json.loads(each.value)["a"] for each in records)
        except UnknownTopicOrPartitionError:
            return []

    @property
    def out(self) -> list[int]:
        """The numbers in the sink."""
        return self.values(f"{self.name}.out")


@pytest.fixture
def case(spark: Any, broker: EmbeddedBroker, tmp_path: Path) -> Case:
    return Case(broker, tmp_path)


@pytest.fixture
def interrupt(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Makes this process send itself a signal after the first micro-batch of the next command."""

    def prepare(number: int) -> None:
        add = RunDisplay.add
        pending = [number]

        def add_and_interrupt(display: RunDisplay, event: Event) -> None:
            add(display, event)
            if event.kind == "batch" and pending:
                os.kill(os.getpid(), pending.pop())

        monkeypatch.setattr(RunDisplay, "add", add_and_interrupt)

    return prepare


def test_run_replay_and_backfill(case: Case, tmp_path: Path) -> None:
    report, metrics = tmp_path / "report.html", tmp_path / "metrics.prom"
    first = case("run", "--report", str(report), "--prometheus", str(metrics))
    assert "starts at earliest" in first.stderr
    assert [line.split() for line in first.stdout.splitlines()[1:5]] == [
        ["rows", "in", "30"],
        ["rows", "out", "10"],
        ["dead", "letters", "10", "in", f"{case.name}.dead"],
        ["dropped", "rows", "10"],
    ]
    assert f"kafka pipeline replay {case.file}" in first.stdout
    assert case.out == list(range(0, 20, 2))
    assert case.name in report.read_text()
    assert f'kafka_pipeline_running{{pipeline="{case.name}",run="stream"}} 0' in metrics.read_text()

    again = case("run", "--json")
    assert [json.loads(line)["kind"] for line in again.stdout.splitlines()] == ["start", "stop"]
    assert again.stderr == ""

    case.declare(limit=26)
    replayed = case("replay", "--rule", "a is small")
    assert "10 dead letters" in replayed.stderr
    assert case.out == list(range(0, 26, 2))
    assert "4 in" in replayed.stdout, "four numbers are still too large"
    assert "resumes after micro-batch 0, at" in case("run").stderr

    assert "nothing to replay" in case("replay", "--offsets", "0:0-10").stderr
    filled = case("backfill", "--offsets", f"{case.name}-0:4-9", "--to", f"{case.name}.again")
    assert "5 offsets" in filled.stderr
    assert case.values(f"{case.name}.again") == [4, 6, 8]
    assert "nothing to backfill" in case("backfill", "--since", "2100-01-01T00:00:00Z").stderr


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_stops_a_run_between_micro_batches(
    case: Case, interrupt: Callable[[int], None], number: int, status: int
) -> None:
    case.declare(most=3)
    interrupt(number)
    stopped = case("run", status=status)
    assert f"{case.name}: stopped" in stopped.stdout
    assert "last complete  micro-batch" in stopped.stdout
    assert f"{case.name}-0: " in stopped.stdout
    assert len(case.out) < 10, stopped.output
    batches = [each for each in read_events(case.directory.events) if each.kind == "batch"]
    # The stop interrupts a micro-batch that begins at the same moment; the next run repeats it, and records its event.
    assert len(case.out) >= sum(each.out or 0 for each in batches) > 0, [stopped.output, *map(to_json, batches)]
    case.declare()
    rest = case("run")
    assert "resumes after micro-batch" in rest.stderr
    assert case.out == list(range(0, 20, 2)), "each exactly once"


def test_a_signal_stops_a_backfill_and_the_same_command_continues_it(
    case: Case, interrupt: Callable[[int], None]
) -> None:
    arguments = ("--to", f"{case.name}.out", "--slice-offsets", "8")
    interrupt(signal.SIGINT)
    stopped = case("backfill", *arguments, status=130)
    assert "1 of 4 slices" in stopped.stdout
    assert f"kafka pipeline backfill {case.file} --to {case.name}.out" in stopped.stdout
    rest = case("backfill", *arguments)
    assert "backfill 1 continues with slice 2 of 4" in rest.stderr
    assert "22 offsets, in 3 slices" in rest.stderr
    assert case.out == list(range(0, 20, 2)), "each exactly once"
    assert "backfill 2 starting" in case("backfill", *arguments).stderr


def test_errors_are_one_line(case: Case) -> None:
    def error(*arguments: str, status: int = 1) -> str:
        found = case(*arguments, status=status)
        (line,) = [each for each in found.stderr.splitlines() if each.startswith("Error: ")]
        assert found.stderr.endswith(line + "\n"), "nothing follows"
        assert "\tat " not in found.stderr
        assert "Traceback" not in found.stderr
        return line

    case.declare(outcome="fail")
    assert f"{case.name}/0/20 fails rules, at least one with the outcome 'fail': a is small" in error("run")
    case.declare(query="select a / (a - 4) as b from source")
    assert "DIVIDE_BY_ZERO" in error("run")
    case.declare(query="select nothing from source")
    assert "there is no column 'nothing'" in error("run", status=2)
    case.declare()
    with run_lock(case.directory.base / "stream.lock", "run"):
        assert "another run of this pipeline is running" in error("run")
    case.declare(more="max_bad: 0.1")
    assert "micro-batch 0 rejected 20 of 30 rows, but max_bad is 0.1" in error("run")
    assert error("replay", "--offsets", "7:0-1").endswith("it has 1 partition(s)")
    other = case.name + "x"
    case.file.write_text(case.file.read_text().replace(f"pipeline: {case.name}\n", f"pipeline: {other}\n"))
    case.file.write_text(case.file.read_text() + f"\ncheckpoint: {case.directory.base}\n")
    assert f"belongs to pipeline '{case.name}'" in error("run", status=2)
    case.declare(name="missing")
    assert "topic 'missing' does not exist" in error("run", status=2)


def test_a_stateful_query_leaves_no_replay_behind(case: Case) -> None:
    case("run")
    case.declare(query="select count(*) as a from source", more="output_mode: update")
    assert "keeps state" in case("replay", status=2).stderr
    case.declare(limit=26)
    assert "replay 1 starting" in case("replay").stderr


PROGRAM = """
from pyspark.sql.functions import udf

from kafka.pipelines import Pipeline, kafka_sink, kafka_source, rule

pipeline = Pipeline(
    "{name}", kafka={{"bootstrap.servers": "{servers}"}}, dead_letters="{name}.dead", checkpoint="{directory}"
)
source = kafka_source("{name}", value_format="json", value_schema="a int")
pipeline.source(source).rules(rule("a is small", "a < {limit}"))
MORE = 100


@udf("int")
def more(a):
    return a + MORE


@pipeline.sink(kafka_sink("{name}.out"))
def rows({name}):
    return {name}.select(more("a").alias("a"))


pipeline.run()
"""


def test_the_query_in_a_python_file_runs_on_the_workers(case: Case) -> None:
    case.file = case.file.with_suffix(".py")
    case.declare(PROGRAM)
    case("run")
    assert case.out == list(range(100, 120))
