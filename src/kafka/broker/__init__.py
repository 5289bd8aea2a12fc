"""The embedded broker: Kafka's protocol on real TCP, logs on disk, groups; for development and tests.

It is one node without replication, TLS, authorization and compaction; production is Apache Kafka. Imports `kafka.wire`,
`kafka.record`, `kafka.formats`, `kafka.errors` and the standard library only, so that it is a second opinion on the
clients. Top down: `embedded` runs a `server`, which hands each `connection` to the handlers in `api`; those work on the
parts in `context`: `topics` with their `log`, `groups`, fetch `sessions`.
`registry` is the schema registry beside it.
"""

from kafka.broker.embedded import EmbeddedBroker, run

__all__ = ["EmbeddedBroker", "run"]
