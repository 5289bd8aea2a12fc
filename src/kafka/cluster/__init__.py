"""A client's view of the cluster: the metadata, the connections to brokers, and the routing of requests.

Layer 4. Imports `kafka.net`, `kafka.wire` and layer 0. Everything runs on one event loop; only the immutable
`kafka.cluster.metadata_snapshot.ClusterMetadata` may be read from other threads.
"""

from typing import Any

from kafka import _old_names
from kafka.cluster.backoff import Backoff
from kafka.cluster.cluster_client import ClusterClient
from kafka.cluster.log_limiter import LogLimiter
from kafka.cluster.protocols import (
    BrokerConnection,
    BrokerConnections,
    BrokerRequests,
    ClusterAccess,
    CoordinatorKind,
    CoordinatorRequests,
    MetadataAccess,
)
from kafka.cluster.retry import Attempts, RetryPolicy, anything_unexpected, refused_for_good

__all__ = [
    "Attempts",
    "Backoff",
    "BrokerConnection",
    "BrokerConnections",
    "BrokerRequests",
    "ClusterAccess",
    "ClusterClient",
    "CoordinatorKind",
    "CoordinatorRequests",
    "LogLimiter",
    "MetadataAccess",
    "RetryPolicy",
    "anything_unexpected",
    "refused_for_good",
]

_HOMES = {"ClusterMetadata": "kafka.legacy.client_async.cluster_metadata", "collect_hosts": "kafka.conn"}


def __getattr__(name: str) -> Any:
    """Load a name that kafka-python's module ``kafka.cluster`` defined."""
    return _old_names.of_a_package(__name__, name, _HOMES)
