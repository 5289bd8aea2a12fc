"""The programs and commands of docs/recipes and of the front page run, on another broker, and print what is shown."""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kafka.broker import EmbeddedBroker

RECIPES = Path(__file__).resolve().parents[3] / "docs" / "recipes"
PAGES = sorted(path.stem for path in RECIPES.glob("*.md"))
ELSEWHERE = {
    "index": "a list",
    "fastapi": "integration/frameworks/test_frameworks.py",
    "litestar": "framework_trials/test_litestar.py",
    "django": "framework_trials/test_django.py",
    "celery": "framework_trials/test_celery.py",
    "airflow": "framework_trials/test_airflow.py",
    "dagster": "framework_trials/test_dagster.py",
    "notebook": "integration/frameworks/test_notebook.py",
    "test-with-a-failing-broker": "the test below",
}
"""By page that has nothing to run here: what runs its programs."""
ALARMS = {"kafka groups lag --above": 4, "raise SystemExit(1 if": 1}
"""By code that raises an alarm: the exit status of its block."""


def blocks(page: str) -> list[tuple[str, str]]:
    """The programs, commands and outputs of a page in their order, each after its language."""
    text = (RECIPES / f"{page}.md").read_text(encoding="utf-8")
    return re.findall(r"^```(\w+)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def stripped(text: str) -> list[str]:
    """The lines without white space at their ends, which an empty last column leaves."""
    return [line.rstrip() for line in text.splitlines()]


def run(kind: str, code: str) -> str:
    """What a program prints in this process, or what commands print in a shell, if they end with the right status."""
    expected = next((status for text, status in ALARMS.items() if text in code), 0)
    if kind == "sh":
        kafka = f'kafka() {{ {sys.executable} -m kafka "$@"; }}\nset -eo pipefail\n'
        done = subprocess.run(["bash", "-c", kafka + code], capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == expected, done.stderr
        return done.stdout
    printed = io.StringIO()
    status: str | int | None = 0
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(code, "recipe", "exec"), {"__name__": "__main__"})
        except SystemExit as ended:
            status = ended.code
    assert status == expected
    return printed.getvalue()


@pytest.mark.parametrize("page", [page for page in PAGES if page not in ELSEWHERE])
def test_a_recipe_prints_what_it_shows(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with (
        EmbeddedBroker(tmp_path / "broker", registry=True, group_initial_rebalance_delay_ms=0) as broker,
        EmbeddedBroker(tmp_path / "other", group_initial_rebalance_delay_ms=0) as other,
    ):
        monkeypatch.setenv("KAFKA_BOOTSTRAP_SERVERS", broker.bootstrap_servers)
        printed = ""
        for kind, code in blocks(page):
            if kind == "text":
                assert stripped(printed) == stripped(code)
                printed = ""
                continue
            code = code.replace("localhost:9092", broker.bootstrap_servers)
            code = code.replace("localhost:9093", other.bootstrap_servers).replace("/tmp/", f"{tmp_path}/")
            printed += run(kind, code.replace("http://localhost:8081", broker.registry_url))
    assert printed == "", "what the last block prints is not shown"


def test_the_tests_of_a_failing_broker_pass(tmp_path: Path) -> None:
    ((_, program),) = blocks("test-with-a-failing-broker")
    (tmp_path / "test_failures.py").write_text(program)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout
    assert "4 passed" in done.stdout


def test_every_recipe_has_something_that_runs() -> None:
    shown = {page for page in PAGES if any(kind == "text" for kind, _ in blocks(page))}
    assert sorted(set(PAGES) - shown) == sorted(ELSEWHERE)
    tests = Path(__file__).resolve().parents[2]
    assert [each for each in ELSEWHERE.values() if each.endswith(".py") and not (tests / each).is_file()] == []


def test_the_client_of_the_front_page_runs() -> None:
    client, _spark = re.findall(
        r"^```python\n(.*?)^```", (RECIPES.parent / "index.md").read_text(), re.MULTILINE | re.DOTALL
    )
    assert run("python", client) == "b'ada' b'3 apples'\n"


def test_the_guide_and_the_recipe_to_transactions_write_to_different_topics() -> None:
    """Otherwise who follows both on one broker sees other numbers than the pages show."""
    guide = (RECIPES.parent / "TRANSACTIONS.md").read_text(encoding="utf-8")
    in_guide = set(re.findall(r'\.send\("(\w+)"', guide))
    in_recipe = {
        name for _, code in blocks("exactly-once") for name in re.findall(r'(?:\.send\("|produce )(\w+)', code)
    }
    assert in_guide >= {"inputs", "doubles"}
    assert in_recipe == {"numbers", "squares"}
    assert not in_guide & in_recipe
