"""kafka-python's import path of `BaseCoordinator`, from 1.0 to 2.x."""

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
