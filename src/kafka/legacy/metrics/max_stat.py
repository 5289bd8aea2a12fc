"""`Max`: the largest value."""

from __future__ import annotations

from collections.abc import Sequence

from kafka.legacy.metrics.sampled_stat import AbstractSampledStat
from kafka.metrics.metric_config import MetricConfig


class Max(AbstractSampledStat):
    """The largest value in the samples; minus infinity if there are none."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(float("-inf"))

    def update(self, sample: AbstractSampledStat.Sample, config: MetricConfig, value: float, now: float) -> None:
        """See `AbstractSampledStat`."""
        sample.value = max(sample.value, value)

    def combine(self, samples: Sequence[AbstractSampledStat.Sample], config: MetricConfig, now: float) -> float:
        """See `AbstractSampledStat`."""
        return max((sample.value for sample in samples), default=float("-inf"))
