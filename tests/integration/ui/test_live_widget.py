"""The widget of notebooks in a browser: `kafka/notebook/static/live.js` draws what the kernel measured.

The page stands for a notebook: it calls `render` with a model, as anywidget does.
"""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path

import pytest

from harness.chromium import open_page

pytestmark = [pytest.mark.integration, pytest.mark.once]

NAME = "telemetry.europe-west-production.inventory-levels-by-location-and-hour.v1 11"
DATA = {
    "title": "Lag of billing",
    "unit": "records",
    "state": "live",
    "total": 12345,
    "segments": [[[1_000 + 2 * at, at] for at in part] for part in ((0, 1, 2, 3), (40, 41))],
    "rows": [[NAME, 8100], ["orders 3", None]],
    "more": 0,
}


def test_a_widget_fits_a_phone_and_has_gaps_where_nothing_was_measured(chromium: Path, tmp_path: Path) -> None:
    static = files("kafka.notebook") / "static"
    model = f"{{get: () => ({json.dumps(DATA)}), on() {{}}, off() {{}}, send() {{}}}}"
    page = tmp_path / "notebook.html"
    page.write_text(
        f"<!doctype html><meta charset=utf-8><style>{(static / 'live.css').read_text()}</style><body>"
        f"<script type=module>{(static / 'live.js').read_text()}\n"
        f"render({{model: {model}, el: document.body}});</script>"
    )
    ready = (
        "document.querySelector('.kafka-live') && document.documentElement.scrollWidth <= innerWidth"
        " && document.querySelectorAll('.bar span').length === 1"
        " && document.querySelector('th').scrollWidth <= document.querySelector('th').clientWidth"
    )
    shown = open_page(chromium, page.as_uri(), ready=ready, width=390, timeout_s=60)
    assert shown.errors == []
    assert NAME in shown.text
    assert "unknown" in shown.text
    (line,) = re.findall(r'<path d="([^"]*)">', shown.html)
    assert [piece.count("L") + 1 for piece in line.split("M")[1:]] == [4, 2]
