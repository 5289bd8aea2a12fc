"""Results and rows for the tests of the benchmarks."""

from __future__ import annotations

from bench.circumstances import Circumstances
from bench.figures import Row, Target
from bench.job import Result

ABOUT = Circumstances("2030-01-02", "python -m bench", "3", "a machine", "3.11.0", "17.0.1", "4.3.1", {"x": "1"}, 9.0)


def result(rate: float = 0.0, trips: list[float] | None = None, peak_mb: float = 50.0) -> Result:
    """A result of one second."""
    return Result(1000, int(rate), 1.0, "00000000", 0.5, peak_mb, "1.0", trips or [])


def rate_row(ours: list[float], theirs: list[float], asked: float = 2.0) -> Row:
    """A row of rates against confluent-kafka."""
    results = {"ours": [result(rate) for rate in ours], "confluent": [result(rate) for rate in theirs]}
    targets = (Target("confluent", asked),)
    clients = ("ours", "confluent")
    return Row("poll", "`poll()`", "100 bytes, none", "rate", clients, targets, results)


def latency_row(ours: list[float], theirs: list[float]) -> Row:
    """A row of trips, in milliseconds, of one round."""
    results = {"ours": [result(trips=ours)], "confluent": [result(trips=theirs)]}
    targets = (Target("confluent", 1.0, "median"), Target("confluent", 1.0, "p99"))
    return Row("round-trip", "round trip", "100 bytes, none", "latency", ("ours", "confluent"), targets, results)
