"""kafka-python's import path of `Heartbeat`, from 1.0 to 2.x."""

from kafka.legacy.coordinator.timing import Heartbeat

__all__ = ["Heartbeat"]
