"""The report of a pipeline in a browser: nothing overlaps or is cut, in wide and narrow windows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.chromium import open_page
from kafka.pipelines import report
from kafka.pipelines.events import Event
from unit.pipelines.sample_events import Sample, dead_letters, several_runs

pytestmark = pytest.mark.once

FITS = """document.documentElement.scrollWidth <= innerWidth
&& [...document.querySelectorAll("svg")].filter(each => each.getBoundingClientRect().width > 0).every(svg => {
  const frame = svg.getBoundingClientRect()
  const places = [...svg.querySelectorAll("text")].map(each => each.getBoundingClientRect()).filter(each => each.width)
  const beside = (a, b) => a.right <= b.left + 1 || b.right <= a.left + 1
  const apart = (a, b) => beside(a, b) || a.bottom <= b.top + 4 || b.bottom <= a.top + 4
  const inside = each => each.left >= frame.left - 1 && each.right <= frame.right + 1 && each.bottom <= frame.bottom + 1
  return places.every((each, at) => inside(each) && places.slice(at + 1).every(other => apart(each, other)))
})"""
"""The page is not wider than the window, and no two texts of a picture overlap or leave it."""


def cron() -> list[Event]:
    """Many short runs."""
    sample = Sample()
    for _ in range(90):
        sample.run(3).pause(3600)
    return sample.events


STATES: dict[str, Callable[[], list[Event]]] = {
    "several runs": lambda: several_runs(stateful=True),
    "two sources": lambda: several_runs(sources=("orders", "payments")),
    "one batch": lambda: Sample().run(1).events,
    "a kill and a restart": lambda: Sample().run(30, ending=None).pause(12).run(30).events,
    "large numbers": lambda: Sample().run(300, rows=90_000_000, seconds=500, lag=10**10).events,
    "many runs": cron,
    "nothing yet": lambda: Sample().run(0, ending=None).events,
}


@pytest.mark.slow
@pytest.mark.parametrize("state", list(STATES))
@pytest.mark.parametrize(("width", "dark"), [(1400, False), (800, False), (360, True)])
def test_a_report_fits_its_window(chromium: Path, tmp_path: Path, state: str, width: int, dark: bool) -> None:
    path = tmp_path / "report.html"
    path.write_text(report.html(STATES[state](), dead_letters()))
    page = open_page(chromium, path.as_uri(), ready=FITS, width=width, dark=dark, timeout_s=60)
    assert page.errors == []
    assert page.requests == [path.as_uri()]
    assert page.title == "flight-delays: report of a pipeline"
