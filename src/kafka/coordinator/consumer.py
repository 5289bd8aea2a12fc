"""kafka-python's import path of `ConsumerCoordinator`, from 1.0 to 2.x."""

from typing import Any

from kafka import _old_names
from kafka.legacy.coordinator.auto_commit import AutoCommitTask
from kafka.legacy.coordinator.consumer import ConsumerCoordinator
from kafka.legacy.coordinator.metrics import ConsumerCoordinatorMetrics

__all__ = ["AutoCommitTask", "ConsumerCoordinator", "ConsumerCoordinatorMetrics"]


def __getattr__(name: str) -> Any:
    """Load a name that this module had in kafka-python because it imported it."""
    return _old_names.of_a_package(__name__, name, {})
