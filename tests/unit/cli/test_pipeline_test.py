"""``kafka pipeline test`` and ``kafka pipeline init``: arguments, output and exit statuses, without Spark."""

import contextlib
import json
import os
import signal
import threading
import types
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
from click.testing import CliRunner

import kafka.cli.pipeline.test as command_module
from kafka.cli.commands import commands
from kafka.cli.pipeline.spark_session import SessionChoice
from kafka.pipelines.testing import Case, CaseResult
from kafka.pipelines.testing.case_progress import CaseProgress, CaseStoppedError
from kafka.pipelines.testing.embedded_run import Observed

if TYPE_CHECKING:
    from kafka.pipelines.run import RunningPipeline

pytestmark = pytest.mark.once


def run(*arguments: object) -> Any:
    """Run a command."""
    return CliRunner().invoke(commands, ["pipeline", *map(str, arguments)])


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The directory of a new project."""
    directory = tmp_path / "project"
    assert run("init", directory).exit_code == 0
    return directory


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the cases that were run. Cases with "dropped" in their name fail."""
    names: list[str] = []

    def run_cases(
        declaration: Any, cases: Sequence[Case], spark: None, progress: CaseProgress, **_: Any
    ) -> Iterator[CaseResult]:
        for case in [
            each.model_copy(update={"rows": {}}) for each in cases
        ]:  # `check_names` returns other objects, too
            names.append(case.name)
            progress.begin(case, "writing 3 rows")
            progress.begin(case, "running the pipeline")
            yield CaseResult(case, ("- 1", "+ 2\x1b[31m") if "dropped" in case.name else (), 0.5, Observed())

    monkeypatch.setattr(SessionChoice, "session", lambda choice, name, log: contextlib.nullcontext())
    monkeypatch.setattr("kafka.pipelines.testing.suite.run_cases", run_cases)
    monkeypatch.delattr("kafka.pipelines.testing.run_cases", raising=False)
    return names


def test_init_writes_a_project_once(tmp_path: Path) -> None:
    result = run("init", tmp_path / "a", "--json")
    assert len(json.loads(result.stdout)["files"]) == 5
    again = run("init", tmp_path / "a")
    assert again.exit_code == 2
    assert again.stderr.startswith("Error: these files exist already: ")
    text = run("init", tmp_path / "b", "-b", "one:1", "-b", "two:2").stdout
    assert "kafka pipeline test flights.yaml" in text
    assert '"one:1,two:2"' in (tmp_path / "b" / "flights.yaml").read_text()


def test_every_case_is_run_and_shown(project: Path, ran: list[str]) -> None:
    result = run("test", project / "flights.yaml")
    assert (result.exit_code, len(ran)) == (1, 3)
    assert result.stdout.splitlines() == [
        "ok: late flights go to the sink (0.5 s)",
        "ok: broken and implausible flights become dead letters (0.5 s)",
        "FAILED: flights from other airports are dropped (0.5 s)",
        "    - 1",
        "    + 2\\x1b[31m",
        "2 passed, 1 failed",
    ]


@pytest.mark.parametrize("as_json", [False, True])
def test_a_log_gets_a_line_for_each_case_before_it_runs(as_json: bool, project: Path, ran: list[str]) -> None:
    result = run("test", project / "flights.yaml", *(["--json"] if as_json else []))
    assert result.stderr.splitlines() == [
        "flight-delays: starting Spark for 3 cases",
        "case 1 of 3: late flights go to the sink",
        "case 2 of 3: broken and implausible flights become dead letters",
        "case 3 of 3: flights from other airports are dropped",
    ]


def test_a_terminal_shows_each_step_in_a_line_that_the_result_replaces(
    project: Path, ran: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr(command_module, "sys", types.SimpleNamespace(stderr=types.SimpleNamespace(isatty=lambda: True)))
    result = run("test", project / "flights.yaml", "-k", "late")
    assert result.stderr.split("\r") == [
        "",
        "flight-delays: starting Spark for 1 case\x1b[K",
        "case 1 of 1: late flights go to the sink: writing 3 rows\x1b[K",
        "case 1 of 1: late flights go to the sink: running the pipel\x1b[K",
        "\x1b[K",
    ]
    assert result.stdout.startswith("ok: late flights go to the sink")


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_stops_the_current_case_and_its_status_is_that_of_the_command(
    number: signal.Signals, status: int, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a traceback, although the interrupted case has no result."""
    interrupted = threading.Event()

    def stop(now: bool) -> None:
        if now:
            interrupted.set()

    def run_cases(
        declaration: Any, cases: Sequence[Case], spark: None, progress: CaseProgress, **_: Any
    ) -> Iterator[CaseResult]:
        yield CaseResult(cases[0], (), 0.5, Observed())
        progress.begin(cases[1], "running the pipeline")
        progress.watch(cast("RunningPipeline", types.SimpleNamespace(stop=stop)))
        os.kill(os.getpid(), number)
        assert interrupted.wait(30)
        with pytest.raises(CaseStoppedError):
            progress.begin(cases[1], "reading")

    monkeypatch.setattr(SessionChoice, "session", lambda choice, name, log: contextlib.nullcontext())
    monkeypatch.setattr("kafka.pipelines.testing.suite.run_cases", run_cases)
    monkeypatch.delattr("kafka.pipelines.testing.run_cases", raising=False)
    result = run("test", project / "flights.yaml")
    assert result.exit_code == status
    assert result.stdout.splitlines() == ["ok: late flights go to the sink (0.5 s)"]
    assert result.stderr.splitlines()[-2:] == [
        "stopping after the current step; press Ctrl-C again to interrupt it",
        "flight-delays: stopped; 1 of 3 cases have run",
    ]


def test_a_pipeline_that_starts_after_the_stop_is_interrupted_at_once() -> None:
    stopped: list[bool] = []
    progress = CaseProgress()
    progress.stop()
    progress.watch(cast("RunningPipeline", types.SimpleNamespace(stop=lambda now: stopped.append(now))))
    assert stopped == [True]


def test_cases_are_chosen_by_name(project: Path, ran: list[str]) -> None:
    result = run("test", project / "flights.yaml", "-k", "late", "--json")
    assert result.exit_code == 0
    assert ran == ["late flights go to the sink"]
    found = json.loads(result.stdout)
    assert found["ok"] is True
    assert found["cases"][0]["case"] == ran[0]
    assert run("test", project / "flights.yaml", "-k", "nonsense").exit_code == 2


def test_invalid_files_are_wrong_use(project: Path, ran: list[str]) -> None:
    tests = project / "flights.test.yaml"
    missing = run("test", project / "flights.yaml", project / "other.yaml")
    assert missing.exit_code == 2
    tests.write_text(tests.read_text().replace("dropped: 1", "droped: 1"))
    result = run("test", project / "flights.yaml")
    assert result.exit_code == 2
    assert "flights.test.yaml:29: cases[2].droped: unknown key; did you mean 'dropped'?" in result.stderr
    tests.unlink()
    result = run("test", project / "flights.yaml")
    assert result.exit_code == 2
    assert "there is no test file" in result.stderr
    assert ran == []


PROGRAM = """
from kafka.pipelines import Pipeline, kafka_sink, kafka_source

pipeline = Pipeline("p", kafka={"bootstrap.servers": "localhost:9092"})
pipeline.source(kafka_source("t", value_format="json", value_schema="a int"))


@pipeline.sink(kafka_sink("s"))
def rows(t):
    return t
"""


def test_the_cases_of_a_python_file_are_in_a_yaml_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    functions: list[Any] = []

    def run_cases(declaration: Any, cases: Sequence[Case], spark: None, **given: Any) -> Iterator[CaseResult]:
        functions.append(given["function"].__name__)
        for case in cases:
            yield CaseResult(case, (), 0.5, Observed())

    monkeypatch.setattr(SessionChoice, "session", lambda choice, name, log: contextlib.nullcontext())
    monkeypatch.setattr("kafka.pipelines.testing.suite.run_cases", run_cases)
    monkeypatch.delattr("kafka.pipelines.testing.run_cases", raising=False)
    (tmp_path / "p.py").write_text(PROGRAM)
    assert "there is no test file" in run("test", tmp_path / "p.py").stderr
    (tmp_path / "p.test.yaml").write_text("cases:\n  - {name: one, rows: [{a: 1}], expect: [{a: 1}]}\n")
    result = run("test", tmp_path / "p.py")
    assert (result.exit_code, functions) == (0, ["rows"]), result.output
