"""An import path of `NewPartitions`, as a file for type checkers."""

from kafka.admin import NewPartitions as NewPartitions
