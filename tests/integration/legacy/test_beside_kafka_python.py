"""This package and the real kafka-python in one environment, as pip leaves it, and what the doctor says of it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import missing
from harness.cache import ROOT
from harness.pins import PinsError
from harness.wheels import own_wheel, released_wheel

KAFKA_PYTHON = "kafka-python==3.0.12"
HANDLER = "kafka-logging-handler==0.2.5"
"""It requires kafka-python, of any version."""


class Environment:
    """A Python that has what is installed here alone, and pip's work on it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
        self._python = folder / "bin" / "python"

    def pip(self, *arguments: str) -> str:
        """What pip says; without the package index."""
        if arguments[0] == "install":
            arguments = ("install", "--no-index", "--no-compile", *arguments[1:])
        command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(self._python)]
        done = subprocess.run([*command, *arguments], cwd=self.folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def follow(self, command: str) -> None:
        """Do what the doctor said, with this pip."""
        words = command.replace("'", "").split()
        assert words.pop(0) == "pip"
        self.pip(*words, *(["--yes"] if words[0] == "uninstall" else []))

    def doctor(self, *arguments: str) -> tuple[int, str]:
        """The exit status of `kafka doctor`, and what it prints; the command runs whatever `import kafka` gives."""
        command = [str(self.folder / "bin" / "kafka"), "doctor", *arguments]
        bare = {"PATH": os.environ["PATH"]}
        done = subprocess.run(command, cwd=self.folder, env=bare, capture_output=True, text=True, check=False)
        assert "Traceback" not in done.stdout + done.stderr
        return done.returncode, done.stdout

    def imported(self) -> str:
        """The package that ``import kafka`` gives, if that has the parts of one."""
        code = "import kafka, kafka.version; print(getattr(kafka.version, 'DISTRIBUTION_VERSION', 'theirs'))"
        done = subprocess.run([str(self._python), "-c", code], capture_output=True, text=True, check=False)
        return done.stdout.strip() or done.stderr.splitlines()[-1]


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return own_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def theirs() -> Path:
    return _released(KAFKA_PYTHON)


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    return Environment(tmp_path / "environment")


def _released(requirement: str) -> Path:
    try:
        return released_wheel(requirement)
    except PinsError as error:
        missing(str(error))
        raise


def _commands(said: str) -> list[str]:
    """The commands in the line that says what is wrong."""
    (line,) = [each for each in said.splitlines() if each.startswith("Wrong: ")]
    return re.findall(r"pip (?:un)?install [^;]*", line)


def test_kafka_python_over_ours_is_found_with_the_files_and_mended_as_the_doctor_says(
    environment: Environment, ours: Path, theirs: Path
) -> None:
    environment.pip("install", "--no-deps", str(ours))
    whole = environment.imported()
    environment.pip("install", "--no-deps", str(theirs))
    status, said = environment.doctor()
    assert status == 1
    assert "kafka-python is installed beside kafka-columnar" in said
    named = [line.strip() for line in said.splitlines() if line.startswith("    ")]
    assert {"kafka/__init__.py", "kafka/errors.py", "kafka/producer/kafka.py"} < set(named)
    assert f"it has written over {len(named)} files of kafka-columnar" in said
    uninstall, install = _commands(said)
    environment.follow(uninstall)
    status, said = environment.doctor()
    assert status == 1
    assert "kafka/__init__.py (missing)" in said
    assert _commands(said) == [install]
    environment.follow(install)
    status, said = environment.doctor()
    assert status == 0
    assert "Wrong" not in said
    assert environment.imported() == whole


def test_ours_over_kafka_python_is_found_and_mended_as_the_doctor_says(
    environment: Environment, ours: Path, theirs: Path
) -> None:
    environment.pip("install", "--no-deps", str(theirs))
    environment.pip("install", "--no-deps", str(ours))
    whole = environment.imported()
    assert whole != "theirs"
    status, said = environment.doctor()
    assert status == 1
    assert "which uninstalling kafka-python takes away" in said
    for command in _commands(said):
        environment.follow(command)
    assert environment.doctor()[0] == 0
    assert environment.imported() == whole


def test_a_stand_in_keeps_pip_from_installing_kafka_python(environment: Environment, ours: Path, theirs: Path) -> None:
    pins = (ROOT / "requirements" / "dev.txt").read_text().splitlines()
    required = ("backports.zstd", "click", "cramjam", "crc32c")
    needed = [_released(pin.partition(";")[0]) for pin in pins if pin.partition("==")[0] in required]
    handler, psutil = _released(HANDLER), _released("psutil==7.2.2")
    environment.pip("install", str(ours), *map(str, needed))
    links = [f"--find-links={wheel.parent}" for wheel in (theirs, handler, psutil)]
    would = environment.pip("install", "--dry-run", *links, "kafka-logging-handler")
    assert "kafka-python-3.0.12 " in would.partition("Would install")[2]
    environment.pip("install", "--no-deps", str(handler), str(psutil))
    status, said = environment.doctor()
    assert status == 0
    (note,) = [line for line in said.splitlines() if line.startswith("Note: ")]
    found = re.search(r"requires kafka-python\. .*: kafka doctor (--stand-in \S+); then (pip install \S+)", note)
    assert found is not None
    environment.doctor(*found[1].split())
    environment.follow(found[2])
    assert "Would install" not in environment.pip("install", "--dry-run", *links, "kafka-logging-handler")
    environment.pip("check")
    status, said = environment.doctor()
    assert status == 0
    assert "kafka-python 3.0.12+columnar stands in for it, and has no files" in said
