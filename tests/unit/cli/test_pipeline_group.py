"""The group ``kafka pipeline``: its commands, and the options that they share."""

import importlib
import json
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from kafka.cli import pipeline
from kafka.cli.commands import commands
from kafka.cli.pipeline import ORDER, pipeline_options

pytestmark = pytest.mark.once

VALID = """
pipeline: p
kafka: {bootstrap.servers: localhost:9092}
source: {topic: t, value: {format: json, schema: a int}}
sink: {topic: s}
"""


def run(*arguments: str) -> Any:
    """Run a command."""
    return CliRunner().invoke(commands, ["pipeline", *arguments])


def test_every_module_with_a_command_is_in_the_order() -> None:
    folder = Path(pipeline.__file__).parent
    modules = {
        path.stem: importlib.import_module(f"kafka.cli.pipeline.{path.stem}") for path in folder.glob("[!_]*.py")
    }
    found = {name for name, module in modules.items() if isinstance(getattr(module, "command", None), click.Command)}
    assert found <= set(ORDER)
    assert found == set(pipeline.command.list_commands(click.Context(pipeline.command)))
    assert {modules[name].command.name for name in found} == found


def test_the_help_has_a_line_for_each_command() -> None:
    text = run("--help").stdout
    assert "schema" in text
    assert run("nonsense").exit_code == 2


def test_the_schema_is_that_of_the_declaration(tmp_path: Path) -> None:
    from kafka.pipelines import json_schema
    from kafka.pipelines.testing import json_schema as tests_schema

    assert json.loads(run("schema").stdout) == json_schema()
    assert json.loads(run("schema", "--tests").stdout) == tests_schema()
    assert run("schema", "-o", str(tmp_path / "s.json")).stdout == ""
    assert json.loads((tmp_path / "s.json").read_text()) == json_schema()
    (tmp_path / "p.yaml").write_text("pipeline: p")
    assert run("schema", "-o", str(tmp_path / "p.yaml")).exit_code == 2
    assert (tmp_path / "p.yaml").read_text() == "pipeline: p"


@click.command()
@pipeline_options.with_pipeline
def probe(output: Any, declaration: Any, file: Any) -> None:
    """Print what a command gets."""
    output.data({"kafka": declaration.kafka, "registry": declaration.registry, "file": file.name})


def probed(file: Path, text: str, *options: str) -> Any:
    """Run a command with shared options on a declaration."""
    file.write_text(text, encoding="utf-8")
    return CliRunner().invoke(probe, [str(file), *options])


def test_servers_on_the_command_line_replace_those_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "p.yaml"
    given = json.loads(probed(file, VALID, "--json").stdout)
    assert given == {"kafka": {"bootstrap.servers": "localhost:9092"}, "registry": {}, "file": "p.yaml"}
    given = json.loads(probed(file, VALID, "-b", "a:1", "-b", "b:2", "--registry", "http://r").stdout)
    assert given["kafka"] == {"bootstrap.servers": "a:1,b:2"}
    assert given["registry"] == {"url": "http://r"}


def test_an_invalid_declaration_is_wrong_use_with_a_line_for_each_problem(tmp_path: Path) -> None:
    result = probed(tmp_path / "p.yaml", "pipeline: p\nsink: {topik: s}\n")
    assert result.exit_code == 2
    lines = result.stderr.splitlines()
    assert any("p.yaml:2: sink.topik: unknown key" in line for line in lines)
    assert any("kafka: this key is missing" in line for line in lines)


PROGRAM = """
from kafka.pipelines import Pipeline, kafka_sink, kafka_source

pipeline = Pipeline("p", kafka={"bootstrap.servers": "localhost:9092"})
pipeline.source(kafka_source("t", value_format="json", value_schema="a int"))


@pipeline.sink(kafka_sink("s"))
def rows(t):
    return t


pipeline.run()
"""


@click.command()
@pipeline_options.with_query
def query_probe(output: Any, declaration: Any, file: Any, function: Any) -> None:
    """Print what a command gets that evaluates the query."""
    output.data({"kafka": declaration.kafka, "function": getattr(function, "__name__", None)})


def test_a_command_reads_the_pipeline_in_a_python_file(tmp_path: Path) -> None:
    file = tmp_path / "p.py"
    given = json.loads(probed(file, PROGRAM, "--json", "-b", "a:1").stdout)
    assert given == {"kafka": {"bootstrap.servers": "a:1"}, "registry": {}, "file": "p.py"}
    found = json.loads(CliRunner().invoke(query_probe, [str(file), "--json"]).stdout)
    assert found == {"kafka": {"bootstrap.servers": "localhost:9092"}, "function": "rows"}
    (tmp_path / "p.yaml").write_text(VALID)
    assert json.loads(CliRunner().invoke(query_probe, [str(tmp_path / "p.yaml"), "--json"]).stdout)["function"] is None


def test_an_invalid_python_file_is_wrong_use(tmp_path: Path) -> None:
    result = probed(tmp_path / "p.py", "pipeline = None\n1 / 0\n")
    assert result.exit_code == 2
    assert "p.py:2: ZeroDivisionError: division by zero" in result.stderr
