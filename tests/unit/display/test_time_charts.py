"""Charts over time: pauses, ticks, gaps in lines, and marks."""

from __future__ import annotations

import itertools
import re
import xml.etree.ElementTree as ET

import pytest

from kafka.display.time_axis import TimeAxis, clock_text, duration_text, merged, round_step
from kafka.display.time_charts import LINES, Line, Mark, TimeChart, nice_ticks, segments

HOUR = 3600.0


def pictures(chart: TimeChart) -> list[ET.Element]:
    """The SVG pictures of a chart, without the samples in its legend."""
    found = re.findall(r'<svg class="chart.*?</svg>', chart.figure(), re.DOTALL)
    return [ET.fromstring(each) for each in found]


def test_periods_are_to_scale_and_long_pauses_are_not() -> None:
    axis = TimeAxis([(0, 60), (60 + 8 * HOUR, 180 + 8 * HOUR)], 0, 300)
    places = [axis(time) for time in (0, 60, 60 + 8 * HOUR, 180 + 8 * HOUR)]
    first, pause, second = (later - earlier for earlier, later in itertools.pairwise(places))
    assert places[0] == 0
    assert places[-1] == pytest.approx(300)
    assert second == pytest.approx(2 * first)
    assert 16 <= pause <= 300 / 8
    assert axis(30) == pytest.approx(first / 2)
    assert axis(-5) == 0
    assert axis(1e9) == pytest.approx(300)
    ((start, end, seconds),) = axis.pauses()
    assert (start, end, seconds) == (pytest.approx(first), pytest.approx(first + pause), 8 * HOUR)


@pytest.mark.parametrize("periods", [[], [(5, 5)], [(0, 0), (9, 9)], [(at * 10, at * 10 + 1) for at in range(500)]])
def test_any_periods_fill_the_axis_in_order(periods: list[tuple[float, float]]) -> None:
    axis = TimeAxis(periods, 10, 110)
    places = [axis(time) for period in axis.periods for time in period]
    assert places == sorted(places)
    assert 10 <= places[0] <= places[-1] <= 110.000001
    assert sum(end - start for start, end, _ in axis.pauses()) <= 35.000001
    assert axis.ticks(40)


def test_overlapping_periods_are_one() -> None:
    assert merged([(5, 7), (0, 3), (2, 4), (7, 9)]) == [(0, 4), (5, 9)]


def test_ticks_are_round_times_that_keep_their_distance() -> None:
    axis = TimeAxis([(1000, 1000 + 300), (5000, 5300)], 0, 500)
    ticks = axis.ticks(60)
    assert [text for _, text in ticks][:2] == ["00:18", "00:20"]
    assert all(later[0] - earlier[0] >= 60 for earlier, later in itertools.pairwise(ticks))
    uneven = TimeAxis([(0, 0.1), (10, 3e8)], 0, 500).ticks(60)
    assert 2 <= len(uneven) <= 8, "the short period does not determine the ticks of the long one"
    short = TimeAxis([(1000.0, 1000.4)], 0, 500).ticks(100)
    assert short[0][1].startswith("00:16:40.")


@pytest.mark.parametrize(
    ("time", "step", "days", "text"),
    [
        (0, 60, False, "00:00"),
        (61, 1, False, "00:01:01"),
        (61.5, 0.5, False, "00:01:01.5"),
        (86400 * 31, 3600, True, "1 Feb 00:00"),
        (86400, 86400, True, "2 Jan"),
    ],
)
def test_times_of_an_axis(time: float, step: float, days: bool, text: str) -> None:
    assert clock_text(time, step, days) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0324, "32 ms"), (4.25, "4.2 s"), (59.4, "59 s"), (60, "1 min"), (61, "1 min 1 s"), (25200, "7 h"),
     (28_680, "7 h 58 min"), (90_000, "1 d 1 h"), (86400 * 1234, "1,234 d")],
)  # fmt: skip
def test_durations(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text


def test_round_numbers() -> None:
    assert [round_step(least) for least in (0.01, 3, 61, 86400, 100_000)] == [0.1, 5, 120, 86400, 172800]
    assert nice_ticks(0) == [0, 0.25, 0.5, 0.75, 1]
    assert nice_ticks(9_999) == [0, 2500, 5000, 7500, 10000]
    for highest in (0.013, 1, 7, 99, 123_456, 5e9):
        assert nice_ticks(highest)[-1] >= highest > nice_ticks(highest)[-2]


def test_a_line_is_interrupted_between_periods() -> None:
    line = Line("in", [[(0, 1), (10, 2)], [(100, 3), (110, 4), (120, 5)]])
    chart = TimeChart("Rate", "rows/s", [line], [(0, 10), (100, 120)])
    for picture in pictures(chart):
        (path,) = [each.get("d", "") for each in picture if each.get("class") == "line s1"]
        assert re.sub(r"[^ML]", "", path) == "MLMLL"
        (pause,) = [each for each in picture if each.get("class") == "pause"]
        assert pause[0].text == "nothing ran for 1 min 30 s"
    assert "rows/s" in chart.figure()
    assert "in: last 5, maximum 5" in chart.figure()


def test_a_kill_and_the_next_start_are_two_marks() -> None:
    line = Line("in", [[(0, 1)], [(11, 3)]])
    chart = TimeChart("Rate", "rows/s", [line], [(0, 10), (10.2, 20)], [Mark(10, "killed"), Mark(10.2, "start")])
    for picture in pictures(chart):
        glyphs = [each for each in picture if (each.get("class") or "").startswith("glyph")]
        assert [each.get("class") for each in glyphs] == ["glyph killed", "glyph start"]
        places = [float(re.findall(r"[\d.]+", each.get("transform", ""))[0]) for each in glyphs]
        assert places[1] - places[0] >= 10
        assert [each[0].text for each in glyphs] == ["killed", "start"]


def test_marks_that_would_overlap_are_left_out_except_for_kills() -> None:
    periods = [(at * 10.0, at * 10.0 + 5) for at in range(100)]
    marks = [Mark(start, "start") for start, _ in periods] + [Mark(55, "killed")]
    figure = TimeChart("Rate", "rows/s", [Line("in", [[(0, 1)]])], periods, marks).figure()
    assert "glyph start" not in figure
    assert figure.count('<path class="mark killed"') == 2  # one in each picture


def test_the_largest_lines_are_drawn_and_names_are_escaped() -> None:
    lines = [Line(f"<b>{at}", [[(0, at), (1, at)]]) for at in range(9)]
    figure = TimeChart("<i>", "rows", lines, [(0, 1)]).figure()
    assert "<b>" not in figure
    assert "<i>" not in figure
    assert "&lt;b&gt;8" in figure
    assert "&lt;b&gt;2" not in figure
    assert f"and {9 - LINES} more" in figure
    assert "no values" in TimeChart("a", "b", [Line("c", [])], []).figure()


def test_a_series_is_split_where_nothing_was_measured() -> None:
    assert segments([]) == []
    assert segments([(5, 1)]) == [[(5, 1)]]
    points = [(float(time), 1.0) for time in (0, 2, 4, 6, 80, 82, 89)]
    assert [len(part) for part in segments(points)] == [4, 2, 1], "2 s is usual; 7 s is more than three times that"
    assert segments([(0, 1), (100, 1)]) == [[(0, 1), (100, 1)]], "one step is the usual one"
