"""What `make test-matrix` says of a release, and which tests a release is spared."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripts import matrix

from harness.releases import missing_in

pytestmark = pytest.mark.once

REPORT = """<?xml version="1.0"?>
<testsuites><testsuite>
<testcase classname="tests.integration.test_a" name="test_good[apache]" time="1" />
<testcase classname="tests.integration.test_a" name="test_bad[apache]"><failure message="Bad: no&#10;more" /></testcase>
<testcase classname="tests.integration.test_a" name="test_unset"><error message="failed on setup">x</error></testcase>
<testcase classname="tests.integration.test_b" name="test_old"><skipped message="needs Kafka 2.4: it" /></testcase>
<testcase classname="tests.integration.test_b" name="test_older"><skipped message="needs Kafka 2.4: it" /></testcase>
</testsuite></testsuites>
"""


@pytest.fixture
def result(tmp_path: Path) -> matrix.Result:
    report = tmp_path / "report.xml"
    report.write_text(REPORT)
    return matrix.read_report("1.1.1", report)


def test_what_did_not_pass_is_named_with_the_reason(result: matrix.Result) -> None:
    assert result.counts == {"passed": 1, "failed": 2, "skipped": 2}
    assert result.lines == [
        "  failed: test_a::test_bad[apache]: Bad: no",
        "  failed: test_a::test_unset: failed on setup",
        "  skipped: test_b::test_old: needs Kafka 2.4: it",
        "  skipped: test_b::test_older: needs Kafka 2.4: it",
    ]


def test_the_table_keeps_the_rows_of_other_releases(result: matrix.Result, tmp_path: Path) -> None:
    guide = tmp_path / "guide.md"
    old = f"| 1.1.1 | 0 | 9 | 0 |\n| 4.4.0 | 7 | 0 | 0 |\n{matrix.FEATURES}| 0.11 | that |\n| 2.4 | a; z |\n"
    guide.write_text(f"before\n{matrix.BEGIN}{old}{matrix.END}after\n")
    matrix.write_table([result], guide)
    lines = guide.read_text().splitlines()
    assert (lines[0], lines[-1]) == ("before", "after")
    assert lines[4:6] == ["| 1.1.1 | 1 | 2 | 2 |", "| 4.4.0 | 7 | 0 | 0 |"]
    assert lines[-4:-2] == ["| 0.11 | that |", "| 2.4 | a; it; z |"]


def test_a_guide_without_a_place_for_the_table_is_refused(result: matrix.Result, tmp_path: Path) -> None:
    guide = tmp_path / "guide.md"
    guide.write_text("nothing\n")
    with pytest.raises(SystemExit, match="no place"):
        matrix.write_table([result], guide)


def test_all_files_of_the_matrix_are_there() -> None:
    assert not [name for names in matrix.RELEASES.values() for name in names if not (matrix.TESTS / name).exists()]


@pytest.mark.parametrize(
    ("release", "reasons"),
    [("0.10.2.2", ["needs Kafka 0.11: headers"]), ("0.11.0.3", []), ("4.3.1", [])],
)
def test_a_release_is_spared_what_it_lacks(release: str, reasons: list[str]) -> None:
    marker = pytest.mark.needs(broker=(0, 11), why="headers").mark
    assert list(missing_in(release, [marker])) == reasons


def test_a_test_of_old_releases_is_skipped_on_later_ones() -> None:
    marker = pytest.mark.needs(broker=(0, 11), before=(2, 8), why="refusals").mark
    assert list(missing_in("1.1.1", [marker])) == []
    assert list(missing_in("2.8.2", [marker])) == ["needs Kafka before 2.8: refusals"]
