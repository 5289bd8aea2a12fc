"""aiokafka's import path of `RangePartitionAssignor`."""

from kafka.coordinator.assignors.range import RangePartitionAssignor

__all__ = ["RangePartitionAssignor"]
