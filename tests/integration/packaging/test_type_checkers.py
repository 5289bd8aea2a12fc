"""mypy and pyright take what is right, and refuse each line of what is wrong. pyright needs Node.js."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import missing
from harness.aio_programs import NAMES, source

ROOT = Path(__file__).resolve().parents[3]
TYPED = ROOT / "tests" / "data" / "typing"
WRONG = [number for number, line in enumerate((TYPED / "wrong.py").read_text().splitlines(), 1) if "# wrong" in line]
PAGES = ("README.md", "docs/START.md", "docs/ASYNCIO.md")
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def mypy(*arguments: str | Path) -> list[tuple[str, int, str]]:
    """The errors of mypy with the project's own, strict settings: file, line and text."""
    command = [sys.executable, "-m", "mypy", "--no-pretty", *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=230)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    found = re.findall(r"^(\S+?):(\d+): error: (.*)$", done.stdout, re.MULTILINE)
    return [(Path(file).name, int(line), text) for file, line, text in found]


def pyright(*paths: Path) -> list[tuple[str, int, str]]:
    """Likewise of pyright, with the settings that it has by itself."""
    if shutil.which("node") is None:
        missing("Node.js, which pyright needs, is not there")
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "--outputjson", *map(str, paths)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=230)
    if not done.stdout.startswith("{"):
        missing(f"pyright is not to be had: {done.stderr[-500:]}")
    found = json.loads(done.stdout)["generalDiagnostics"]
    return [
        (Path(each["file"]).name, each["range"]["start"]["line"] + 1, each["message"])
        for each in found
        if each["severity"] == "error"
    ]


@pytest.fixture
def examples(tmp_path: Path) -> list[Path]:
    """Python examples of the pages as files."""
    for page in PAGES:
        for number, code in enumerate(BLOCK.findall((ROOT / page).read_text())):
            (tmp_path / f"{Path(page).stem}_{number}.py").write_text(code)
    return sorted(tmp_path.glob("*.py"))


@pytest.fixture
def programs(tmp_path: Path) -> list[Path]:
    """The programs of `examples/aio`, with their imports from `kafka.aio`."""
    for name in NAMES:
        (tmp_path / f"{name}.py").write_text(source(name, "kafka.aio"))
    return sorted(tmp_path.glob("*.py"))


def test_mypy_takes_what_is_right_and_refuses_each_wrong_line() -> None:
    errors = mypy(TYPED / "good.py", TYPED / "wrong.py")
    assert [each for each in errors if each[0] == "good.py"] == []
    assert [line for _, line, _ in errors] == WRONG
    assert 'did you mean "group_id"?' in errors[0][2]


def test_mypy_takes_the_examples(examples: list[Path]) -> None:
    assert mypy(*examples) == []


def test_mypy_takes_the_programs_of_aiokafka(programs: list[Path]) -> None:
    assert mypy(*programs) == []


def test_pyright_takes_what_is_right_and_refuses_each_wrong_line() -> None:
    errors = pyright(TYPED / "good.py", TYPED / "wrong.py")
    assert [each for each in errors if each[0] == "good.py"] == []
    assert [line for _, line, _ in errors] == WRONG


def test_pyright_takes_the_examples(examples: list[Path]) -> None:
    assert pyright(*examples) == []


def test_pyright_takes_the_programs_of_aiokafka(programs: list[Path]) -> None:
    assert pyright(*programs) == []
