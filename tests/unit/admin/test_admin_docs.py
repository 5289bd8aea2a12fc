"""docs/ADMIN.md names every method of the admin client, and none that is not there."""

import re
from pathlib import Path

import pytest

from kafka import KafkaAdminClient

pytestmark = pytest.mark.once

TEXT = (Path(__file__).resolve().parents[3] / "docs" / "ADMIN.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (.+?) \| (.+?) \| .*\|$", TEXT, re.MULTILINE)
METHODS = {
    name
    for name in dir(KafkaAdminClient)
    if not name.startswith("_") and callable(getattr(KafkaAdminClient, name)) and name != "close"
}


def test_the_table_names_methods_that_are_there():
    named = {name.partition("(")[0] for _, ours in ROWS[2:] for name in re.findall(r"`(.+?)`", ours)}
    assert named - METHODS == set()


def test_every_method_is_named():
    assert [name for name in sorted(METHODS) if f"`{name}`" not in TEXT] == []
