"""`AbstractStat`: what is fed by a sensor."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kafka.metrics.metric_config import MetricConfig


class AbstractStat(ABC):
    """A quantity that is worked out of the values that a `Sensor` records."""

    @abstractmethod
    def record(self, config: MetricConfig, value: float, time_ms: float) -> None:
        """Take in a value that was seen at a time."""
