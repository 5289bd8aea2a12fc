"""Spark's progress reports: lag, rates, losses and sizes, in tables, for Prometheus, and as a figure."""

import json
import sys

import pytest

from kafka.spark.monitoring.progress_plot import LARGEST_DRAWN, plot_progress
from kafka.spark.monitoring.progress_reports import (
    PartitionProgress,
    describe_source,
    progress_frame,
    query_progress,
    to_json,
)
from kafka.spark.monitoring.prometheus_text import QueryState, prometheus_text
from kafka.spark.monitoring.query_monitor import Watch
from kafka.structs import TopicPartition

pytestmark = pytest.mark.once

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
OURS = "org.apache.spark.sql.execution.datasources.v2.python.PythonMicroBatchStream@1f2e3d"


def source(start, end, latest, **given):
    """Return a source of a report, with its offsets as JSON."""
    texts = [None if each is None else json.dumps(each) for each in (start, end, latest)]
    return {
        "description": OURS,
        **dict(zip(("startOffset", "endOffset", "latestOffset"), texts, strict=True)),
        "numInputRows": 7,
        "inputRowsPerSecond": 3.5,
        "processedRowsPerSecond": 14.0,
        **given,
    }


def report(*sources, **given):
    """Return a report in the form of Spark's JSON."""
    return {
        "id": "an-id",
        "runId": "a-run",
        "name": "flights",
        "timestamp": "2026-01-02T03:04:05.678Z",
        "batchId": 4,
        "numInputRows": 7,
        "durationMs": {"triggerExecution": 500},
        "stateOperators": [{"numRowsTotal": 20, "memoryUsedBytes": 4_000}, {"numRowsTotal": 1}],
        "sources": list(sources),
        **given,
    }


PLAIN = report(source({"t": {"0": 1, "1": 5}}, {"t": {"0": 4, "1": 9}}, {"t": {"0": 10, "1": 9}}))


def test_a_report_contains_the_read_and_the_remaining_offsets():
    progress = query_progress(PLAIN)
    (only,) = progress.sources
    assert only.partitions == {T0: PartitionProgress(1, 4, 10), T1: PartitionProgress(5, 9, 9)}
    assert [each.lag for each in only.partitions.values()] == [6, 0]
    assert [each.offsets for each in only.partitions.values()] == [3, 4]
    assert (only.lag, only.rows, only.input_rate, only.rate) == (6, 7, 3.5, 14.0)
    assert (progress.query, progress.batch, progress.seconds) == ("flights", 4, 0.5)
    assert (progress.state_rows, progress.state_bytes) == (21, 4_000)


def test_a_query_without_a_name_is_identified_by_its_id():
    assert query_progress({**PLAIN, "name": None}).query == "an-id"


def test_the_start_of_a_first_batch_comes_from_its_end():
    ends = {"t": {"0": 4}, "initial offsets of t": {"0": 3}}
    (carried,) = query_progress(report(source(None, ends, {"t": {"0": 4}}))).sources
    assert carried.partitions == {T0: PartitionProgress(3, 4, 4)}
    (unknown,) = query_progress(report(source(None, {"t": {"0": 4}}, None))).sources
    assert unknown.partitions == {T0: PartitionProgress(None, 4, None)}
    assert (unknown.partitions[T0].lag, unknown.partitions[T0].offsets, unknown.lag) == (None, None, None)


def test_lost_records_are_reported():
    newest = {"t": {"0": 10, "1": 9}, "lost records of t": {"1": 250}}
    (only,) = query_progress(report(source({"t": {"0": 1, "1": 5}}, {"t": {"0": 4, "1": 9}}, newest))).sources
    assert [each.lost for each in only.partitions.values()] == [0, 250]


def test_known_log_sizes_are_reported():
    newest = {"t": {"0": 10, "1": 9}, "log bytes of t": {"1": 2_500}}
    sized = report(source({"t": {"0": 1, "1": 5}}, {"t": {"0": 4, "1": 9}}, newest))
    (only,) = query_progress(sized).sources
    assert [each.log_bytes for each in only.partitions.values()] == [None, 2_500]
    assert [each["logBytes"] for each in json.loads(to_json(query_progress(sized)))["sources"][0]["partitions"]] == [
        None,
        2_500,
    ]
    found = samples(prometheus_text([standing(sized)]))
    assert found["kafka_spark_log_bytes", ("t", "1")] == 2_500
    assert ("kafka_spark_log_bytes", ("t", "0")) not in found
    assert progress_frame([query_progress(sized)])["log_bytes"].isna().tolist() == [True, False]


def test_other_sources_than_kafka_are_omitted():
    others = [{"description": "Rate", "endOffset": end} for end in (3, "7", '{"offset":3}', None, "no JSON")]
    assert query_progress(report(*others)).sources == ()


@pytest.mark.parametrize("rate", ["NaN", float("nan"), float("inf"), None])
def test_an_invalid_rate_is_omitted(rate):
    (only,) = query_progress(report(source({}, {}, {}, inputRowsPerSecond=rate))).sources
    assert only.input_rate is None
    assert "NaN" not in prometheus_text([standing(report(source({}, {}, {}, inputRowsPerSecond=rate)))])


def test_descriptions_stay_the_same():
    assert describe_source(OURS, {T0: 1}) == "kafka_columnar[t]"
    assert describe_source("KafkaV2[Subscribe[t]]", {T0: 1}) == "KafkaV2[Subscribe[t]]"
    many = {TopicPartition(name, 0): 1 for name in "gfedcba"}
    assert describe_source(OURS, many) == "kafka_columnar[a, b, c, d, e and 2 more]"


def test_sources_of_the_same_topic_are_numbered():
    twice = source({"t": {"0": 1}}, {"t": {"0": 4}}, {"t": {"0": 4}})
    names = [each.source for each in query_progress(report(twice, twice)).sources]
    assert names == ["kafka_columnar[t]", "kafka_columnar[t] #2"]


def test_a_line_of_json_has_every_partition():
    line = to_json(query_progress(PLAIN))
    assert "\n" not in line
    parsed = json.loads(line)
    assert parsed["sources"][0]["partitions"][0] == {
        "topic": "t", "partition": 0, "start": 1, "end": 4, "latest": 10, "lag": 6, "lost": 0, "logBytes": None,
    }  # fmt: skip
    assert (parsed["query"], parsed["batch"], parsed["rows"], parsed["stateBytes"]) == ("flights", 4, 7, 4_000)


def standing(*reports):
    made = QueryState("flights", "an-id")
    made.start()
    for each in reports:
        made.add(query_progress(each))
    return made


def samples(text):
    """Parse the samples of a text with prometheus_client, by name and labels."""
    from prometheus_client.parser import text_string_to_metric_families

    return {
        (sample.name, tuple(sample.labels.get(label) for label in ("topic", "partition"))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_prometheus_reads_the_text():
    found = samples(prometheus_text([standing(PLAIN, PLAIN)]))
    assert found["kafka_spark_lag_records", ("t", "0")] == 6
    assert found["kafka_spark_latest_offset", ("t", "1")] == 9
    assert found["kafka_spark_rows_total", (None, None)] == 14
    assert found["kafka_spark_batches_total", (None, None)] == 2
    assert found["kafka_spark_query_running", (None, None)] == 1
    assert found["kafka_spark_state_bytes", (None, None)] == 4_000


def test_names_with_quotes_do_not_break_the_text():
    odd = standing({**PLAIN, "name": 'a "b"\\\nc'})
    odd.query = 'a "b"\\\nc'
    assert samples(prometheus_text([odd]))["kafka_spark_lag_records", ("t", "0")] == 6


def test_counters_do_not_decrease_when_a_query_is_restarted():
    lossy = report(source({"t": {"0": 1}}, {"t": {"0": 4}}, {"t": {"0": 4}, "lost records of t": {"0": 5}}))
    query = standing(lossy)
    query.end(failed=True)
    query.start()
    lossless = report(source({"t": {"0": 1}}, {"t": {"0": 4}}, {"t": {"0": 4}}))
    query.add(query_progress(lossless))
    found = samples(prometheus_text([query]))
    assert found["kafka_spark_lost_records_total", ("t", "0")] == 5
    assert found["kafka_spark_query_failures_total", (None, None)] == 1
    query.add(query_progress(lossy))
    assert samples(prometheus_text([query]))["kafka_spark_lost_records_total", ("t", "0")] == 10


def test_a_watch_keeps_the_newest_and_writes_files(tmp_path):
    watch = Watch(tmp_path / "lines.jsonl", tmp_path / "metrics.prom", keep=3)
    watch._started("an-id", "flights")
    for batch in range(5):
        watch._progressed(json.dumps({**PLAIN, "batchId": batch}))
    assert [each.batch for each in watch.progress] == [2, 3, 4]
    assert watch.lag() == {"flights": 6}
    lines = (tmp_path / "lines.jsonl").read_text().splitlines()
    assert [json.loads(line)["batch"] for line in lines] == list(range(5))
    assert (tmp_path / "metrics.prom").read_text() == watch.prometheus()
    watch._terminated("an-id", "it broke")
    assert samples((tmp_path / "metrics.prom").read_text())["kafka_spark_query_running", (None, None)] == 0
    assert sorted(each.name for each in tmp_path.iterdir()) == ["lines.jsonl", "metrics.prom"]


def test_errors_of_a_watch_are_logged_once_and_not_propagated(tmp_path, caplog):
    watch = Watch(tmp_path / "missing" / "lines.jsonl")
    for _ in range(3):
        watch._safely(watch._progressed, json.dumps(PLAIN))
    assert len(caplog.records) == 1
    assert len(watch.progress) == 3


def test_a_frame_has_a_row_for_each_partition():
    frame = progress_frame([query_progress(PLAIN)] * 2)
    assert list(frame["lag"]) == [6, 0, 6, 0]
    assert str(frame["time"].dtype).startswith("datetime64")
    assert progress_frame([]).empty


def test_a_figure_shows_the_partitions_with_the_largest_lag():
    ends = {"t": dict.fromkeys(map(str, range(30)), 5)}
    newest = {"t": {str(number): 5 + number for number in range(30)}}
    figure = plot_progress([query_progress(report(source(ends, ends, newest)))] * 2)
    lag, rate, duration = figure.axes
    assert [line.get_label() for line in lag.lines] == [f"t-{number}" for number in range(20, 30)]
    assert len(lag.lines) == LARGEST_DRAWN
    assert [list(line.get_ydata()) for line in rate.lines] == [[14.0, 14.0]]
    assert [list(line.get_ydata()) for line in duration.lines] == [[0.5, 0.5]]
    plot_progress([])


def test_a_watch_shows_the_lag_and_names_the_extra_for_figures(monkeypatch):
    watch = Watch()
    assert repr(watch) == "<Watch: 0 micro-batches kept; lag: nothing seen yet>"
    watch._progressed(json.dumps(report(source({"t": {"0": 1}}, {"t": {"0": 3}}, {"t": {"0": 8}}))))
    assert repr(watch) == "<Watch: 1 micro-batches kept; lag: flights 5>"
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"plot\(\) needs matplotlib .*: pip install 'kafka-columnar\[plot\]'"):
        watch.plot()
