"""The programs about JSON in docs/FORMATS.md print what the page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "FORMATS.md").read_text(encoding="utf-8")
PROGRAMS = re.findall(r"```python\n(.*?)```", PAGE[PAGE.index("## JSON: columns") :], re.DOTALL)


def test_programs_print_what_the_page_says(capsys: pytest.CaptureFixture[str]) -> None:
    ours = [program for program in PROGRAMS if "Json" in program]
    for program in ours:
        exec(compile(program, "docs/FORMATS.md", "exec"), {})
    printed = capsys.readouterr().out
    assert len(ours) == 2
    cause = 'year: expected a whole number of 32 bits, got the string "2013", at byte 9'
    assert f"`{cause}`" in PAGE
    assert f"cause='{cause}'" in printed
    assert 'b\'{"year":2013,"carrier":"UA","dep_delay":2.0}\'' in printed
    assert "struct<id: double, at: timestamp[us, tz=UTC], tags: list<item: string>>" in printed
