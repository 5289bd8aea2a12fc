"""What `make release-check` uses: its steps, its Pythons, the long description, and the trial of threads."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from scripts import pythons, thread_trial
from scripts.release import description, interpreters
from scripts.release.build import ROOT, cleaned
from scripts.release.interpreters import Interpreter
from scripts.release.steps import Steps
from scripts.site import __main__ as site_check

from kafka.structs import TopicPartition

pytestmark = pytest.mark.once


def test_each_part_is_announced_and_its_time_is_shown() -> None:
    said: list[str] = []
    clock, cpu = iter([0.0, 60.0, 60.0, 61.0]), iter([0.0, 90.0, 90.0, 92.0])
    steps = Steps(2, said.append, lambda: next(clock), lambda: next(cpu))
    with steps.step("wheels"):
        steps.say("a.whl: fine")
    with steps.step("checksums"):
        pass
    assert said == [
        "[1/2] wheels",
        "    a.whl: fine",
        "    (60 s, 90 s of processor time)",
        "[2/2] checksums",
        "    (1 s, 2 s of processor time)",
    ]
    assert steps.table().splitlines()[1:] == [
        "     60 s      90 s  wheels",
        "      1 s       2 s  checksums",
        "     61 s      92 s  in total",
    ]


def test_the_part_that_failed_is_known() -> None:
    steps = Steps(1, lambda line: None)
    with pytest.raises(ValueError, match="broken"), steps.step("wheels"):
        raise ValueError("broken")
    assert steps.current == "wheels"


def test_a_python_in_a_debian_system_sees_the_work_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pythons, "find_interpreter", lambda version: None)
    monkeypatch.setattr(pythons, "debian", lambda version: tmp_path / "debian")
    command = interpreters.find("3.14").command("-m", "venv")
    assert command[:4] == ["unshare", "--mount", "sh", "-c"]
    assert command[5:] == [str(tmp_path / "debian"), str(ROOT), "/usr/bin/python3.14", "-m", "venv"]


def test_the_variables_of_make_and_python_do_not_leak(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MAKEFLAGS", "MAKELEVEL", "PYTHONPATH", "KAFKA_PURE", "KAFKA_COLUMNAR_CACHE"):
        monkeypatch.setenv(name, "x")
    left = cleaned()
    assert left["KAFKA_COLUMNAR_CACHE"] == "x"
    assert [name for name in left if name.startswith(("MAKE", "PYTHON", "KAFKA_PURE"))] == []


def test_free_threaded_pythons_are_versions_of_their_own() -> None:
    assert interpreters.Interpreter("3.14t", "python3.14t").is_free_threaded
    assert not Interpreter("3.14", "python3.14").is_free_threaded


def test_links_that_lead_nowhere_on_a_package_index_are_found(tmp_path: Path) -> None:
    wheel = tmp_path / "a-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr("a-1.dist-info/METADATA", "Metadata-Version: 2.4\nName: a\n\n# A\u00e4\n")
    assert description.description_of(wheel) == "# A\u00e4\n"
    page = '<a href="https://a.org">a</a><a href="docs/B.md">b</a><img src="c.png"><a href="#d">d</a>'
    page += '<a href="#e"></a><p id="e">'
    assert description.leading_nowhere(page) == ["docs/B.md", "c.png", "#d"]


@pytest.mark.parametrize(("ci", "status"), [("true", 1), ("", 0)])
def test_a_check_of_the_site_that_is_skipped_is_named_and_an_error_in_ci(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], ci: str, status: int
) -> None:
    def no_node(site: Path) -> list[str]:
        raise FileNotFoundError("node is not in PATH: install Node.js")

    monkeypatch.setenv("CI", ci)
    monkeypatch.setattr("sys.argv", ["site", str(tmp_path)])
    monkeypatch.setattr(site_check.links, "complaints", lambda site: [])
    monkeypatch.setattr(site_check.texts, "complaints", list)
    monkeypatch.setattr(site_check.finding, "complaints", no_node)
    monkeypatch.setattr(site_check.browser, "find", lambda: None)
    assert site_check.main() == status
    told = capsys.readouterr()
    said = told.out if ci else told.err
    assert "search: SKIPPED: node is not in PATH" in said
    assert "sizes: SKIPPED: Chromium is not in PATH" in said
    assert ("0 pages, nothing wrong, without the checks of search and sizes" in told.out) is not bool(ci)


def test_threads_share_clients_and_lose_no_record() -> None:
    with thread_trial.broker() as servers:
        trial = thread_trial.Trial(servers, threads=3, records=60, consumers=2, partitions=2)
        trial.run()
        assert len(trial.read) == 180
        with pytest.raises(thread_trial.TrialError, match="offset 0 of partition 0 has two records"):
            trial.keep(TopicPartition("shared", 0), [(0, b"99 99")])
        trial.called_back[0] -= 1
        with pytest.raises(thread_trial.TrialError, match="callbacks were called"):
            trial.judge(trial.sent)
        trial.read.pop((0, 0))
        with pytest.raises(thread_trial.TrialError, match=r"1 records are not where their futures say"):
            trial.judge(trial.sent)
        with pytest.raises(thread_trial.TrialError, match="out of order"):
            trial.judge([list(reversed(places)) for places in trial.sent])
