"""The demo's report, as a browser shows it."""

from __future__ import annotations

import datetime
import io
import json
import re
import xml.etree.ElementTree
from pathlib import Path

import pandas as pd
import pytest
from PIL import Image

from harness.chromium import open_page
from kafka.cli.demo.driver_processes import Kill
from kafka.cli.demo.page import delays_by_hour, write_page
from kafka.cli.demo.report import Figures

pytestmark = pytest.mark.once

PAPER = {"light": (255, 255, 255), "dark": (22, 22, 22)}
LINES = {
    "light": [(31, 111, 196), (194, 65, 12), (15, 118, 110)],
    "dark": [(108, 176, 245), (251, 154, 91), (79, 209, 192)],
}
BEGAN = datetime.datetime(2026, 1, 1, 12, tzinfo=datetime.UTC)


def results() -> pd.DataFrame:
    """Two days: at the hour h one flight is late by h minutes on the first, two by h + 3 on the second."""
    rows = [
        {
            "hour": pd.Timestamp(f"2013-01-0{day} {hour:02}:00", tz="America/New_York").tz_convert("UTC"),
            "airport": airport,
            "flights": day + 1,
            "cancelled": 1,
            "dep_delay": hour + 3.0 * (day - 1) + more,
        }
        for day in (1, 2)
        for hour in range(5, 24)
        for more, airport in enumerate(["John F <Kennedy>", "La Guardia", "Newark"])
    ]
    nobody_left = {**rows[0], "flights": 1, "dep_delay": None}
    return pd.DataFrame([*rows, nobody_left])


def progress(path: Path) -> Path:
    """Micro-batches of two queries, one a second, of which the first driver did three."""
    lines = [
        {
            "time": (BEGAN + datetime.timedelta(seconds=number)).isoformat(),
            "query": query,
            "seconds": 1.0,
            "rows": 1_000 * (number + 1),
            "sources": [{"lag": 5_000 - 1_000 * number}],
        }
        for number in range(6)
        for query in ("to the topic", "to Parquet")
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


@pytest.fixture
def page(tmp_path: Path) -> Path:
    kill = Kill(BEGAN + datetime.timedelta(seconds=3), 3, 3_000, 2, {"group": 3_000})
    figures = Figures(6_000, 1_000_000, 1.0, 7.0, 115, 10, tmp_path, 9.0)
    again = BEGAN + datetime.timedelta(seconds=4)
    write_page(tmp_path / "report.html", figures, results(), progress(tmp_path / "progress.jsonl"), kill, again)
    return tmp_path / "report.html"


def test_the_mean_is_that_of_flights_not_of_days() -> None:
    by_hour = delays_by_hour(results())
    assert list(by_hour.columns) == ["John F <Kennedy>", "La Guardia", "Newark"]
    assert list(by_hour.index) == list(range(5, 24))
    assert by_hour.loc[5].tolist() == [7.0, 8.0, 9.0]


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_a_browser_shows_the_lines_and_complains_about_nothing(chromium: Path, page: Path, colours: str) -> None:
    shown = open_page(chromium, page.as_uri(), dark=colours == "dark", height=1_600)
    assert shown.errors == []
    assert shown.requests == [page.as_uri()]
    picture = Image.open(io.BytesIO(shown.screenshot)).convert("RGB")
    assert picture.getpixel((2, 2)) == PAPER[colours]
    found = {colour: count for count, colour in picture.getcolors(picture.width * picture.height) or []}
    assert [line for line in LINES[colours] if found.get(line, 0) < 100] == []
    for text in ("6,000 flights", "killed after 3,000 records", "each row once", "Mean delay", "Lag"):
        assert text in shown.text


def test_each_diagram_says_in_words_what_it_shows(page: Path) -> None:
    written = page.read_text()
    assert "<script" not in written
    assert re.findall(r'(?:href|src)="([^"]*)"|url\(|@import', written) == []
    assert len(written) < 50_000
    diagrams = [xml.etree.ElementTree.fromstring(each) for each in re.findall(r"<svg.*?</svg>", written, re.DOTALL)]
    assert len(diagrams) == 3
    for each in diagrams:
        title, description = each[0], each[1]
        assert (title.tag, description.tag) == ("title", "desc")
        assert each.get("aria-labelledby") == f"{title.get('id')} {description.get('id')}"
        assert title.text
        assert description.text
    assert "longest mean delay is at 23 o'clock from Newark" in str(diagrams[0][1].text)
    assert [each.text for each in diagrams[2].iter("text") if each.text in ("killed", "restarted")] == [
        "killed",
        "restarted",
    ]


def test_a_page_of_a_run_without_reports_has_the_delays_alone(tmp_path: Path) -> None:
    figures = Figures(6_000, 1_000_000, 1.0, 7.0, 115, 0, tmp_path, 9.0)
    write_page(tmp_path / "report.html", figures, results(), tmp_path / "none.jsonl", None, None)
    written = (tmp_path / "report.html").read_text()
    assert written.count("<svg") == 1
    assert "finished before it could be killed" in written
