"""`Percentiles`: percentiles of sampled values, computed with a `Histogram`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Protocol

from kafka.legacy.metrics.sampled_stat import AbstractSampledStat
from kafka.metrics.kafka_metric import AnonMeasurable, MetricConfig, MetricName
from kafka.metrics.stat import AbstractCompoundStat, NamedMeasurable


class BucketSizing:
    """How the bin widths are chosen."""

    CONSTANT = 0
    LINEAR = 1


class Percentiles(AbstractSampledStat, AbstractCompoundStat):
    """Percentiles of the values in the samples.

    Arguments:
        size_in_bytes: memory for the bins, which take four bytes each.
        bucketing: one of `BucketSizing`.
        max_val, min_val: the range of values covered by bins; with LINEAR it starts at 0.
        percentiles: the percentiles to report.

    Raises `ValueError` for invalid bins.
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
                raise ValueError(f"linear bins must start at 0, not at {min_val!r}")
            self.bin_scheme = Histogram.LinearBinScheme(self._buckets, max_val)
        else:
            raise ValueError(f"{bucketing!r} is not a BucketSizing")

    def stats(self) -> list[NamedMeasurable]:
        """See `AbstractCompoundStat`."""
        return [NamedMeasurable(each.name, AnonMeasurable(partial(self._at, each))) for each in self._percentiles]

    def _at(self, percentile: Percentile, config: MetricConfig, now: float) -> float:
        return self.value(config, now, percentile.percentile / 100.0)

    def value(self, config: MetricConfig, now: float, quantile: float) -> float:
        """Return the lower bound of the bin that contains a quantile (0 to 1); NaN if there are no values."""
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
        """Return the median."""
        return self.value(config, now, 0.5)

    def new_sample(self, time_ms: float) -> Percentiles.HistogramSample:
        """See `AbstractSampledStat`."""
        return self.HistogramSample(self.bin_scheme, time_ms)

    def update(self, sample: AbstractSampledStat.Sample, config: MetricConfig, value: float, time_ms: float) -> None:
        """See `AbstractSampledStat`."""
        assert isinstance(sample, self.HistogramSample)
        sample.histogram.record(value)

    class HistogramSample(AbstractSampledStat.Sample):
        """The values recorded in a time window, by bin.

        Arguments:
            scheme: the bins.
            now: the start of the window in milliseconds.
        """

        def __init__(self, scheme: BinScheme, now: float) -> None:
            super().__init__(0.0, now)
            self.histogram = Histogram(scheme)

        def reset(self, now: float) -> None:
            """Restart the sample with empty bins."""
            super().reset(now)
            self.histogram.clear()


class BinScheme(Protocol):
    """Maps values to bins."""

    @property
    def bins(self) -> int:
        """Number of bins."""

    def from_bin(self, b: int) -> float:
        """Return the lower bound of a bin."""

    def to_bin(self, x: float) -> int:
        """Return the bin for a value."""


class Histogram:
    """Counts values by bin.

    Arguments:
        bin_scheme: the bins.
    """

    __slots__ = ("_bin_scheme", "_count", "_hist")

    def __init__(self, bin_scheme: BinScheme) -> None:
        self._hist = [0.0] * bin_scheme.bins
        self._count = 0.0
        self._bin_scheme = bin_scheme

    def record(self, value: float) -> None:
        """Count a value."""
        self._hist[self._bin_scheme.to_bin(value)] += 1.0
        self._count += 1.0

    def value(self, quantile: float) -> float:
        """Return the lower bound of the bin that contains a quantile (0 to 1).

        Returns NaN if there are no values, and infinity for the last bin.
        """
        if not self._count:
            return math.nan
        seen = 0.0
        for index, count in enumerate(self._hist[:-1]):
            seen += count
            if seen / self._count > quantile:
                return self._bin_scheme.from_bin(index)
        return math.inf

    @property
    def counts(self) -> list[float]:
        """Number of values in each bin."""
        return self._hist

    def clear(self) -> None:
        """Reset all counts."""
        self._hist[:] = [0.0] * len(self._hist)
        self._count = 0.0

    def __str__(self) -> str:
        bins = [f"{self._bin_scheme.from_bin(index):.10f}:{count:.0f}" for index, count in enumerate(self._hist[:-1])]
        return "{" + ",".join([*bins, f"{math.inf}:{self._hist[-1]}"]) + "}"

    class ConstantBinScheme:
        """Bins of equal width, between a first bin for lower values and a last bin for higher values.

        Arguments:
            bins: number of bins, including the first and the last.
            min_val, max_val: the range that bins of equal width cover.

        Raises `ValueError` for fewer than two bins.
        """

        __slots__ = ("_bins", "_bucket_width", "_max", "_min")

        def __init__(self, bins: int, min_val: float, max_val: float) -> None:
            if bins < 2:
                raise ValueError(f"there must be at least 2 bins, not {bins!r}")
            self._bins = int(bins)
            self._min, self._max = float(min_val), float(max_val)
            self._bucket_width = (max_val - min_val) / (bins - 2)

        @property
        def bins(self) -> int:
            """Number of bins."""
            return self._bins

        def from_bin(self, b: int) -> float:
            """Return the lower bound of a bin."""
            if b == 0:
                return -math.inf
            return math.inf if b == self._bins - 1 else self._min + (b - 1) * self._bucket_width

        def to_bin(self, x: float) -> int:
            """Return the bin for a value."""
            if x < self._min:
                return 0
            return self._bins - 1 if x > self._max else int((x - self._min) / self._bucket_width + 1)

    class LinearBinScheme:
        """Bins that start at 0 and grow linearly in width; the last bin contains all higher values.

        Arguments:
            num_bins: number of bins.
            max_val: the lower bound of the last bin.
        """

        __slots__ = ("_bins", "_max", "_scale")

        def __init__(self, num_bins: int, max_val: float) -> None:
            self._bins = num_bins
            self._max = max_val
            self._scale = max_val / (num_bins * (num_bins - 1) / 2)

        @property
        def bins(self) -> int:
            """Number of bins."""
            return self._bins

        def from_bin(self, b: int) -> float:
            """Return the lower bound of a bin."""
            return math.inf if b == self._bins - 1 else b * (b + 1.0) / 2.0 * self._scale

        def to_bin(self, x: float) -> int:
            """Return the bin for a value. Raises `ValueError` for a negative value."""
            if x < 0.0:
                raise ValueError(f"values must not be negative, got {x!r}")
            return self._bins - 1 if x > self._max else int(math.sqrt(2.0 * x / self._scale + 0.25) - 0.5)


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
        """The name of the metric."""
        return self._metric_name

    @property
    def percentile(self) -> float:
        """The percentile, from 0 to 100."""
        return self._percentile
