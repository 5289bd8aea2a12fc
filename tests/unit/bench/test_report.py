"""Tables, chart, files and the comparison of runs say what was measured."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from bench import compare
from bench.chart import bars, draw
from bench.report import MISSED, decoder_tables, markdown, missed
from bench.store import Run, load, save

from .results import ABOUT, latency_row, rate_row

pytestmark = pytest.mark.once


def line_of(report: str, client: str) -> list[str]:
    (line,) = (line for line in report.splitlines() if line.startswith("| `poll()`") and f"| {client} |" in line)
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_a_line_has_median_spread_ratio_and_what_was_asked() -> None:
    report = markdown([rate_row([6e6, 5e6, 7e6], [2e6, 2e6, 1e6])], "decoder", ABOUT)
    assert line_of(report, "kafka-columnar")[3:7] == ["6.000", "5.000 - 7.000", "", ""]
    assert line_of(report, "confluent-kafka")[3:7] == ["2.000", "1.000 - 2.000", "3.00", "2"]
    assert MISSED not in report


def test_what_was_missed_is_marked() -> None:
    rows = [rate_row([3e6], [2e6])]
    assert line_of(markdown(rows, "", ABOUT), "confluent-kafka")[6] == f"2 {MISSED}"
    assert missed(rows) == ["poll, 100 bytes, none: 1.50 times confluent-kafka (rate), asked 2"]


def test_what_failed_is_in_the_table() -> None:
    row = rate_row([3e6], [])
    del row.results["confluent"]
    row.failures["confluent"] = "no brokers"
    report = markdown([row], "", ABOUT)
    assert "failed: no brokers" in report
    widths = {line.count("|") for line in report.splitlines() if line.startswith("|")}
    assert len(widths) == 1


def test_a_run_is_read_as_it_was_written(tmp_path: Path) -> None:
    run = Run(ABOUT, [rate_row([3e6], [2e6]), latency_row([1.0, 2.0], [2.0, 3.0])])
    save(tmp_path / "run.json", run)
    assert load(tmp_path / "run.json") == run


def test_another_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text('{"rows": []}')
    with pytest.raises(SystemExit, match="not what `python -m bench` writes"):
        load(tmp_path / "other.json")


def test_a_ratio_has_to_hold_in_each_run() -> None:
    good, bad = Run(ABOUT, [rate_row([4e6], [1e6])]), Run(ABOUT, [rate_row([1e6], [1e6])])
    assert compare.compared([good, good, good])[0][3:] == ["2", "4.00", "4.00", "4.00", "yes"]
    assert compare.compared([good, bad, good])[0][3:] == ["2", "4.00", "1.00", "4.00", "in 2 of 3"]
    assert compare.compared([good, Run(ABOUT, [])])[0][3:] == ["2", "4.00", "-", "not measured in all"]


def test_latencies_are_compared_by_median_and_percentile() -> None:
    lines = compare.compared([Run(ABOUT, [latency_row([1.0, 1.0], [2.0, 2.0])])])
    assert [line[0] for line in lines] == ["round trip, median", "round trip, p99"]


@pytest.mark.parametrize(("ours", "status"), [(4e6, 0), (1e6, 1)])
def test_the_comparison_fails_if_something_does_not_hold(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    ours: float,
    status: int,
) -> None:
    save(tmp_path / "run.json", Run(ABOUT, [rate_row([ours], [1e6])]))
    monkeypatch.setattr(sys, "argv", ["compare", str(tmp_path / "run.json"), "--markdown"])
    try:
        compare.main()
        came = 0
    except SystemExit as end:
        came = int(str(end.code))
    assert came == status
    assert "| `poll()` | 100 bytes, none | confluent-kafka | 2 |" in capsys.readouterr().out


def test_the_chart_has_a_bar_for_each_ratio(tmp_path: Path) -> None:
    rows = [rate_row([6e6], [2e6]), latency_row([1.0, 1.0], [2.0, 2.0])]
    assert [(client, ratio) for _, client, ratio in bars(rows)] == [
        ("confluent", pytest.approx(2.0 + (n == 0))) for n in range(3)
    ]
    draw(rows, tmp_path / "chart.svg")
    assert "poll(), 100 bytes, none: confluent-kafka" in (tmp_path / "chart.svg").read_text()


def test_without_ratios_there_is_no_chart(tmp_path: Path) -> None:
    draw([rate_row([6e6], [])], tmp_path / "chart.svg")
    assert not (tmp_path / "chart.svg").exists()


def test_what_the_decoders_print_becomes_tables() -> None:
    figure = f"{'to_arrow':<58} {179.86:7.2f} M records/s  {6:7.0f} ns a record"
    assert decoder_tables("kafka.formats, compiled\n")[1] == "`kafka.formats`, compiled:"
    assert decoder_tables(f"values of seven fields\n{figure}\n{figure}\n") == [
        "",
        "Values of seven fields:",
        "",
        "| step | M records/s | ns a record |",
        "|---|---:|---:|",
        "| to_arrow | 179.86 | 6 |",
        "| to_arrow | 179.86 | 6 |",
    ]
