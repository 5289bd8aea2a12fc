"""aiokafka's import path for `NewPartitions`; a separate file, so that type checkers find it."""

from kafka.admin import NewPartitions as NewPartitions
