"""What the tests and benchmarks stand on: a real Apache Kafka, fetched and run on this machine, and its Java tools.

Imports nothing of the package but `kafka.wire` (in `topics`): a client that is broken cannot hide behind its own tests.
"""
