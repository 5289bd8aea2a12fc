"""Values get into pages and charts only as text."""

import re
import xml.etree.ElementTree as ET

import pytest

from kafka.display.page_elements import Html, address, escaped, html, joined, link, short, table
from kafka.display.time_charts import LINES
from kafka.ui.charts import chart, sparkline
from unit.ui.ui_support import HOSTILE

pytestmark = pytest.mark.once


def test_values_are_escaped_and_html_is_not() -> None:
    assert html("<b>{}</b>{}", HOSTILE, Html("<i>")) == (
        "<b>&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#x27;&gt;&lt;img src=x onerror=alert(2)&gt;&amp;amp;</b><i>"
    )


def test_braces_in_values_have_no_meaning() -> None:
    assert html("{}", "{0.__class__}") == "{0.__class__}"


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("a\0b", "a␀b"),
        ("a\x1bb", "a␛b"),
        ("a\rb", "a␍b"),
        ("a\x85b", "a\\x85b"),
        ("a\u00adb", "a\\u00adb"),
        ("a\U000e0041b", "a\\U000e0041b"),
        ("a\ufe0fb", "a\\ufe0fb"),
        ("user\u202egnp.exe", "user\\u202egnp.exe"),
        ("\u200bx", "\\u200bx"),
        ("\udcff", "\\udcff"),
        ("tab\tand\nline", "tab\tand\nline"),
        ("grüße 漢字 🎉", "grüße 漢字 🎉"),
    ],
)
def test_invisible_characters_are_shown(text: str, seen: str) -> None:
    assert escaped(text) == seen
    escaped(text).encode()


def test_addresses_accept_any_name() -> None:
    assert address("/group", id="a/b?c&d=é", empty="", none=None) == "group?id=a%2Fb%3Fc%26d%3D%C3%A9"
    assert link("x", "/g", as_='"') == '<a href="g?as=%22">x</a>'


def test_tables_have_row_headings_and_report_if_they_are_empty() -> None:
    assert '<th scope="row">a</th><td class="n half" data-label="Count">1</td>' in table(
        ("name", "count"), [["a", 1]], ("count",)
    )
    assert '<td colspan="2" class="quiet">none</td>' in table(("name", "count"), [])


def test_charts_are_well_formed_with_any_names() -> None:
    drawn = chart(HOSTILE, {HOSTILE: [(0.0, 1.0), (60.0, 5.0)], "\0\u202e": [(0.0, 2.0), (60.0, 0.0)]}, "rows")
    figure = ET.fromstring(drawn)
    assert not figure.findall(".//script")
    assert not figure.findall(".//img")
    wide, narrow = (each for each in figure.findall("svg"))
    for picture in (wide, narrow):
        lines = [each for each in picture.findall("path") if (each.get("class") or "").startswith("line")]
        assert [each.get("class") for each in lines] == ["line s1", "line s2"]
        assert "rows" in picture.itertext()
    assert figure.findtext("figcaption") == HOSTILE
    ET.fromstring(sparkline(HOSTILE, [(0.0, 1.0), (1.0, 2.0)]))


def test_the_largest_series_are_drawn_and_the_others_counted() -> None:
    series = {f"s{at}": [(0.0, float(at)), (1.0, float(at))] for at in range(LINES + 3)}
    drawn = chart("lag", series, "offsets")
    assert drawn.count('<path class="line ') == 3 * LINES  # in two pictures and the legend
    assert "and 3 more" in drawn
    assert "s8" in drawn
    assert "</svg>s0<" not in drawn


def test_many_points_are_drawn_without_losing_the_peak() -> None:
    points = [(float(at), 1_000.0 if at == 5_001 else 1.0) for at in range(10_000)]
    drawn = ET.fromstring(chart("rate", {"t": points}, "records/s")).find("./svg/path[@class='line s1']")
    assert drawn is not None
    places = re.findall(r"[ML]([\d.]+) ([\d.]+)", drawn.get("d") or "")
    assert len(places) <= 400
    assert min(float(y) for _, y in places) == 34


def test_lines_have_a_gap_where_nothing_was_read() -> None:
    seconds = [0.0, 5.0, 10.0, 15.0, 40.0, 45.0, 50.0, 300.0]
    points = [(second, 1.0) for second in seconds]
    for drawn in (chart("lag", {"t": points}, "records"), sparkline("lag", points)):
        line = ET.fromstring(drawn).find(".//path[@class='line s1']")
        assert line is not None
        pieces = [piece.count("L") + 1 for piece in (line.get("d") or "").split("M")[1:]]
        assert pieces == [4, 3, 1]  # the pause of 25 s, and the one before the last point


def test_uneven_steps_are_no_gaps() -> None:
    points = [(second, 1.0) for second in (0.0, 5.0, 12.0, 26.0, 31.0)]
    assert sparkline("lag", points).count("M") == 1


def test_a_single_point_is_not_drawn() -> None:
    assert "Nothing to draw yet" in chart("lag", {"t": [(0.0, 1.0)]}, "offsets")
    assert joined([sparkline("x", [(0.0, 1.0)])]) == ""


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (999.4, "999"), (999.5, "1k"), (-1_234, "-1.23k"), (999_949, "1M"), (999_400, "999k"), (2.5e9, "2.5G")],
)
def test_a_number_has_three_digits_and_a_unit(value: float, text: str) -> None:
    assert short(value) == text
