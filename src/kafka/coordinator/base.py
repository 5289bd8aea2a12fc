"""kafka-python's import path of `BaseCoordinator`, from 1.0 to 2.x."""

from typing import Any

from kafka import _old_names
from kafka.legacy.coordinator.base import BaseCoordinator
from kafka.legacy.coordinator.metrics import GroupCoordinatorMetrics
from kafka.legacy.coordinator.states import Generation, MemberState, UnjoinedGroupException
from kafka.legacy.coordinator.tasks import HeartbeatTask, HeartbeatThread

__all__ = [
    "BaseCoordinator",
    "Generation",
    "GroupCoordinatorMetrics",
    "HeartbeatTask",
    "HeartbeatThread",
    "MemberState",
    "UnjoinedGroupException",
]


def __getattr__(name: str) -> Any:
    """Load a name that this module had in kafka-python because it imported it."""
    return _old_names.of_a_package(__name__, name, {})
