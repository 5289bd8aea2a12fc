"""Programs that run on Spark's own Kafka connector and on ours, and what each of them gave: the same, or told apart.

`trial` is what a program sees, `reads`, `streams`, `sinks` and `faults` are the programs; `PROGRAMS` lists all. Where a
program differs on purpose it says so, and has to differ.
"""
