"""What a `KafkaClient` tells about its nodes, and about what they serve."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from kafka.cluster import ClusterClient
from kafka.errors import IncompatibleBrokerVersion
from kafka.legacy.client_async.cluster_metadata import ClusterMetadata
from kafka.legacy.client_async.node_connections import Node, NodeConnections, NodeId
from kafka.net import LoopThread


class NodeStates:
    """The methods of a client that look at nodes."""

    cluster: ClusterMetadata
    check_version: Callable[..., tuple[int, ...]]
    _api_versions: dict[int, tuple[int, int]]
    _nodes: NodeConnections
    _core: ClusterClient
    _loop_thread: LoopThread
    _max_in_flight: int
    _refreshing: bool

    def _node(self, node_id: NodeId) -> Node:
        return self._nodes.nodes.get(node_id) or Node()

    def maybe_connect(self, node_id: NodeId, wakeup: bool = True) -> bool:
        """Begin to connect to a node; False if there is no such node, or it failed a moment ago."""
        return self.cluster.broker_metadata(node_id) is not None and self._nodes.connect(node_id)

    def ready(self, node_id: NodeId, metadata_priority: bool = True) -> bool:
        """Whether a node takes requests; if not, connecting to it has begun, and `poll` waits for that."""
        self.maybe_connect(node_id)
        return self.is_ready(node_id, metadata_priority)

    def is_ready(self, node_id: NodeId, metadata_priority: bool = True) -> bool:
        """Whether a node takes requests: it is connected, has room, and no metadata are due."""
        if metadata_priority and (self._refreshing or self.cluster.ttl() <= 0):
            return False
        return self._can_send(self._node(node_id))

    def _is_connecting(self, names: tuple[Any, ...]) -> bool:
        """Whether a node with one of these names is being connected."""
        return any(node.connecting for node_id, node in list(self._nodes.nodes.items()) if str(node_id) in names)

    def _can_send(self, node: Node) -> bool:
        return node.is_connected and node.in_flight < self._max_in_flight

    def connected(self, node_id: NodeId) -> bool:
        """Whether a node is connected."""
        return self._node(node_id).is_connected

    def is_disconnected(self, node_id: NodeId) -> bool:
        """Whether a node was to be connected, and is not."""
        node = self._nodes.nodes.get(node_id)
        return node is not None and not node.is_connected and not node.connecting

    def connection_failed(self, node_id: NodeId) -> bool:
        """Whether the last attempt to connect to a node failed."""
        return self.is_disconnected(node_id) and self._node(node_id).failures > 0

    def connection_delay(self, node_id: NodeId) -> float:
        """In how many milliseconds a node that failed may be tried again."""
        return self._node(node_id).delay_s * 1000

    def throttle_delay(self, node_id: NodeId) -> int:
        """Always 0: connections keep requests back by themselves while a broker throttles."""
        return 0

    def least_loaded_node(self) -> Any:
        """The id of the connected node with the least in flight, or else of any that may be tried; None: of none."""
        found = [broker.nodeId for broker in self.cluster.brokers()]
        random.shuffle(found)
        nodes = [(self._node(node_id), node_id) for node_id in found]
        usable = [(not node.is_connected, node.in_flight, node_id) for node, node_id in nodes if node.delay_s <= 0]
        return min(usable, key=lambda each: each[:2])[2] if usable else None

    def least_loaded_node_refresh_ms(self) -> float:
        """In how many milliseconds there is a node to try."""
        return min((self.connection_delay(broker.nodeId) for broker in self.cluster.brokers()), default=0.0)

    def in_flight_request_count(self, node_id: NodeId | None = None) -> int:
        """How many requests to a node, or to all, have no answer yet."""
        nodes = list(self._nodes.nodes.values()) if node_id is None else [self._node(node_id)]
        return sum(node.in_flight for node in nodes)

    def bootstrap_connected(self) -> bool:
        """Whether a broker is connected."""

        async def look() -> bool:
            brokers = self._core.metadata.brokers()
            return any(self._core.ready_connection(each.nodeId) is not None for each in brokers)

        return self._loop_thread.run(look())

    def get_api_versions(self) -> dict[int, tuple[int, int]]:
        """API key to lowest and highest version, of the broker that was asked last; one is asked if none was yet."""
        if not self._api_versions:
            self.check_version()
        return self._api_versions

    def api_version(self, operation: Any, max_version: int | None = None) -> int:
        """The newest version of a request that the broker serves, and `operation` has.

        Arguments:
            operation: the classes of a request by version, as in `kafka.protocol`.

        Raises `IncompatibleBrokerVersion` if there is none.
        """
        newest = len(operation) - 1 if max_version is None else min(len(operation) - 1, max_version)
        name = operation[0].__name__
        versions = self.get_api_versions()
        if operation[0].API_KEY not in versions:
            raise IncompatibleBrokerVersion(f"Kafka broker does not support the '{name}' Kafka protocol.")
        oldest, served = versions[operation[0].API_KEY]
        if min(newest, served) < oldest:
            raise IncompatibleBrokerVersion(
                f"No version of the '{name}' Kafka protocol is supported by both the client and broker."
            )
        return min(newest, served)
