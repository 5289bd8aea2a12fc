"""How processes share the integration tests, and what becomes of a run where one of them dies."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.scheduling import SHARED_BY_A_BROKER, SHARED_BY_A_FILE, KeepTogether, kept_together

pytestmark = pytest.mark.once
TESTS = Path(__file__).resolve().parents[1]
CONFTEST = """
import sys
sys.path.insert(0, {tests!r})
from harness.scheduling import KeepTogether

def pytest_xdist_make_scheduler(config, log):
    return KeepTogether(config, log)
"""
MANY = """
import os, signal
import pytest

@pytest.mark.parametrize("number", range(30))
def test_one(number):
    if number in {deadly}:
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("deadly", [(), (0,), (12,), (29,), (4, 12), (28, 29)], ids=str)
def test_a_process_that_dies_costs_one_test_and_others_run_once(deadly: tuple[int, ...], tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST.format(tests=str(TESTS)))
    (tmp_path / "test_many.py").write_text(MANY.format(deadly=deadly))
    command = [sys.executable, "-m", "pytest", "-n", "2", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    summary = done.stdout.splitlines()[-1]
    assert f"{30 - len(deadly)} passed" in summary, done.stdout
    assert (f"{len(deadly)} failed" in summary) == bool(deadly), done.stdout
    assert done.returncode == bool(deadly)
    for number in deadly:
        assert f"crashed while running 'test_many.py::test_one[{number}]'" in done.stdout


class Process:
    """What the scheduler knows of a process: which tests it was given, and whether it was told to stop."""

    def __init__(self) -> None:
        self.gateway = SimpleNamespace(id="gw")
        self.given: list[int] = []
        self.shutting_down = False

    def send_runtest_some(self, indices: list[int]) -> None:
        self.given += indices

    def shutdown(self) -> None:
        self.shutting_down = True


def test_of_two_replacements_the_first_to_collect_gets_tests_and_the_other_waits() -> None:
    tests = [f"test_many.py::test_one[{number}]" for number in range(30)]
    option = SimpleNamespace(loadscopereorder=False)
    config = SimpleNamespace(option=option, getvalue=lambda _: ["popen"] * 2)
    scheduler = KeepTogether(config, None)
    old, new = [Process(), Process()], [Process(), Process()]
    for process in old:
        scheduler.add_node(process)
        scheduler.add_node_collection(process, tests)
    scheduler.schedule()
    for process, replacement in zip(old, new, strict=True):
        assert scheduler.remove_node(process) == tests[process.given[0]]
        scheduler.add_node(replacement)
    for process in reversed(new):
        assert not process.given
        scheduler.add_node_collection(process, tests)
        scheduler.schedule()
        assert process.given
        assert not process.shutting_down


def test_costly_things_are_shared() -> None:
    tls, admin = "security/test_tls_stores.py", "admin/test_admin.py::test_one"
    assert kept_together("tests/integration/spark/test_sink.py::test_one") == "spark"
    assert kept_together("tests/integration/spark/test_source.py::test_two[embedded]") == "spark"
    assert kept_together(f"{tls}::test_one") == tls
    assert kept_together("legacy/test_generations.py::test_one[embedded-0.9]") == "generations, embedded"
    assert kept_together("legacy/test_generations.py::test_one[apache-0.9]") == "generations, apache"
    assert kept_together("cluster/test_interop.py::test_one[embedded-ours]") == "interop, embedded"
    assert kept_together(admin) == admin


def test_files_that_start_apache_kafka_for_themselves_are_kept_together() -> None:
    fixture = re.compile(r'^@pytest\.fixture\(scope="module".*\)\ndef \w+\([^)]*\bjava_tools\b', re.MULTILINE)
    files = [each for each in (TESTS / "integration").rglob("test_*.py") if fixture.search(each.read_text())]
    assert len(files) > 5
    for file in files:
        tests = [f"{file.relative_to(TESTS.parent)}::test_{name}" for name in ("one", "two")]
        assert len({kept_together(each) for each in tests}) == 1, f"name {file.name} in harness/scheduling.py"


def test_each_name_is_that_of_a_file() -> None:
    names = {each.stem.removeprefix("test_") for each in (TESTS / "integration").rglob("test_*.py")}
    assert names >= SHARED_BY_A_FILE | SHARED_BY_A_BROKER
