"""The tables of docs/SPARK.md say what the code does."""

import re
import subprocess
import sys
from pathlib import Path

from kafka.spark import SESSION_SETTINGS, UNCHECKED_ARROW_SETTINGS
from kafka.spark.schema import COLUMNS
from spark_trials.programs import PROGRAMS

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "SPARK.md").read_text()
README = (ROOT / "README.md").read_text()


def test_the_tables_of_options_are_what_the_code_does():
    written = subprocess.run(
        [sys.executable, ROOT / "scripts" / "spark_options.py", "--check"], capture_output=True, text=True, check=False
    )
    assert written.returncode == 0, written.stderr or "docs/SPARK.md is out of date: run scripts/spark_options.py"


def test_every_setting_of_the_session_is_documented_as_it_is():
    for setting in SESSION_SETTINGS + UNCHECKED_ARROW_SETTINGS:
        where = " Masters on this machine only." if setting.local_only else ""
        value = setting.value.replace("|", r"\|")
        assert f"| `{setting.name}` | `{value}` | {setting.why}{where} |" in PAGE


def test_the_readme_names_the_settings_of_the_session_and_no_others():
    named = re.findall(r"^\| `(spark\.\S+)` \| `(\S+)` \|", README, re.MULTILINE)
    assert [(name, value.replace(r"\|", "|")) for name, value in named] == [
        (setting.name, setting.value) for setting in SESSION_SETTINGS
    ]


def test_every_column_is_documented():
    for name, kind in COLUMNS.items():
        assert f"`{name}`" in PAGE
        assert kind in PAGE


def test_the_guide_says_what_both_connectors_do_otherwise():
    told = re.findall(r"^\| ((?:read|stream|write|fault): .+?) \| (.+) \|$", PAGE, re.MULTILINE)
    assert told == [(each.name, each.differs) for each in PROGRAMS if each.differs]
    assert f"runs {len(PROGRAMS)} programs" in PAGE
