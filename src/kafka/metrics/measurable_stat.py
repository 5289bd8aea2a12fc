"""`AbstractMeasurableStat`: what is fed by a sensor and has one value."""

from __future__ import annotations

from abc import ABC

from kafka.metrics.measurable import AbstractMeasurable
from kafka.metrics.stat import AbstractStat


class AbstractMeasurableStat(AbstractStat, AbstractMeasurable, ABC):
    """A quantity such as an average or a maximum; `kafka.metrics.stats` offers them."""
