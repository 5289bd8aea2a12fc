"""The report of a pipeline: its contents, escaping, gaps, size, and dead letters."""

from __future__ import annotations

import dataclasses
import re
import xml.etree.ElementTree as ET

import pytest

from kafka.pipelines import report
from kafka.pipelines.events import Event, SourceCounts
from kafka.pipelines.report.dead_letter_list import chosen, replay_command
from kafka.pipelines.report.tables import share_text
from kafka.pipelines.yaml_file import parse
from unit.pipelines.sample_events import NAME, Sample, dead_letters, declaration, several_runs
from unit.ui.ui_support import HOSTILE, rows_of, text_of

pytestmark = pytest.mark.once


def figure(page: str, title: str) -> str:
    """The HTML of a chart."""
    found = re.search(rf"<figure><figcaption>{title}.*?</figure>", page, re.DOTALL)
    assert found is not None
    return found[0]


def text(page: str) -> str:
    """The visible text."""
    return text_of(f"</header>{page.partition('</head>')[2]}")


def test_a_report_has_totals_balances_rules_and_runs() -> None:
    events = several_runs(stateful=True)
    page = report.html(events, dead_letters())
    stream = [each for each in events if each.kind == "batch" and each.run == "stream"]
    rows, dead = sum(each.rows for each in stream), sum(each.dead for each in stream)
    assert f"rows in {rows:,} rows out" in text(page)
    assert f"dead letters {dead:,} dropped" in text(page)
    assert "3 of the stream, 2 replays; 1 killed; 1 failed" in text(page)
    assert rows_of(page, "Balance of each source")[0][0] == "source"
    assert [row[-1] for row in rows_of(page, "Balance of each source")] == ["✓ balanced"] * 2
    rules = rows_of(page, "Rules")
    assert rules[0][:3] == ["airport is ours", "source", "drop"]
    assert rules[0][-1] == "origin in ('EWR', 'JFK', 'LGA')"
    assert {row[0]: row[2] for row in rules}["decodes"] == "built-in"
    runs = rows_of(page, "Runs")
    assert [row[0].split()[0] for row in runs] == ["replay", "replay", "stream", "stream", "stream"]
    assert runs[-1][2].startswith("killed after 2026-11-27 14:01")
    assert "failed" in runs[-2][2]
    assert runs[-2][-1] == "25 s"
    assert runs[-3][-1] == "7 h"


def test_charts_have_gaps_between_runs_and_separate_marks() -> None:
    page = report.html(several_runs(stateful=True))
    for title in ("Rate", "Rows that fail a rule", "Lag after each micro-batch", "State"):
        for picture in re.findall(r'<svg class="chart.*?</svg>', figure(page, title), re.DOTALL):
            path = re.search(r'class="line s1" d="([^"]*)"', picture)
            assert path is not None
            assert path[1].count("M") == 3, "a segment for each run"
            kinds = re.findall(r'class="glyph (\w+)" transform="translate\(([\d.]+)', picture)
            assert [kind for kind, _ in kinds][:4] == ["start", "killed", "start", "failure"]
            assert float(kinds[2][1]) - float(kinds[1][1]) >= 10


def test_every_picture_is_well_formed_and_nothing_is_loaded() -> None:
    page = report.html(several_runs(stateful=True), dead_letters(), file="my flights.yaml")
    pictures = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert len(pictures) > 14
    for each in pictures:
        ET.fromstring(each)
    for outside in ("http://", "https://", "src=", "href=", "<script", "@import", "url("):
        assert outside not in page.replace("src=x", "").replace("&lt;script", "")
    assert "kafka pipeline replay 'my flights.yaml' --rule 'delay is plausible'" in text(page)


def test_hostile_text_is_escaped_everywhere() -> None:
    counts = SourceCounts(5, 4, 0, 1, {HOSTILE: 1}, {}, lag=3)
    given = declaration((HOSTILE,))
    given["sources"][HOSTILE].update(topic=HOSTILE, rules=[{"name": HOSTILE, "holds": HOSTILE, "otherwise": HOSTILE}])
    given.update(query=HOSTILE, sink={"topic": HOSTILE}, dead_letters={"topic": HOSTILE})
    events = [
        Event("start", "2026-11-27T14:00:00Z", HOSTILE, run_id=HOSTILE, declaration=given),
        Event(
            "batch", "2026-11-27T14:00:01Z", HOSTILE, run_id=HOSTILE, batch=0, seconds=1, sources={HOSTILE: counts}
        ),
        Event("failure", "2026-11-27T14:00:03Z", HOSTILE, run_id=HOSTILE, cause=HOSTILE),
    ]  # fmt: skip
    (letter,) = dead_letters(1)
    hostile = HOSTILE.encode()
    letter = dataclasses.replace(
        letter, rules=(HOSTILE,), cause=HOSTILE, key=hostile, value=hostile, headers=((HOSTILE, hostile),)
    )
    page = report.html(events, [letter], file=HOSTILE)
    assert "<script" not in page
    assert "<img" not in page
    assert text(page).count("<script>alert(1)</script>") > 15
    assert re.search(r'="[^"]*<', page) is None
    surrogate = dataclasses.replace(letter, cause="\udc80 \x00 \u202e")
    assert "\\udc80 ␀ \\u202e" in report.html(events, [surrogate])


def test_dead_letters_are_shown_readably() -> None:
    page = report.html(several_runs(), dead_letters())
    assert page.count('<article class="dead">') == 10
    shown = text(page)
    assert "flights, partition 1, offset 1,234,568" in shown
    assert "flights.dead, partition 1, offset 1,001" in shown
    assert '  "dep_delay": 99999.0\n}' in page.replace("&quot;", '"')
    assert "00000010  10 11 12" in page
    assert "Value null" in shown
    assert "Value empty" in shown
    assert "trace : 00-4bf9" in shown
    assert "kafka.rule" not in shown
    large = dataclasses.replace(dead_letters(1)[0], key=b"k" * 10**6, value=b"\x00<" * 10**6, cause="c" * 10**6)
    assert len(report.html(several_runs(), [large] * 10)) < 1_000_000


def test_dead_letters_of_different_rules_are_preferred() -> None:
    many = [dataclasses.replace(each, rules=("a",)) for each in dead_letters(14)] * 5
    found = chosen([*many, *(dataclasses.replace(each, rules=("b", "c")) for each in dead_letters(3))])
    assert [each.rules[0] for each in found] == ["a", "b"] * 3 + ["a"] * 4
    assert chosen([]) == []
    assert replay_command("a b.yaml", "it's") == """kafka pipeline replay 'a b.yaml' --rule 'it'"'"'s'"""


@pytest.mark.parametrize(
    ("events", "contained"),
    [
        ([], "There are no events"),
        (Sample().run(0, ending=None).events, "no end recorded"),
        (Sample().run(1).events, "micro-batches 1"),
        (Sample().run(1, rows=0).events, "0 rows read"),
        (Sample().run(30, ending=None).pause(12).run(30).events, "1 killed"),
    ],
)
def test_few_events(events: list[Event], contained: str) -> None:
    page = report.html(events)
    assert contained in text(page)
    assert "nan" not in page
    assert "inf" not in re.sub(r"\binformation\b", "", page)


def test_counts_that_do_not_add_up_are_reported() -> None:
    wrong = {"s": SourceCounts(10, 6, 1, 1), "t": SourceCounts(4, 4, 0, 1)}
    page = report.html([Event("batch", "2026-11-27T14:00:00Z", NAME, batch=0, seconds=1.0, sources=wrong)])
    assert "The counts do not add up: 3 rows" in text(page)
    assert [row[-1] for row in rows_of(page, "Balance of each source")] == [
        "✗ 2 without an outcome",
        "✗ 1 counted more than once",
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("runs", "batches"), [(10, 5_000), (2_000, 3), (1, 20_000)])
def test_long_histories_stay_small(runs: int, batches: int) -> None:
    sample = Sample(sources=("a", "b"))
    for _ in range(runs):
        sample.run(batches, idle=3).pause(600)
    page = report.html(sample.events, dead_letters())
    assert len(page.encode()) < 2_000_000
    if runs > 1000:
        assert "The newest 200 of 2,000 runs." in text(page)
        assert "and 1,950 more" in text(page)


def test_a_declaration_may_be_given_or_unknown() -> None:
    events = [dataclasses.replace(each, declaration=None) for each in Sample().run(2).events]
    assert {row[2] for row in rows_of(report.html(events), "Rules")} == {"\N{EN DASH}"}
    given = {"source": {"topics": ("x", "y"), "rules": []}, "rules": [{"name": "shared", "holds": "true"}]}
    page = report.html(events, declaration={**given, "sink": {"url": "secret", "parquet": "/data/out"}})
    assert "x, y" in text(page)
    assert "parquet /data/out" in text(page)
    assert "secret" not in page
    assert "shared" in {row[0] for row in rows_of(page, "Rules")}


def test_shares() -> None:
    assert [share_text(part, 10_000) for part in (0, 1, 86, 1_234, 10_000)] == [
        "0 %",
        "0.01 %",
        "0.86 %",
        "12 %",
        "100 %",
    ]
    assert share_text(1, 10**9) == "< 0.01 %"
    assert share_text(0, 0) == "\N{EN DASH}"


def test_a_declaration_is_shown_without_its_secrets() -> None:
    declared = parse(
        """
        pipeline: flights
        description: Delays of <b>all</b> flights
        kafka: {bootstrap.servers: "localhost:9092", sasl.jaas.config: hunter2}
        source: {topic: flights, value: {format: json, schema: "a int, b int"}}
        sink: {postgresql: delays, url: "postgresql://me:hunter2@db/x", password: hunter2, key: a, order: b}
        dead_letters: {topic: flights.dead}
        """
    )
    page = report.html(Sample().run(1).events, declaration=declared)
    assert "Delays of <b>all</b> flights" in text(page)
    assert "postgresql delays" in text(page)
    assert "hunter2" not in page
