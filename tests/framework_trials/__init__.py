"""Trials of the programs of `examples/frameworks`, each in its framework's own environment: `make framework-trials`."""
