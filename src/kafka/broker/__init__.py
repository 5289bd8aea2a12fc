"""The embedded broker: Kafka's protocol on real TCP, logs on disk, groups; for development and tests.

It is a single node without replication, TLS, authorization and compaction; production is Apache Kafka. It imports only
`kafka.wire`, `kafka.record`, `kafka.formats`, `kafka.errors` and the standard library, so that it is a second opinion
on the clients.

Top down: `embedded` runs a `server`, which passes each `client_connection` to the handlers in `api`; those work on the
parts in `broker`: `topics` with their `log`, `groups`, `fetch_sessions`. `registry` is the broker's schema registry.
"""

from kafka.broker.embedded import EmbeddedBroker, run

__all__ = ["EmbeddedBroker", "run"]
