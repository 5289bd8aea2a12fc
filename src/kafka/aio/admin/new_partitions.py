"""aiokafka's import path of `NewPartitions`; a file, so that type checkers find it."""

from kafka.admin import NewPartitions as NewPartitions
