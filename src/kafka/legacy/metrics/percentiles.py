"""`Percentiles`: percentiles of sampled values, by histograms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from kafka.legacy.metrics.histogram import BinScheme, Histogram
from kafka.legacy.metrics.percentile import Percentile
from kafka.legacy.metrics.sampled_stat import AbstractSampledStat
from kafka.metrics.compound_stat import AbstractCompoundStat, NamedMeasurable
from kafka.metrics.measurable import AnonMeasurable
from kafka.metrics.metric_config import MetricConfig


class BucketSizing:
    """How wide the bins are."""

    CONSTANT = 0
    LINEAR = 1


class Percentiles(AbstractSampledStat, AbstractCompoundStat):
    """Percentiles of the values in the samples.

    Arguments:
        size_in_bytes: four for each bin.
        bucketing: one of `BucketSizing`.
        max_val, min_val: the values that are told apart; with LINEAR they begin at 0.
        percentiles: those that are shown.

    Raises `ValueError` for bins that cannot be.
    """

    def __init__(
        self,
        size_in_bytes: int,
        bucketing: int,
        max_val: float,
        min_val: float = 0.0,
        percentiles: Sequence[Percentile] | None = None,
    ) -> None:
        super().__init__(0.0)
        self._percentiles = percentiles or []
        self._buckets = int(size_in_bytes / 4)
        self.bin_scheme: BinScheme
        if bucketing == BucketSizing.CONSTANT:
            self.bin_scheme = Histogram.ConstantBinScheme(self._buckets, min_val, max_val)
        elif bucketing == BucketSizing.LINEAR:
            if min_val != 0.0:
                raise ValueError(f"bins of growing width begin at 0, not at {min_val!r}")
            self.bin_scheme = Histogram.LinearBinScheme(self._buckets, max_val)
        else:
            raise ValueError(f"{bucketing!r} is not a way to size bins")

    def stats(self) -> list[NamedMeasurable]:
        """See `AbstractCompoundStat`."""
        return [NamedMeasurable(each.name, AnonMeasurable(partial(self._at, each))) for each in self._percentiles]

    def _at(self, percentile: Percentile, config: MetricConfig, now: float) -> float:
        return self.value(config, now, percentile.percentile / 100.0)

    def value(self, config: MetricConfig, now: float, quantile: float) -> float:
        """The least value of the bin in which a quantile (0 to 1) is; NaN without values."""
        self.purge_obsolete_samples(config, now)
        samples = [sample for sample in self._samples if isinstance(sample, self.HistogramSample)]
        count = sum(sample.event_count for sample in samples)
        if not count:
            return math.nan
        seen = 0.0
        for index in range(self._buckets):
            seen += sum(sample.histogram.counts[index] for sample in samples)
            if seen / count > quantile:
                return self.bin_scheme.from_bin(index)
        return math.inf

    def combine(self, samples: Sequence[AbstractSampledStat.Sample], config: MetricConfig, now: float) -> float:
        """The median."""
        return self.value(config, now, 0.5)

    def new_sample(self, time_ms: float) -> Percentiles.HistogramSample:
        """See `AbstractSampledStat`."""
        return self.HistogramSample(self.bin_scheme, time_ms)

    def update(self, sample: AbstractSampledStat.Sample, config: MetricConfig, value: float, time_ms: float) -> None:
        """See `AbstractSampledStat`."""
        assert isinstance(sample, self.HistogramSample)
        sample.histogram.record(value)

    class HistogramSample(AbstractSampledStat.Sample):
        """The values of a window, by bin.

        Arguments:
            scheme: the bins.
            now: when it begins, in milliseconds.
        """

        def __init__(self, scheme: BinScheme, now: float) -> None:
            super().__init__(0.0, now)
            self.histogram = Histogram(scheme)

        def reset(self, now: float) -> None:
            """Begin anew, with empty bins."""
            super().reset(now)
            self.histogram.clear()
