"""Pipelines in Python files, which commands read without running them."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

import pytest

from kafka.pipelines import InvalidDeclaration
from kafka.pipelines.pipeline_files import load_file, load_program

pytestmark = pytest.mark.once

YAML = """
pipeline: p
kafka: {bootstrap.servers: "localhost:9092"}
source: {topic: t, value: {format: json, schema: a int}}
query: select a from source
sink: {topic: s}
"""
PROGRAM = """
from kafka.pipelines import Pipeline, kafka_sink, kafka_source

pipeline = Pipeline("p", kafka={"bootstrap.servers": "localhost:9092"})
pipeline.source(kafka_source("t", value_format="json", value_schema="a int"))
pipeline.sink(kafka_sink("s"), "select a from t")
"""
FUNCTION = """
from __future__ import annotations

import dataclasses

from kafka.pipelines import Pipeline, kafka_sink, kafka_source


@dataclasses.dataclass
class Limit:
    least: int


pipeline = Pipeline("p", kafka={"bootstrap.servers": "localhost:9092"})
pipeline.source(kafka_source("t", value_format="json", value_schema="a int"))


@pipeline.sink(kafka_sink("s"))
def rows(t):
    return t.where(t.a > Limit(1).least)
"""


@pytest.fixture(autouse=True)
def search_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the directories of the programs out of the path of later tests."""
    monkeypatch.setattr(sys, "path", list(sys.path))


def written(directory: Path, text: str, name: str = "program.py") -> Path:
    """Write a file, and return its path."""
    path = directory / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_that_does_not_end_with_py_contains_yaml(tmp_path: Path) -> None:
    loaded = load_file(written(tmp_path, YAML, "p.yaml"))
    assert (loaded.declaration.pipeline, loaded.declaration.query, loaded.function) == (
        "p",
        "select a from source",
        None,
    )


def test_a_program_is_read_without_its_main_part(tmp_path: Path) -> None:
    main = 'if __name__ == "__main__":\n    raise AssertionError("this must not run")\n'
    loaded = load_file(written(tmp_path, PROGRAM + main))
    assert list(loaded.declaration.all_sources) == ["t"]
    assert (loaded.declaration.query, loaded.function) == ("select a from t", None)


@pytest.mark.parametrize("call", ["run()", "start()", "replay()", "backfill()"])
def test_a_program_is_executed_until_it_runs_its_pipeline(call: str, tmp_path: Path) -> None:
    rest = f"\ntry:\n    pipeline.{call}\nexcept Exception:\n    pass\nraise AssertionError('this must not run')\n"
    assert load_file(written(tmp_path, PROGRAM + rest)).declaration.pipeline == "p"


def test_the_pipeline_that_a_function_returns_is_found_where_it_runs(tmp_path: Path) -> None:
    indented = PROGRAM.replace("\n", "\n    ")
    text = f"def made():\n    {indented}\n    return pipeline\n\n\nprint(made().run().out)\nmissing\n"
    assert load_file(written(tmp_path, text)).declaration.pipeline == "p"


def test_functions_of_a_program_are_not_importable_so_that_spark_sends_them_by_value(tmp_path: Path) -> None:
    loaded = load_file(written(tmp_path, FUNCTION))
    function = loaded.function
    assert function is not None
    assert (function.__name__, function.__module__) == ("rows", "program")
    assert "program" not in sys.modules
    assert function.__globals__["Limit"](3).least == 3
    with pytest.raises((pickle.PicklingError, ModuleNotFoundError)):
        pickle.dumps(function)


def test_a_program_imports_modules_next_to_it_like_a_program_that_is_started(tmp_path: Path) -> None:
    written(tmp_path, 'TOPIC = "beside"\n', "names_beside_it.py")
    text = "from names_beside_it import TOPIC\n" + PROGRAM.replace('kafka_sink("s")', "kafka_sink(TOPIC)")
    assert load_file(written(tmp_path, text)).declaration.sink_name == "beside"
    assert sys.modules.pop("names_beside_it").TOPIC == "beside"


def test_a_program_with_the_name_of_a_module_does_not_replace_it(tmp_path: Path) -> None:
    before = sys.modules["json"]
    assert load_program(written(tmp_path, PROGRAM, "json.py")).declaration.pipeline == "p"
    assert sys.modules["json"] is before


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 1\n", ": expected a variable that contains the Pipeline, got none"),
        (
            PROGRAM + "other = Pipeline('q', kafka={})\n",
            ": expected a variable that contains the Pipeline, got several: pipeline, other; declare one pipeline",
        ),
        ("x = (\n", ":1: not Python: '(' was never closed"),
        (PROGRAM + "1 / 0\n", ":7: ZeroDivisionError: division by zero"),
        ("import sys\nsys.exit(3)\n", ":2: SystemExit: 3"),
        (
            PROGRAM + "pipeline.source(kafka_source('t'))\n",
            ":7: source 't': there is one of this name; pass another name",
        ),
        (
            PROGRAM.replace('pipeline.sink(kafka_sink("s"), "select a from t")', ""),
            ": pipeline 'p': it has no sink; call sink()",
        ),
    ],
)
def test_problems_name_the_file_and_the_line(text: str, expected: str, tmp_path: Path) -> None:
    path = written(tmp_path, text)
    with pytest.raises(InvalidDeclaration) as caught:
        load_file(path)
    assert str(caught.value).startswith(f"{path}{expected}")


def test_another_name_of_the_same_pipeline_is_not_another_pipeline(tmp_path: Path) -> None:
    assert load_file(written(tmp_path, PROGRAM + "alias = pipeline\n")).declaration.pipeline == "p"


def test_a_pipeline_still_runs_after_a_file_was_read(tmp_path: Path) -> None:
    pipeline = load_program(written(tmp_path, PROGRAM + "pipeline.run()\n"))
    with pytest.raises(InvalidDeclaration, match="no dead_letters"):
        pipeline.replay()


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InvalidDeclaration, match="cannot be read"):
        load_file(tmp_path / "missing.py")
