"""An import path of `NewPartitions`."""

from kafka.admin import NewPartitions as NewPartitions
