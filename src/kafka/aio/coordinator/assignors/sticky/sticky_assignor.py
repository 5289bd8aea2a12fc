"""aiokafka's import path of `StickyPartitionAssignor`."""

from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor

__all__ = ["StickyPartitionAssignor"]
