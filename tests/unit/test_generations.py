"""The programs of `examples/generations` are complete, and the harness runs and compares them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from scripts import generations as script

from harness.generations import FOLDER, GENERATIONS, Program, ProgramError, programs, read_program, run_program

pytestmark = pytest.mark.once

ALL = programs()
OLDEST = GENERATIONS[0]
TEXT = '''"""A probe: what the harness reads of it.

More about it.

Topics: a=3, b
Brokers: {brokers}
Differs: one thing
    and another
"""
import sys
'''


@pytest.fixture
def made(tmp_path: Path) -> Program:
    """A program that prints its arguments' kinds."""
    return make(tmp_path, "print(sys.argv[1], sys.argv[2] + '-topic')")


def make(folder: Path, code: str, brokers: str = "0.9.0.1") -> Program:
    path = folder / "probe.py"
    path.write_text(TEXT.format(brokers=brokers) + code)
    return read_program(OLDEST, path)


def test_a_docstring_says_what_a_program_needs(made: Program) -> None:
    assert made.name == "0.9/probe"
    assert made.kind == "A probe: what the harness reads of it."
    assert made.topics == {"a": 3, "b": 1}
    assert (made.brokers, made.apache_only, made.differs) == (("0.9.0.1",), "", "one thing and another")


def test_a_program_names_brokers_of_its_generation(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"not among \('0.9.0.1',\)"):
        make(tmp_path, "", "0.8.0")
    (tmp_path / "silent.py").write_text("import sys")
    with pytest.raises(ValueError, match="docstring"):
        read_program(OLDEST, tmp_path / "silent.py")


def test_the_prefix_does_not_show_in_what_is_compared(made: Program) -> None:
    assert run_program(made, sys.executable, "localhost:1", "probe-7") == "localhost:1 PREFIX-topic\n"


@pytest.mark.slow
def test_a_program_that_fails_or_does_not_end_says_what_it_printed(tmp_path: Path) -> None:
    failing = make(tmp_path, "print('so far'); sys.exit('enough')")
    with pytest.raises(ProgramError, match=r"(?s)0\.9/probe ended with 1\nso far\n.*enough"):
        run_program(failing, sys.executable, "", "unseen")
    endless = make(tmp_path, "print('so far', flush=True)\nwhile True: pass")
    with pytest.raises(ProgramError, match=r"(?s)did not end within 0\.5 s\nso far"):
        run_program(endless, sys.executable, "", "unseen", time_limit_s=0.5)


def test_what_is_recorded_is_compared(made: Program, tmp_path: Path) -> None:
    assert "probe.expected is missing" in made.comparison("a\n", ours=False)
    made.record("a\nb\n", ours=False)
    made.record("a\nc\n", ours=True)
    assert made.comparison("a\nb\n", ours=False) == made.comparison("a\nc\n", ours=True) == ""
    assert made.comparison("a\nb\n", ours=True).splitlines()[-2:] == ["-c", "+b"]
    (tmp_path / "probe.py").write_text('"""The same."""')
    same = read_program(OLDEST, tmp_path / "probe.py")
    same.record("something else", ours=True)
    assert same.ours_file.read_text() == "a\nc\n"
    assert same.comparison("a\nb\n", ours=True) == ""


@pytest.mark.parametrize("program", ALL, ids=lambda program: program.name)
def test_a_program_has_what_it_is_compared_with(program: Program) -> None:
    expected = program.expected_file.read_text()
    assert expected
    assert program.ours_file.exists() == bool(program.differs)
    if program.differs:
        assert program.ours_file.read_text() != expected


def test_every_file_belongs_to_a_program() -> None:
    stems = {program.path.with_suffix("") for program in ALL}
    files = [path for path in FOLDER.glob("*/*") if path.suffix in (".expected", ".ours")]
    assert [path for path in files if path.with_suffix("") not in stems] == []


def test_the_table_is_as_the_tool_writes_it() -> None:
    assert script.TABLE.read_text() == script.table(ALL)


def test_what_cannot_be_run_is_skipped_by_name(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(script, "find_interpreter", lambda version, needs: None)
    runner = script.Runner(record=False, jobs=1)
    script.run_originals(runner, OLDEST, [], None, "0.9.0.1")
    assert "kafka-python 0.9.5: skipped: neither pyenv nor the PATH has python2.7" in capsys.readouterr().out
    assert runner.skipped == ["kafka-python 0.9.5"]
