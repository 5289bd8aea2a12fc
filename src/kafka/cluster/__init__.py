"""The cluster as a client sees it: its metadata, the connections to its brokers, and who is asked for what.

Layer 4. Imports `kafka.net`, `kafka.wire` and layer 0. Everything runs on one event loop; only the immutable
`ClusterMetadata` may be read from other threads.
"""

from kafka.cluster.backoff import Backoff, retry
from kafka.cluster.client import ClusterClient
from kafka.cluster.metadata import ClusterMetadata

__all__ = ["Backoff", "ClusterClient", "ClusterMetadata", "retry"]
