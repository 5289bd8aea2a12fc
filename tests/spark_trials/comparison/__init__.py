"""Programs that run on Spark's own Kafka connector and on this one, with the same results or a documented difference.

`trial` is what a program sees; `reads`, `streams`, `sinks` and `faults` contain the programs; `PROGRAMS` lists all. A
program that differs on purpose says so, and must differ.
"""
