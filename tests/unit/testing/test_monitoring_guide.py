"""The programs in docs/MONITORING.md run unchanged."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "MONITORING.md"
PROGRAMS = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_program_in_the_guide_runs(program: str) -> None:
    exec(compile(program, str(DOCUMENT), "exec"), {"__name__": "guide"})
