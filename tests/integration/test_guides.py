"""The programs of the guides run as they stand but for the broker's address and folders, in their order."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from kafka.broker import EmbeddedBroker

DOCS = Path(__file__).resolve().parents[2] / "docs"
GUIDES = {
    "START.md": [
        "RecordMetadata(topic='orders'",
        "1001 records, the last: 1000 b'bob' b'999 pears'",
        "b'997 pears'",
        "{0: 0}",
    ],
}
"""By guide: what each of its programs prints, among other things."""


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
