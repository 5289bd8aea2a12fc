"""Which interpreters `make test-pythons` finds, and what it says of those that it does not."""

from pathlib import Path

import pytest
from scripts import pythons

pytestmark = pytest.mark.once


def script(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for the interpreters of a machine that has none but those that a test puts there."""
    versions = tmp_path / "versions"
    versions.mkdir()
    script(tmp_path / "bin" / "pyenv", f"case $1 in versions) ls {versions};; *) echo {versions}/$2;; esac")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    return tmp_path


def test_the_newest_release_of_pyenv_that_runs_is_taken(machine):
    for release, says in (("3.12.1", "3.12"), ("3.12.9", "3.12"), ("3.12.10", ""), ("3.13.0", "3.13")):
        script(machine / "versions" / release / "bin" / "python", f"echo {says}")
    script(machine / "bin" / "python3.12", "echo 3.12")
    assert pythons.find_interpreter("3.12") == str(machine / "versions" / "3.12.9" / "bin" / "python")


def test_the_path_is_looked_at_where_pyenv_has_none(machine):
    script(machine / "bin" / "python3.12", "echo 3.12")
    script(machine / "bin" / "python3.13", "echo not this one >&2; exit 1")
    assert pythons.find_interpreter("3.12") == str(machine / "bin" / "python3.12")
    assert pythons.find_interpreter("3.13") is None


def test_a_free_threaded_python_is_taken_only_for_its_own_version(machine, monkeypatch):
    monkeypatch.setenv("KAFKA_COLUMNAR_CACHE", str(machine / "cache"))
    script(machine / "versions" / "3.14.7t" / "bin" / "python", "echo 3.14t")
    assert pythons.find_interpreter("3.14") is None
    assert pythons.find_interpreter("3.14t") == str(machine / "versions" / "3.14.7t" / "bin" / "python")
    (machine / "versions" / "3.14.7t" / "bin" / "python").unlink()
    kept = machine / "cache" / "python-3.14t" / "bin" / "python3.14t"
    script(kept, "echo 3.14t")
    assert pythons.find_interpreter("3.14t") == str(kept)


def test_what_cannot_be_run_is_named_with_the_reason_and_fails_only_where_it_is_demanded(machine, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["pythons", "--versions", "3.12", "3.14"])
    monkeypatch.setattr(pythons, "find_interpreter", lambda version: None)
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.delenv("CI", raising=False)
    assert pythons.main() == 0
    said = capsys.readouterr().out
    assert "Python 3.12: skipped: neither pyenv nor the PATH has python3.12" in said
    assert "Python 3.14: skipped: neither pyenv nor the PATH has it, and only root can set up Debian forky" in said
    monkeypatch.setenv("CI", "true")
    assert pythons.main() == 1
    assert "Python 3.12: MISSING: " in capsys.readouterr().out
