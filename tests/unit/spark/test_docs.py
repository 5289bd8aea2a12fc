"""The tables of docs/SPARK.md say what the code does."""

from pathlib import Path

from kafka.spark import OPTIONS, SESSION_SETTINGS, Use
from kafka.spark.schema import COLUMNS

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "SPARK.md").read_text()
USES = {Use.STREAM: "stream", Use.BATCH: "batch", Use.SINK: "sink"}


def test_every_option_is_documented_as_it_is():
    for row in OPTIONS:
        uses = ", ".join(name for use, name in USES.items() if use in row.uses)
        assert f"| `{row.name}` | {row.default} | {uses} | {row.doc} |" in PAGE


def test_every_setting_of_the_session_is_documented_as_it_is():
    for setting in SESSION_SETTINGS:
        where = " Masters on this machine only." if setting.local_only else ""
        assert f"| `{setting.name}` | `{setting.value}` | {setting.why}{where} |" in PAGE


def test_every_column_is_documented():
    for name, kind in COLUMNS.items():
        assert f"`{name}`" in PAGE
        assert kind in PAGE
