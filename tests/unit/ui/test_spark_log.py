"""The file of Spark's queries is read while it is being written."""

import json
import pathlib
from typing import Any

import pytest

from kafka.spark.monitoring.progress_reports import PartitionProgress, QueryProgress, SourceProgress, to_json
from kafka.structs import TopicPartition
from kafka.ui import spark_log
from kafka.ui.spark_log import SparkLog

pytestmark = pytest.mark.once


def line(batch: int, lag: int | None = 7, query: str = "flights") -> str:
    """Return the line that `kafka.spark.watch` writes for a micro-batch."""
    latest = None if lag is None else 100 + lag
    source = SourceProgress("s", 5, None, 2.5, {TopicPartition("t", 0): PartitionProgress(90, 100, latest, 3)})
    progress = QueryProgress("2026-01-31T12:00:00.000Z", query, "id", "run", batch, 1.5, 5, 0, 0, (source,))
    return to_json(progress) + "\n"


def batches(log: SparkLog, query: str = "flights") -> list[int]:
    log.read()
    return [each.number for each in log.queries.get(query, ())]


def test_the_output_of_watch_is_read(tmp_path: pathlib.Path) -> None:
    log = SparkLog(tmp_path / "progress.jsonl")
    assert batches(log) == []
    log.path.write_text(line(1) + line(2, lag=None))
    assert batches(log) == [1, 2]
    first, second = log.queries["flights"]
    assert (first.lag, first.rate, first.input_rate, first.rows, first.seconds, first.lost) == (7, 2.5, None, 5, 1.5, 3)
    assert first.time == 1769860800.0
    assert second.lag is None


def test_an_incomplete_line_waits_for_the_rest(tmp_path: pathlib.Path) -> None:
    log, whole = SparkLog(tmp_path / "progress.jsonl"), line(2)
    log.path.write_text(line(1) + whole[:30])
    assert batches(log) == [1]
    log.path.write_text(line(1) + whole)
    assert batches(log) == [1, 2]
    assert log.unread == 0


def test_a_replaced_file_is_read_from_its_start(tmp_path: pathlib.Path) -> None:
    log = SparkLog(tmp_path / "progress.jsonl")
    log.path.write_text(line(1) + line(2))
    assert batches(log) == [1, 2]
    log.path.write_text(line(3))
    assert batches(log) == [1, 2, 3]


@pytest.mark.slow
def test_only_the_end_of_a_long_file_is_read(tmp_path: pathlib.Path) -> None:
    log = SparkLog(tmp_path / "progress.jsonl")
    with log.path.open("w") as file:
        for at in range(20_000):
            file.write(line(at))
    found = batches(log)
    assert len(found) == 720
    assert found[-1] == 19_999
    assert log.unread == 0


@pytest.mark.parametrize(
    "bad",
    [
        "no json",
        "[]",
        "{}",
        "3",
        "[" * 100_000,
        json.dumps({"sources": 3}),
        line(1).replace('"2026-01-31T12:00:00.000Z"', '"yesterday"').strip(),
        line(1).replace('"batch":1', '"batch":1e999').strip(),
        line(1).replace('"lag":7', '"lag":"<b>"').strip(),
        line(1).replace('"lag":7', '"lag":1' + "0" * 400).strip(),
        line(1).replace('"seconds":1.5', '"seconds":NaN').strip(),
        line(1).replace('"seconds":1.5', '"seconds":Infinity').strip(),
    ],
)
def test_an_invalid_line_is_counted(tmp_path: pathlib.Path, bad: str) -> None:
    log = SparkLog(tmp_path / "progress.jsonl")
    log.path.write_text(bad + "\n" + line(2))
    assert batches(log) == [2]
    assert log.unread == 1


def test_an_overlong_line_does_not_stop_reading(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_log, "_AT_ONCE", 1_000)
    log = SparkLog(tmp_path / "progress.jsonl")
    log.path.write_text("x" * 2_500 + "\n" + line(2))
    for _ in range(5):
        log.read()
    assert batches(log) == [2]


def test_results_are_unaffected_by_later_reads(tmp_path: pathlib.Path) -> None:
    log = SparkLog(tmp_path / "progress.jsonl")
    log.path.write_text(line(1))
    before = log.read()
    log.path.write_text(line(1) + line(2) + line(1, query="other"))
    log.read()
    assert [each.number for each in before["flights"]] == [1]
    assert list(before) == ["flights"]


def test_a_folder_is_an_error(tmp_path: pathlib.Path) -> None:
    with pytest.raises(OSError, match="directory"):
        SparkLog(tmp_path).read()


def test_queries_are_kept_apart(tmp_path: pathlib.Path) -> None:
    log: Any = SparkLog(tmp_path / "progress.jsonl")
    log.path.write_text(line(1) + line(5, query="delays"))
    assert (batches(log), batches(log, "delays")) == ([1], [5])
