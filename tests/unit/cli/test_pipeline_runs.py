"""``kafka pipeline run``, ``replay`` and ``backfill`` without Spark: arguments, signals, and what they print."""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import signal
import threading
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from kafka.cli.command_output import Output
from kafka.cli.commands import commands
from kafka.cli.failures import INTERRUPTED, TERMINATED
from kafka.cli.pipeline.backfill import command as backfill
from kafka.cli.pipeline.replay import command as replay
from kafka.cli.pipeline.run import _changes
from kafka.cli.pipeline.run_display import RunDisplay, offsets_text, ranges_text
from kafka.cli.pipeline.run_endings import StopSignals, failed_run
from kafka.cli.pipeline.slices_display import END, MomentType, SlicesCommand
from kafka.cli.pipeline.spark_session import MASTER, SessionChoice, _redirected
from kafka.errors import IllegalStateError, KafkaConnectionError
from kafka.pipelines import client_configs
from kafka.pipelines.bounded_runs import RunPlan
from kafka.pipelines.declaration import Declaration
from kafka.pipelines.events import Event, EventFile, SourceCounts, to_json
from kafka.pipelines.run import RunResult
from kafka.pipelines.yaml_file import load
from kafka.structs import TopicPartition

pytestmark = pytest.mark.once

FLIGHTS = TopicPartition("flights", 0)
TEXT = """
pipeline: delays
kafka: {bootstrap.servers: "127.0.0.1:1"}
source: {topic: flights, value: {format: json, schema: a int}}
rules:
  - {name: a is known, holds: a is not null}
  - {name: a is small, holds: a < 10, otherwise: drop}
sink: {topic: small}
dead_letters: {topic: flights.dead}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The file of a pipeline."""
    path = tmp_path / "delays.yaml"
    path.write_text(TEXT)
    return path


@pytest.fixture
def declaration(file: Path) -> Declaration:
    """The pipeline of the file."""
    return load(file)


def run(*arguments: str | Path) -> Any:
    """Run a command."""
    return CliRunner().invoke(commands, ["pipeline", *map(str, arguments)])


def batch(number: int, rows: int = 10, **rules: int) -> Event:
    """A micro-batch of which each rule rejects some rows."""
    names = {"known": "a is known", "small": "a is small"}
    failed = {names[name]: count for name, count in rules.items()}
    dead, dropped = rules.get("known", 0), rules.get("small", 0)
    counts = SourceCounts(rows, rows - dead - dropped, dropped, dead, failed, {"flights-0": (0, rows)}, lag=0)
    time = f"2026-11-28T00:00:{number:02}.000+00:00"
    out = rows - dead - dropped
    return Event("batch", time, "delays", run_id="a", batch=number, seconds=0.5, sources={"source": counts}, out=out)


@pytest.mark.parametrize("name", ["run", "replay", "backfill"])
def test_the_help_states_exit_statuses_and_defaults(name: str) -> None:
    text = run(name, "--help").output
    assert "Exit statuses:" in text
    assert "130" in text
    assert "143" in text
    assert MASTER in text


@pytest.mark.parametrize("name", ["run", "replay", "backfill"])
@pytest.mark.parametrize("wrong", ["--conf=spark.x", "--nonsense", "--bootstrap-servers"])
def test_wrong_options_end_with_2_before_spark_starts(name: str, wrong: str, file: Path) -> None:
    assert run(name, file, wrong).exit_code == 2


def test_an_unreachable_broker_ends_a_run_with_3_before_spark_starts(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_configs, "_PATIENCE", {"bootstrap_timeout_ms": 200})
    found = run("run", file)
    assert (found.exit_code, found.stdout) == (3, "")
    assert "127.0.0.1:1" in found.stderr
    assert found.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0:5-9", {0: (5, 9)}),
        ("3:0-", {3: (0, END)}),
    ],
)
def test_offsets_of_dead_letters(
    text: str, expected: dict[int, tuple[int, int]], file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = _given(monkeypatch, replay, "replay", [str(file), "--offsets", text])
    assert given["offsets"] == expected


@pytest.mark.parametrize("text", ["5-9", "0:9-5", "0:5-5", "x:1-2", "0:-5", "0:1", "flights-0:1-2", "0:1-2-3"])
def test_wrong_offsets_of_dead_letters(text: str, file: Path) -> None:
    found = run("replay", file, "--offsets", text)
    assert found.exit_code == 2
    assert text in found.stderr


def test_a_partition_has_one_range(file: Path) -> None:
    assert "twice" in run("replay", file, "--offsets", "0:1-2", "--offsets", "0:5-6").stderr
    assert "twice" in run("backfill", file, "--offsets", "t-0:1-2", "--offsets", "t-0:5-6").stderr


def test_offsets_of_sources(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["--offsets", "flights-0:5-9", "--offsets", "a-b-12:0-"]
    given = _given(monkeypatch, backfill, "backfill", [str(file), *texts, "--to", "other", "--since", "2h"])
    assert given["offsets"] == {FLIGHTS: (5, 9), TopicPartition("a-b", 12): (0, END)}
    assert given["to"] == "other"
    assert given["since"].tzinfo is not None


@pytest.mark.parametrize("text", ["flights:5-9", "-0:5-9", "flights-x:1-2", "flights-0"])
def test_wrong_offsets_of_sources(text: str, file: Path) -> None:
    found = run("backfill", file, "--offsets", text)
    assert found.exit_code == 2
    assert text in found.stderr


def _given(monkeypatch: pytest.MonkeyPatch, command: click.Command, name: str, arguments: list[str]) -> dict[str, Any]:
    """Return what a command passes to `kafka.pipelines`."""
    given: dict[str, Any] = {}

    def process(declaration: Declaration, spark: object, **more: Any) -> None:
        given.update(more)

    monkeypatch.setattr(f"kafka.pipelines.{name}.{name}", process)
    monkeypatch.setattr(SlicesCommand, "run", lambda self, choice, slice_offsets, process: process(None, {}))
    found = CliRunner().invoke(command, arguments)
    assert found.exit_code == 0, found.output
    return given


PROGRAM = """
from kafka.pipelines import Pipeline, kafka_sink, kafka_source

pipeline = Pipeline("p", kafka={"bootstrap.servers": "127.0.0.1:1"}, dead_letters="t.dead")
pipeline.source(kafka_source("t", value_format="json", value_schema="a int"))


@pipeline.sink(kafka_sink("s"))
def rows(t):
    return t
"""


@pytest.mark.parametrize(("command", "name"), [(replay, "replay"), (backfill, "backfill")])
def test_the_query_of_a_python_file_is_passed_on(
    command: click.Command, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "p.py"
    program.write_text(PROGRAM)
    assert _given(monkeypatch, command, name, [str(program)])["function"].__name__ == "rows"


def test_an_audit_evaluates_the_query_of_a_python_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "p.py"
    program.write_text(PROGRAM)
    given: dict[str, Any] = {}

    def audit_pipeline(declaration: Declaration, spark: object = None, **more: Any) -> Any:
        given.update(more)
        return types.SimpleNamespace(to_dict=dict, balances=True)

    monkeypatch.setattr("kafka.pipelines.audit.audit_pipeline", audit_pipeline)
    monkeypatch.setattr("kafka.pipelines.audit.check_topics", lambda *given: None)
    monkeypatch.setattr(SessionChoice, "session", lambda choice, name, log: contextlib.nullcontext())
    assert run("audit", program, "--json").exit_code == 0
    assert given["function"].__name__ == "rows"


@pytest.mark.parametrize(
    "text", ["2026-01-31T12:00:00+00:00", "2026-01-31T12:00:00Z", "@1769860800000", "2026-01-31T13:00+01:00"]
)
def test_moments(text: str) -> None:
    found = MomentType().convert(text, None, None)
    assert found == datetime.datetime(2026, 1, 31, 12, tzinfo=datetime.UTC)
    assert MomentType().convert(found, None, None) is found


@pytest.mark.parametrize("text", ["12", "earliest", "tomorrow", "", "@999999999999999999"])
def test_what_is_no_moment(text: str) -> None:
    with pytest.raises(click.BadParameter, match="expected a time"):
        MomentType().convert(text, None, None)


def test_an_unknown_rule_names_the_closest_one(file: Path, declaration: Declaration) -> None:
    found = run("replay", file, "--rule", "a is knwn")
    assert found.exit_code == 2
    assert "did you mean 'a is known'?" in found.stderr
    assert "the rules are 'decodes', 'a is known', 'a is small'" in run("replay", file, "--rule", "zzz").stderr


def test_a_rule_of_an_earlier_run_is_known(declaration: Declaration, tmp_path: Path) -> None:
    from kafka.pipelines.rule_names import check_rule

    events = EventFile(tmp_path / "checkpoints" / "delays" / "events", "1")
    counts = SourceCounts(1, 0, 0, 1, {"an old rule": 1})
    events.append(Event("batch", "2026-11-28T00:00:00.000+00:00", "delays", sources={"source": counts}))
    check_rule(declaration, "an old rule")


class Calls:
    """Records the calls of the functions that signals call, and waits for them."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._called = threading.Semaphore(0)

    def function(self, name: str) -> Callable[[], None]:
        """Return a function that records its call."""

        def call() -> None:
            self.names.append(name)
            self._called.release()

        return call

    def wait(self) -> None:
        """Wait for the next call."""
        assert self._called.acquire(timeout=60)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, INTERRUPTED), (signal.SIGTERM, TERMINATED)])
def test_the_first_signal_stops_and_the_second_interrupts(
    number: signal.Signals, status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    calls = Calls()
    before = signal.getsignal(number)
    ended: list[int] = []
    monkeypatch.setattr(os, "_exit", ended.append)
    with StopSignals(calls.function("stop too early")) as signals:
        signals.run_steps(calls.function("stop"), calls.function("abort"), "micro-batch")
        signals.end()  # nothing happened
        os.kill(os.getpid(), number)
        calls.wait()
        assert (calls.names, signals.status) == (["stop"], status)
        os.kill(os.getpid(), signal.SIGINT)
        calls.wait()
        assert (calls.names, signals.status, ended) == (["stop", "abort"], status, [])
        os.kill(os.getpid(), signal.SIGINT)
        assert ended == [status]
    assert signal.getsignal(number) is before
    with pytest.raises(click.exceptions.Exit) as raised:
        signals.end()
    assert raised.value.exit_code == status
    assert "after the current micro-batch" in capsys.readouterr().err


def test_a_signal_while_spark_starts_waits_for_the_start(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    calls = Calls()
    before = signal.getsignal(signal.SIGINT)
    with StopSignals(calls.function("stop the start")) as signals:
        signal.signal(signal.SIGINT, lambda *_: pytest.fail("the handler of PySpark"))
        signals.keep()
        os.kill(os.getpid(), signal.SIGTERM)
        calls.wait()
        signals.run_steps(calls.function("stop"), calls.function("abort"), "micro-batch")
        calls.wait()
        assert calls.names == ["stop the start", "stop"]
        os.kill(os.getpid(), signal.SIGINT)
        calls.wait()
        assert (calls.names[2:], signals.status) == (["abort"], TERMINATED)
    assert signal.getsignal(signal.SIGINT) is before
    assert "after the start of Spark" in capsys.readouterr().err
    ended: list[int] = []
    monkeypatch.setattr(os, "_exit", ended.append)
    with StopSignals(lambda: None):
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
    assert ended == [INTERRUPTED], "the second signal ends the process if there is nothing to interrupt"


def test_the_second_signal_may_raise() -> None:
    calls = Calls()
    with StopSignals(calls.function("stop too early")) as signals:
        signals.run_steps(calls.function("stop"), calls.function("abort"), "slice", raises=True)
        os.kill(os.getpid(), signal.SIGINT)
        calls.wait()
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
        calls.wait()
    assert calls.names == ["stop", "abort"]


def test_errors_of_runs_are_told_without_their_class() -> None:
    with pytest.raises(click.ClickException, match="another run") as raised, failed_run():
        raise IllegalStateError("another run")
    assert raised.value.exit_code == 1
    with pytest.raises(KafkaConnectionError), failed_run():
        raise KafkaConnectionError("no broker")


def test_the_summary_for_a_query_that_keeps_state_suggests_a_backfill(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(TEXT + "query: select count(*) as n from source\n")
    display = RunDisplay(Output(as_json=False), load(file), file)
    display.add(batch(0, 10, known=1))
    display.finish("delays: complete")
    assert f"once corrected  kafka pipeline backfill {file} --since TIME\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("a < 10", "a < 20", ["rules"]),
        ("a int", "a long", ["source.value"]),
        ("topic: small", "topic: tiny", ["sink"]),
        ("pipeline: delays", "pipeline: delays\ndescription: late flights", []),
        ("source: {", "max_bad: 0.5\nsource: {start: latest, ", ["max_bad", "source.start"]),
    ],
)
def test_a_run_names_the_keys_that_have_changed(old: str, new: str, expected: list[str], file: Path) -> None:
    before = load(file)
    events = EventFile(file.parent / "checkpoints" / "delays" / "events", "1")
    events.append(Event("start", "2026-11-28T00:00:00.000+00:00", "delays", declaration=before.shown()))
    assert _changes(before) == []
    file.write_text(TEXT.replace(old, new))
    assert _changes(load(file)) == expected


def test_the_summary_has_counts_rules_and_commands(
    declaration: Declaration, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    display = RunDisplay(Output(as_json=False), declaration, file)
    display.start("delays: starting", [("sink", "small")])
    display.add(batch(0, known=2, small=3))
    display.add(batch(1, known=1))
    display.finish("delays: complete", [("place", "here")])
    found = capsys.readouterr()
    assert [line.split(maxsplit=2) for line in found.out.splitlines()[1:6]] == [
        ["rows", "in", "20"],
        ["rows", "out", "14"],
        ["dead", "letters", "3 in flights.dead"],
        ["dropped", "rows", "3"],
        ["failed", "rules", "a is known  3  dead_letter"],
    ]
    assert f"look at them    kafka pipeline dead {file}\n" in found.out
    assert f"kafka pipeline replay {file}\n" in found.out, "two rules failed"
    assert found.err.startswith("delays: starting\n  sink  small\n")
    assert "batch 0, 10 rows" in found.err
    assert "batch 1, 10 rows" in found.err, "the last line is not held back"
    assert "total" not in found.err


def test_the_replay_command_names_the_only_rule(
    declaration: Declaration, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    display = RunDisplay(Output(as_json=False), declaration, file)
    display.add(batch(0, known=2))
    display.finish("end")
    assert f"kafka pipeline replay {file} --rule 'a is known'" in capsys.readouterr().out


def test_json_is_the_events_and_nothing_else(
    declaration: Declaration, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    display = RunDisplay(Output(as_json=True), declaration, file)
    display.start("delays: starting", [])
    display.add(batch(0, known=2))
    display.finish("delays: complete")
    found = capsys.readouterr()
    assert (found.out, found.err) == (to_json(batch(0, known=2)) + "\n", "")
    assert json.loads(found.out)["kind"] == "batch"


def test_metrics_contain_earlier_runs(declaration: Declaration, file: Path, tmp_path: Path) -> None:
    EventFile(tmp_path / "checkpoints" / "delays" / "events", "1").append(batch(0))
    metrics = tmp_path / "delays.prom"
    display = RunDisplay(Output(as_json=False), declaration, file, metrics)
    display.add(batch(1))
    assert 'kafka_pipeline_rows_total{pipeline="delays",run="stream",source="source"} 20' in metrics.read_text()
    assert [path.name for path in tmp_path.glob("*.prom*")] == ["delays.prom"]


def test_an_output_that_fails_stops_the_run(declaration: Declaration, file: Path, tmp_path: Path) -> None:
    calls = Calls()
    display = RunDisplay(Output(as_json=False), declaration, file, tmp_path / "missing" / "delays.prom")
    display.on_error = calls.function("stop")
    display.add(batch(0))
    display.add(batch(1))
    calls.wait()
    assert calls.names == ["stop"]
    with pytest.raises(FileNotFoundError):
        display.finish("end")


def test_long_lists_of_partitions_are_shortened() -> None:
    offsets = {TopicPartition("t", number): 1000 * number for number in range(11)}
    assert offsets_text(offsets).startswith("t-0: 0, t-1: 1,000, ")
    assert offsets_text(offsets).endswith("and 3 more")
    assert ranges_text({FLIGHTS: (0, 1000)}) == "flights-0: 0 to 999"


class Choice(SessionChoice):
    """A choice whose session does nothing."""

    def session(self, name: str, log: Path) -> Any:
        """See `SessionChoice.session`."""
        context = types.SimpleNamespace(cancelAllJobs=lambda: None)
        return contextlib.nullcontext(types.SimpleNamespace(sparkContext=context))


def test_an_interrupted_replay_names_the_command_that_continues_it(
    declaration: Declaration, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    since = "2026-01-31T12:00:00+00:00"
    selection = {"rule": "a is known", "offsets": f"0:5-{END},1:3-9", "since": since, "again": "true"}
    plan = RunPlan("replay", 3, selection, [{FLIGHTS: (0, 10)}, {FLIGHTS: (10, 20)}, {FLIGHTS: (20, 25)}], 1, letters=7)

    def process(spark: object, given: dict[str, Any]) -> RunResult:
        given["on_plan"](plan)
        given["on_event"](batch(1, known=1))
        os.kill(os.getpid(), signal.SIGTERM)
        assert given["stop"].wait(60)
        return RunResult((), None, is_complete=False)  # type: ignore[arg-type]

    with pytest.raises(click.exceptions.Exit) as raised:
        SlicesCommand(Output(as_json=False), declaration, file, "replay", "dead letters").run(
            Choice(None, {}), 10, process
        )
    assert raised.value.exit_code == TERMINATED
    found = capsys.readouterr()
    assert "replay 3 continues with slice 2 of 3" in found.err
    assert "7 dead letters in all slices together, in 2 slices" in found.err
    assert "flights-0: 10 to 24" in found.err
    assert "2 of 3 slices" in found.out
    words = f"--rule 'a is known' --offsets 0:5- --offsets 1:3-9 --since {since} --again"
    assert f"kafka pipeline replay {file} {words}" in found.out


def test_nothing_to_replay_is_no_error(
    declaration: Declaration, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = SlicesCommand(Output(as_json=False), declaration, file, "replay", "dead letters")
    command.run(Choice(None, {}), 10, lambda spark, given: RunResult((), None))  # type: ignore[arg-type]
    assert capsys.readouterr().err == "delays: nothing to replay\n"


def test_a_jvm_inherits_the_log_file_as_its_standard_error(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "made" / "spark.log"
    for _ in range(2):
        with _redirected(log):
            os.write(2, b"noise\n")
    os.write(2, b"error\n")
    assert log.read_text() == "noise\nnoise\n"
    assert capfd.readouterr().err == "error\n"


@pytest.mark.parametrize(
    ("choice", "environment", "master"),
    [
        (SessionChoice(None, {}), {}, MASTER),
        (SessionChoice("local[2]", {}), {"PYSPARK_GATEWAY_PORT": "1"}, "local[2]"),
        (SessionChoice(None, {}), {"PYSPARK_GATEWAY_PORT": "1"}, None),
        (SessionChoice(None, {}), {"SPARK_REMOTE": "sc://localhost"}, None),
        (SessionChoice(None, {"spark.master": "spark://host"}), {}, None),
    ],
)
def test_the_master(
    choice: SessionChoice, environment: dict[str, str], master: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PYSPARK_GATEWAY_PORT", "SPARK_REMOTE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert choice._master() == master
