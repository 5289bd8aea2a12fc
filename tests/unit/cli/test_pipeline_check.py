"""``kafka pipeline check``: its output and exit statuses."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from kafka.cli.commands import commands

pytestmark = pytest.mark.once

GOOD = """
pipeline: p
kafka: {bootstrap.servers: "localhost:9092"}
source: {topic: in, value: {format: json, schema: a int}}
sink: {topic: out, key: a}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A declaration without problems."""
    path = tmp_path / "p.yaml"
    path.write_text(GOOD)
    return path


def run(file: Path, *options: str) -> Any:
    """Run the command without servers."""
    return CliRunner().invoke(commands, ["pipeline", "check", str(file), "--offline", *options])


def test_no_problem(file: Path) -> None:
    result = run(file)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == "ok: 2 checks found no problem\n"
    lines = run(file, "-v").stdout.splitlines()
    assert lines[:2] == [
        f"{file}:4: source.value.schema: ok: schema of values: given as an option",
        f"{file}:5: sink.key: ok: the query returns the column 'a'",
    ]


@pytest.mark.parametrize(
    ("wrong", "meant"), [("p.yml", "p.yaml"), ("pp.yaml", "p.yaml"), ("deep.yaml", "below/deep.py")]
)
def test_a_missing_file_suggests_files_nearby(file: Path, wrong: str, meant: str) -> None:
    (file.parent / "below").mkdir()
    (file.parent / "below" / "deep.py").touch()
    result = run(file.parent / wrong)
    assert result.exit_code == 2
    assert f"{str(file.parent / wrong)!r} does not exist; did you mean {str(file.parent / meant)!r}?" in result.stderr


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    result = run(tmp_path / "nowhere" / "p.yaml")
    assert result.exit_code == 2
    assert f"does not exist: there is no folder {str(tmp_path / 'nowhere')!r}." in result.stderr


@pytest.mark.parametrize("name", ["p.yaml", f"{'p' * 300}.yaml"], ids=["short", "too long for a file"])
def test_without_files_nearby_nothing_is_suggested(tmp_path: Path, name: str) -> None:
    result = run(tmp_path / name)
    assert result.exit_code == 2
    assert result.stderr.rstrip().endswith("does not exist.")


def test_a_folder_whose_name_is_too_long_does_not_exist(tmp_path: Path) -> None:
    result = run(tmp_path / ("p" * 300) / "p.yaml")
    assert result.exit_code == 2
    assert result.stderr.rstrip().endswith("'.")


def test_problems_and_their_exit_status(file: Path) -> None:
    file.write_text(GOOD.replace("key: a", "key: b"))
    result = run(file)
    assert result.exit_code == 1
    assert result.stdout == (f"{file}:5: sink.key: the query returns no column 'b'; the query returns a\n1 error\n")


def test_warnings_fail_only_a_strict_check(file: Path) -> None:
    file.write_text(GOOD + "query: select a, count(*) from source group by a\n")
    result = run(file)
    assert (result.exit_code, result.stdout.splitlines()[-1]) == (0, "1 warning")
    assert run(file, "--strict").exit_code == 1


def test_json(file: Path) -> None:
    found = json.loads(run(file, "--json", "-v").stdout)
    assert found["ok"] is True
    assert found["problems"] == []
    assert found["passed"][0]["key"] == "source.value.schema"
    file.write_text(GOOD.replace("pipeline: p", "pipeline: 5"))
    result = run(file, "--json")
    assert result.exit_code == 1
    (problem,) = json.loads(result.stdout)["problems"]
    del problem["text"]
    assert problem == {"severity": "error", "file": str(file), "line": 2, "key": "pipeline"}


def test_wrong_use(tmp_path: Path) -> None:
    assert run(tmp_path / "missing.yaml").exit_code == 2
    assert run(tmp_path).exit_code == 2


def test_servers_can_be_named_on_the_command_line(file: Path, unused_tcp_port: int) -> None:
    address = f"127.0.0.1:{unused_tcp_port}"
    result = CliRunner().invoke(commands, ["pipeline", "check", str(file), "-b", address, "--timeout", "0.5"])
    assert result.exit_code == 1
    assert f"{file}:3: kafka.bootstrap.servers: the brokers " in result.stdout
    assert "Traceback" not in result.output
    file.write_text(GOOD.replace('{bootstrap.servers: "localhost:9092"}', "text"))
    result = CliRunner().invoke(commands, ["pipeline", "check", str(file), "-b", address, "--offline"])
    assert f"{file}:3: kafka: expected " in result.stdout


PROGRAM = """
from kafka.pipelines import Pipeline, kafka_sink, kafka_source, rule

pipeline = Pipeline("p", kafka={"bootstrap.servers": "localhost:9092"}, dead_letters="in.dead")
source = kafka_source("t", value_format="json", value_schema="a int")
pipeline.source(source).rules(rule("small", "b < 5"))
pipeline.sink(kafka_sink("out", key="a"), "select a from t")
pipeline.run()
"""


def test_a_python_file_is_checked_without_running_it(tmp_path: Path) -> None:
    path = tmp_path / "p.py"
    path.write_text(PROGRAM)
    result = run(path)
    assert result.exit_code == 1
    assert (
        result.stdout
        == f"{path}: sources.t.rules[0].holds: there is no column 'b'; the columns are a, kafka\n1 error\n"
    )
    path.write_text(PROGRAM.replace("b <", "a <"))
    assert run(path).exit_code == 0
    path.write_text("1 / 0\n")
    result = run(path)
    assert (result.exit_code, result.stdout) == (1, f"{path}:1: ZeroDivisionError: division by zero\n1 error\n")
