"""The options of our own clients for the cluster of a pipeline.

A declaration has the options of Kafka's Java clients in `kafka`, and options of the Spark source or sink. Those with
the prefix ``kafka.`` belong to the clients, too. To change how a pipeline's consumers and admin clients are
configured, change `client_configs`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kafka.config.java_names import read_java_names, trimmed
from kafka.consumer.bounds import NOT_FOR_READS

if TYPE_CHECKING:
    from kafka.pipelines.declaration import Declaration

_PREFIX = "kafka."
_PATIENCE = {"bootstrap_timeout_ms": 15_000}
"""The limit for the first connection, because commands should not wait a minute for a cluster that is down."""


def client_configs(
    declaration: Declaration, client: str = "consumer", options: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return the keyword arguments for a client of a pipeline's cluster.

    Arguments:
        declaration: the pipeline.
        client: "consumer" or "admin". The arguments for a consumer suit `kafka.read`.
        options: options of the Spark source or sink; those that begin with ``kafka.`` take precedence.

    Raises `KafkaConfigurationError` for an option that no client has, or with an invalid value.
    """
    given = dict(declaration.kafka)
    given |= {name.removeprefix(_PREFIX): value for name, value in (options or {}).items() if name.startswith(_PREFIX)}
    configs, _ = read_java_names(trimmed(given), client)
    left_out = {*NOT_FOR_READS, "isolation_level"} if client == "consumer" else set()
    return _PATIENCE | {name: value for name, value in configs.items() if name not in left_out}


def isolation_of_source(declaration: Declaration, options: Mapping[str, str]) -> str:
    """Return the isolation level at which a source is read: "read_committed", unless it is set."""
    name = "isolation.level"
    return options.get(_PREFIX + name) or declaration.kafka.get(name) or "read_committed"
