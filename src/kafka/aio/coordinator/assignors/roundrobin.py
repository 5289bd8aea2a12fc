"""aiokafka's import path of `RoundRobinPartitionAssignor`."""

from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor

__all__ = ["RoundRobinPartitionAssignor"]
