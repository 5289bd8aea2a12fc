"""docs/COMMAND_LINE.md lists every command and option."""

import importlib.util
import pathlib

import pytest

pytestmark = pytest.mark.once

ROOT = pathlib.Path(__file__).resolve().parents[3]


def test_the_reference_matches_the_commands() -> None:
    spec = importlib.util.spec_from_file_location("command_line", ROOT / "scripts" / "command_line.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    document = (ROOT / "docs" / "COMMAND_LINE.md").read_text(encoding="utf-8")
    assert document.endswith("\n" + script.reference()), "run: python scripts/command_line.py"
