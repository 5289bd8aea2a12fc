"""The programs of the guides run as they stand but for the broker's address and folders, in their order."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from kafka.broker import EmbeddedBroker
from kafka.record import arrow_schema

DOCS = Path(__file__).resolve().parents[2] / "docs"
GUIDES = {
    "START.md": ["RecordMetadata(topic='orders'", "1001 records, the last: 1000", "b'997 pears'", "{0: 0}"],
    "GROUPS.md": ["100 done", "got [0]\ngiving up [0]\n", "now 0"],
    "DELIVERY.md": ["0 failed", "sum 499500", "[{'a': 1}]"],
    "ARROW.md": [
        "ArrowResult(",
        "10000 rows, ['topic', 'partition'",
        "10000 rows, the largest value has",
        "10 sensors",
        "34",
        "10000 rows in the file",
        "100000/100000",
    ],
    "TUNING.md": ["read 40000"],
    "DEPLOYMENT.md": ["closed", "HEALTHY", "1"],
}
"""By guide: what each of its programs prints, among other things."""

KINDS = {
    "string": "text",
    "int32": "int32",
    "int64": "int64",
    "timestamp[ms, tz=UTC]": "timestamp, milliseconds, UTC",
    "binary": "binary",
    "list<item: struct<key: string, value: binary>>": "list of structs of `key` (text) and `value` (binary)",
}
"""By Arrow's name of a type: what the guide calls it."""


def programs(guide: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", (DOCS / guide).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("guide", GUIDES)
def test_the_programs_of_a_guide_run(guide: str, tmp_path: Path) -> None:
    expected = GUIDES[guide]
    assert len(programs(guide)) == len(expected)
    with EmbeddedBroker(tmp_path / "broker", group_initial_rebalance_delay_ms=0) as broker:
        for program, prints in zip(programs(guide), expected, strict=True):
            code = program.replace("localhost:9092", broker.bootstrap_servers).replace("/tmp/", f"{tmp_path}/")
            command = [sys.executable, "-W", "error", "-c", code]
            done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
            assert done.returncode == 0, done.stderr
            assert prints in done.stdout


def test_the_tests_that_the_guide_shows_pass(tmp_path: Path) -> None:
    for number, program in enumerate(programs("TESTING.md")):
        name = "conftest.py" if program.startswith("# conftest.py") else f"test_{number}.py"
        (tmp_path / name).write_text(program)
    (tmp_path / "pytest.ini").write_text("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "5 passed" in done.stdout


def test_the_columns_that_the_guide_names_have_those_types() -> None:
    text = (DOCS / "ARROW.md").read_text(encoding="utf-8")
    told = dict(re.findall(r"^\| (`[^|]+) \| ([^|]+) \|$", text, re.MULTILINE))
    schema = arrow_schema()
    assert [name for names in told for name in re.findall(r"`(\w+)`", names)] == schema.names
    for names, kind in told.items():
        for name in re.findall(r"`(\w+)`", names):
            assert kind.startswith(KINDS[str(schema.field(name).type)]), name
