"""`Histogram`: how many values are in which bin."""

from __future__ import annotations

import math
from typing import Protocol


class BinScheme(Protocol):
    """Which value belongs into which bin."""

    @property
    def bins(self) -> int:
        """How many bins there are."""

    def from_bin(self, b: int) -> float:
        """The least value of a bin."""

    def to_bin(self, x: float) -> int:
        """The bin of a value."""


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
        """The least value of the bin in which a quantile (0 to 1) is; NaN without values, infinity in the last bin."""
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
        """How many values each bin has."""
        return self._hist

    def clear(self) -> None:
        """Forget all values."""
        self._hist[:] = [0.0] * len(self._hist)
        self._count = 0.0

    def __str__(self) -> str:
        bins = [f"{self._bin_scheme.from_bin(index):.10f}:{count:.0f}" for index, count in enumerate(self._hist[:-1])]
        return "{" + ",".join([*bins, f"{math.inf}:{self._hist[-1]}"]) + "}"

    class ConstantBinScheme:
        """Bins of equal width; the first and the last have what is below and above them.

        Arguments:
            bins: how many, with these two.
            min_val, max_val: where the others begin and end.

        Raises `ValueError` for fewer than two.
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
            """How many there are."""
            return self._bins

        def from_bin(self, b: int) -> float:
            """The least value of a bin."""
            if b == 0:
                return -math.inf
            return math.inf if b == self._bins - 1 else self._min + (b - 1) * self._bucket_width

        def to_bin(self, x: float) -> int:
            """The bin of a value."""
            if x < self._min:
                return 0
            return self._bins - 1 if x > self._max else int((x - self._min) / self._bucket_width + 1)

    class LinearBinScheme:
        """Bins from 0 on, each wider than the one before by the same width; the last has what is above.

        Arguments:
            num_bins: how many.
            max_val: where the last begins.
        """

        __slots__ = ("_bins", "_max", "_scale")

        def __init__(self, num_bins: int, max_val: float) -> None:
            self._bins = num_bins
            self._max = max_val
            self._scale = max_val / (num_bins * (num_bins - 1) / 2)

        @property
        def bins(self) -> int:
            """How many there are."""
            return self._bins

        def from_bin(self, b: int) -> float:
            """The least value of a bin."""
            return math.inf if b == self._bins - 1 else b * (b + 1.0) / 2.0 * self._scale

        def to_bin(self, x: float) -> int:
            """The bin of a value. Raises `ValueError` for a negative one."""
            if x < 0.0:
                raise ValueError(f"values begin at 0, not {x!r}")
            return self._bins - 1 if x > self._max else int(math.sqrt(2.0 * x / self._scale + 0.25) - 0.5)
