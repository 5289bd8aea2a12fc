"""`MetricConfig`: over which time, and with which bound, a metric is worked out."""

from __future__ import annotations

import sys

from kafka.metrics.quota import Quota


class MetricConfig:
    """How a metric is worked out. Values are gathered in samples, of which the last few count.

    Arguments:
        quota: a bound that recording may not lead past.
        samples: how many samples count.
        event_window: with so many values a sample is full.
        time_window_ms: after so many milliseconds it is full, too.
        tags: those of every metric in the registry.

    Raises `ValueError` for fewer than one sample.
    """

    __slots__ = ("_samples", "event_window", "quota", "tags", "time_window_ms")

    def __init__(
        self,
        quota: Quota | None = None,
        samples: int = 2,
        event_window: int = sys.maxsize,
        time_window_ms: float = 30 * 1000,
        tags: dict[str, str] | None = None,
    ) -> None:
        self.quota = quota
        self.samples = samples
        self.event_window = event_window
        self.time_window_ms = time_window_ms
        self.tags = tags or {}

    @property
    def samples(self) -> int:
        """How many samples count."""
        return self._samples

    @samples.setter
    def samples(self, value: int) -> None:
        if value < 1:
            raise ValueError(f"at least one sample must count, not {value!r}")
        self._samples = value
