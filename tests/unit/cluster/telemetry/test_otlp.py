"""What is written as OTLP, read by OpenTelemetry's own classes."""

from __future__ import annotations

import pytest
from opentelemetry.proto.metrics.v1 import metrics_pb2

from kafka.cluster.telemetry.otlp import Measured, encode

NOW = 1_700_000_000_000_000_000
ROOM = 1 << 20


def read(data: bytes) -> list[metrics_pb2.Metric]:
    (resource,) = metrics_pb2.MetricsData.FromString(data).resource_metrics
    (scope,) = resource.scope_metrics
    return list(scope.metrics)


def attributes(of) -> dict[str, str]:
    return {each.key: each.value.string_value for each in of.attributes}


def test_a_gauge_has_its_value_time_and_attributes():
    given = Measured("a.latency.avg", {"node_id": "node-1", "topic": "ü"}, 2.5)
    (metric,) = read(encode([given], {}, NOW, True, ROOM).data)
    assert metric.name == "a.latency.avg"
    assert metric.WhichOneof("data") == "gauge"
    (point,) = metric.gauge.data_points
    assert (point.as_double, point.time_unix_nano, point.start_time_unix_nano) == (2.5, NOW, 0)
    assert attributes(point) == {"node_id": "node-1", "topic": "ü"}


@pytest.mark.parametrize(
    ("delta", "temporality"),
    [(True, metrics_pb2.AGGREGATION_TEMPORALITY_DELTA), (False, metrics_pb2.AGGREGATION_TEMPORALITY_CUMULATIVE)],
)
def test_a_sum_has_its_start_time_and_temporality(delta, temporality):
    (metric,) = read(encode([Measured("a.total", {}, 7.0, True, NOW - 5)], {}, NOW, delta, ROOM).data)
    assert metric.WhichOneof("data") == "sum"
    assert metric.sum.is_monotonic
    assert metric.sum.aggregation_temporality == temporality
    (point,) = metric.sum.data_points
    assert (point.as_double, point.start_time_unix_nano) == (7.0, NOW - 5)


def test_values_of_one_name_are_points_of_one_metric():
    given = [Measured("m", {"partition": str(number)}, float(number)) for number in range(300)]
    (metric,) = read(encode(given, {}, NOW, True, ROOM).data)
    assert [point.as_double for point in metric.gauge.data_points] == [float(number) for number in range(300)]
    assert [attributes(point)["partition"] for point in metric.gauge.data_points] == [str(n) for n in range(300)]


def test_the_resource_identifies_the_client():
    data = encode([Measured("m", {}, 0.0)], {"group_id": "g" * 200}, NOW, True, ROOM).data
    (resource,) = metrics_pb2.MetricsData.FromString(data).resource_metrics
    assert attributes(resource.resource) == {"group_id": "g" * 200}


def test_unencodable_text_is_replaced():
    (metric,) = read(encode([Measured("m", {"topic": "\udcff"}, 1.0)], {}, NOW, True, ROOM).data)
    assert attributes(metric.gauge.data_points[0]) == {"topic": "?"}


@pytest.mark.parametrize("room", [0, 100, 200, 333, 1000, 5_000, 20_000])
def test_metrics_are_encoded_up_to_the_limit(room):
    given = [
        Measured(f"metric.{number % 7}", {"partition": str(number)}, 1.0, number % 2 == 0) for number in range(400)
    ]
    data, taken = encode(given, {"group_id": "group"}, NOW, True, room)
    assert len(data) <= room
    found = [
        point
        for metric in (read(data) if data else ())
        for point in (*metric.gauge.data_points, *metric.sum.data_points)
    ]
    assert len(found) == taken
    assert sorted(int(attributes(point)["partition"]) for point in found) == list(range(taken))
    if taken < len(given):  # most of the room is used
        assert len(data) >= room - 24 * 16


def test_no_metrics_encode_to_no_bytes():
    assert encode([], {"group_id": "g"}, NOW, True, ROOM) == (b"", 0)
