"""The programs of `examples/generations`: what each needs, how it is run, and whether it prints what it printed once.

A program belongs to a generation of kafka-python and is the same text for the Python of then and for today's. It takes
a server and a prefix for the names of its topics and groups, prints what it saw, and ends with 0. Beside it stands what
the original printed (`.expected`), and where a difference stays, what this package prints (`.ours`).

The docstring begins with what kind of program it is. Lines of it tell the harness more:

    Topics: a=3, b      topics to make before, as PREFIX-a with three partitions and PREFIX-b with one
    Brokers: 1.1.1      of the generation's brokers, those that have what the program shows
    Apache only: ...    why the embedded broker cannot run it
    Embedded only: ...  why today's Apache Kafka cannot run it
    Differs: ...        why what this package prints is not what the original printed
"""

from __future__ import annotations

import ast
import difflib
import itertools
import os
import re
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from harness.cache import ROOT

FOLDER = ROOT / "examples" / "generations"
TIME_LIMIT_S = 60.0
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Generation:
    """A release of kafka-python, and what it ran on.

    Attributes:
        name: the folder of its programs.
        packages: what is installed for it: the release, and the libraries that its codecs take.
        python: the version of the interpreter.
        brokers: releases of Apache Kafka.
    """

    name: str
    packages: tuple[str, ...]
    python: str
    brokers: tuple[str, ...]

    @property
    def release(self) -> str:
        """The release of kafka-python."""
        return self.packages[0].partition("==")[2]


GENERATIONS = (
    Generation("0.9", ("kafka-python==0.9.5", "six==1.16.0", "python-snappy==0.6.0"), "2.7", ("0.9.0.1",)),
    Generation("1.0", ("kafka-python==1.0.2", "six==1.16.0", "python-snappy==0.6.0"), "2.7", ("0.9.0.1",)),
    Generation("1.4", ("kafka-python==1.4.7",), "3.6", ("0.10.2.2", "1.1.1")),
    Generation("2.0", ("kafka-python==2.0.2",), "3.8", ("2.8.2",)),
    Generation("2.3", ("kafka-python==2.3.3",), "3.11", ("4.3.1",)),
    Generation("3.0", ("kafka-python==3.0.12",), "3.11", ("4.3.1",)),
)


@dataclass(frozen=True)
class Program:
    """A program of a generation, and what its docstring says."""

    generation: Generation
    path: Path
    kind: str
    topics: Mapping[str, int]
    brokers: tuple[str, ...]
    apache_only: str
    embedded_only: str
    differs: str

    @property
    def name(self) -> str:
        """As the harness calls it: `0.9/keyed_producer`."""
        return f"{self.generation.name}/{self.path.stem}"

    @property
    def expected_file(self) -> Path:
        """What the original printed."""
        return self.path.with_suffix(".expected")

    @property
    def ours_file(self) -> Path:
        """What this package prints, where a difference stays."""
        return self.path.with_suffix(".ours")

    def record(self, printed: str, *, ours: bool) -> None:
        """Keep what was printed: of ours only where the program says that it differs."""
        if not ours:
            self.expected_file.write_text(printed, encoding="utf-8")
        elif self.differs:
            self.ours_file.write_text(printed, encoding="utf-8")

    def comparison(self, printed: str, *, ours: bool) -> str:
        """What was printed against what should be: nothing if they agree, else the lines that differ."""
        file = self.ours_file if ours and self.differs else self.expected_file
        wanted = file.read_text(encoding="utf-8") if file.exists() else f"({file.name} is missing)\n"
        lines = difflib.unified_diff(wanted.splitlines(), printed.splitlines(), file.name, "printed", lineterm="")
        return "\n".join(lines)


class ServingBroker(Protocol):
    """What programs run on."""

    @property
    def bootstrap_servers(self) -> str:
        """`host:port`."""

    def create_topic(self, name: str, partitions: int = 1) -> None:
        """Create a topic and return when its partitions are served."""


class ProgramError(RuntimeError):
    """A program failed, or did not end in time."""


def programs(generation_names: Sequence[str] = (), names: Sequence[str] = ()) -> list[Program]:
    """The programs of these generations (all if none is named) with these names, with or without their generation."""
    found = [
        read_program(generation, path)
        for generation in GENERATIONS
        if generation.name in generation_names or not generation_names
        for path in sorted((FOLDER / generation.name).glob("*.py"))
    ]
    return [each for each in found if not names or each.name in names or each.path.stem in names]


def read_program(generation: Generation, path: Path) -> Program:
    """Read a program's docstring.

    Raises:
        ValueError: it has none, or names a broker that is not one of the generation's.
    """
    said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"), str(path)))
    if not said:
        raise ValueError(f"{path}: a docstring must say what kind of program it is")
    facts = dict.fromkeys(("Topics", "Brokers", "Apache only", "Embedded only", "Differs"), "")
    current = ""
    for line in said.splitlines():
        name, colon, rest = line.partition(":")
        if colon and name in facts:
            current, line = name, rest
        elif not line.strip():
            current = ""
        if current:
            facts[current] = f"{facts[current]} {line.strip()}".strip()
    brokers = tuple(re.findall(r"[\d.]+", facts["Brokers"])) or generation.brokers
    if not set(brokers) <= set(generation.brokers):
        raise ValueError(f"{path}: brokers {brokers} are not among {generation.brokers}")
    topics = {name: int(size or 1) for name, size in re.findall(r"(\w+)(?:=(\d+))?", facts["Topics"])}
    kind = " ".join(said.partition("\n\n")[0].split())
    return Program(
        generation, path, kind, topics, brokers, facts["Apache only"], facts["Embedded only"], facts["Differs"]
    )


def run_on(program: Program, python: str, broker: ServingBroker, variables: Mapping[str, str] | None = None) -> str:
    """Make the topics of a program, with names that no other run has, and run it; as `run_program` else."""
    prefix = f"{program.path.stem.replace('_', '-')}-{os.getpid()}-{next(_numbers)}"
    for name, partitions in program.topics.items():
        broker.create_topic(f"{prefix}-{name}", partitions)
    return run_program(program, python, broker.bootstrap_servers, prefix, variables)


def run_program(
    program: Program,
    python: str,
    servers: str,
    prefix: str,
    variables: Mapping[str, str] | None = None,
    time_limit_s: float = TIME_LIMIT_S,
) -> str:
    """Run a program and give what it printed, with `PREFIX` in the place of the prefix.

    Arguments:
        python: the interpreter.
        variables: of the environment, beside those that have nothing to do with Python.

    Raises:
        ProgramError: it did not end with 0, or not in time; the text has what it wrote to its two outputs.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    settings = {"PYTHONIOENCODING": "utf-8", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1"}
    child = subprocess.Popen(
        [python, str(program.path), servers, prefix],
        env={**kept, **settings, **(variables or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        out, error = child.communicate(timeout=time_limit_s)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        out, error = child.communicate()
        ended = f"did not end within {time_limit_s:g} s"
    else:
        ended = f"ended with {child.returncode}" if child.returncode else ""
    printed = out.decode("utf-8", "replace").replace(prefix, "PREFIX")
    if ended:
        raise ProgramError(f"{program.name} {ended}\n{printed}\n{error.decode('utf-8', 'replace')[-4000:]}")
    return printed
