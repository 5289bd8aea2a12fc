"""`Min`: the smallest value."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from kafka.legacy.metrics.sampled_stat import AbstractSampledStat
from kafka.metrics.metric_config import MetricConfig


class Min(AbstractSampledStat):
    """The smallest value in the samples; `sys.maxsize` if there are none."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(float(sys.maxsize))

    def update(self, sample: AbstractSampledStat.Sample, config: MetricConfig, value: float, now: float) -> None:
        """See `AbstractSampledStat`."""
        sample.value = min(sample.value, value)

    def combine(self, samples: Sequence[AbstractSampledStat.Sample], config: MetricConfig, now: float) -> float:
        """See `AbstractSampledStat`."""
        return min((sample.value for sample in samples), default=float(sys.maxsize))
