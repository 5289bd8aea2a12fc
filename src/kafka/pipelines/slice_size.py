"""The size of the slices of replays and backfills, which the help of the commands shows without loading a pipeline."""

SLICE = 500_000
"""Default for the maximum number of offsets in a slice."""
