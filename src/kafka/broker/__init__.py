"""An embedded Kafka broker for development and tests: real TCP connections, logs on disk, groups and transactions.

It is a single node without replication, TLS, authorization or log compaction; use Apache Kafka in production. It
imports only `kafka.wire`, `kafka.record`, `kafka.formats`, `kafka.errors` and the standard library, so it is a second
opinion on the clients.

From the top down: `embedded` runs a `broker_server`. Its `client_connection`s pass requests to the handlers in `api`,
which use the parts that `broker` assembles: topics (`topic_store`) with their `log`, `groups`, `transactions`, `share`
groups and `fetch_sessions`. `registry` is the broker's schema registry.
"""

from typing import TYPE_CHECKING, Any

from kafka import _old_names

if TYPE_CHECKING:
    from kafka.broker.embedded import EmbeddedBroker as EmbeddedBroker
    from kafka.broker.embedded import run as run

__all__ = ["EmbeddedBroker", "run"]

_HOMES = dict.fromkeys(__all__, "kafka.broker.embedded")


def __getattr__(name: str) -> Any:
    """Load the broker on first use, because `kafka broker --help` needs only its settings."""
    return _old_names.of_a_package(__name__, name, _HOMES)
