"""The cluster as a client sees it: its metadata, the connections to its brokers, and which broker a request goes to.

Layer 4. Imports `kafka.net`, `kafka.wire` and layer 0. Everything runs on one event loop; only the immutable
`ClusterMetadata` may be read from other threads.
"""

from kafka.cluster.backoff import Backoff
from kafka.cluster.client import ClusterClient
from kafka.cluster.log_limiter import LogLimiter
from kafka.cluster.metadata import ClusterMetadata
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
    "ClusterMetadata",
    "CoordinatorKind",
    "CoordinatorRequests",
    "LogLimiter",
    "MetadataAccess",
    "RetryPolicy",
    "anything_unexpected",
    "refused_for_good",
]
