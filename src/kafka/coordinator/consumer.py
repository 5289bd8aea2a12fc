"""kafka-python's import path of `ConsumerCoordinator`, from 1.0 to 2.x."""

from kafka.legacy.coordinator.auto_commit import AutoCommitTask
from kafka.legacy.coordinator.consumer import ConsumerCoordinator
from kafka.legacy.coordinator.metrics import ConsumerCoordinatorMetrics

__all__ = ["AutoCommitTask", "ConsumerCoordinator", "ConsumerCoordinatorMetrics"]
