"""aiokafka's import path of `AbstractPartitionAssignor`."""

from kafka.coordinator.assignors.abstract import AbstractPartitionAssignor

__all__ = ["AbstractPartitionAssignor"]
