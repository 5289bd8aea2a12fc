"""The tables of docs/SPARK.md say what the code does."""

import re
from pathlib import Path

from kafka.spark import OPTIONS, SESSION_SETTINGS, UNCHECKED_ARROW_SETTINGS, Use
from kafka.spark.schema import COLUMNS

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "SPARK.md").read_text()
README = (ROOT / "README.md").read_text()
USES = {Use.STREAM: "stream", Use.BATCH: "batch", Use.SINK: "sink"}


def test_every_option_is_documented_as_it_is():
    for row in OPTIONS:
        uses = ", ".join(name for use, name in USES.items() if use in row.uses)
        assert f"| `{row.name}` | {row.default} | {uses} | {row.doc} |" in PAGE


def test_every_setting_of_the_session_is_documented_as_it_is():
    for setting in SESSION_SETTINGS + UNCHECKED_ARROW_SETTINGS:
        where = " Masters on this machine only." if setting.local_only else ""
        assert f"| `{setting.name}` | `{setting.value}` | {setting.why}{where} |" in PAGE


def test_the_readme_names_the_settings_of_the_session_and_no_others():
    named = re.findall(r"^\| `(spark\.\S+)` \| `(\S+)` \|", README, re.MULTILINE)
    assert named == [(setting.name, setting.value) for setting in SESSION_SETTINGS]


def test_every_column_is_documented():
    for name, kind in COLUMNS.items():
        assert f"`{name}`" in PAGE
        assert kind in PAGE
