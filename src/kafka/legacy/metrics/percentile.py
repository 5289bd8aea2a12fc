"""`Percentile`: one percentile of `Percentiles`."""

from __future__ import annotations

from kafka.metrics.metric_name import MetricName


class Percentile:
    """A percentile and the name of its metric.

    Arguments:
        metric_name: the name.
        percentile: from 0 to 100.
    """

    __slots__ = ("_metric_name", "_percentile")

    def __init__(self, metric_name: MetricName, percentile: float) -> None:
        self._metric_name = metric_name
        self._percentile = float(percentile)

    @property
    def name(self) -> MetricName:
        """The name of its metric."""
        return self._metric_name

    @property
    def percentile(self) -> float:
        """From 0 to 100."""
        return self._percentile
