"""Several scripted brokers that answer Metadata and FindCoordinator as one cluster."""

import random
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from kafka.structs import TopicPartition
from kafka.wire.api.find_coordinator import Coordinator, FindCoordinatorResponse
from kafka.wire.api.heartbeat import HeartbeatRequest, HeartbeatResponse
from kafka.wire.api.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from unit.net.scripted import ScriptedBroker

TP = TopicPartition("t", 0)
QUICK = {
    "reconnect_backoff_ms": 1,
    "reconnect_backoff_max_ms": 5,
    "retry_backoff_ms": 1,
    "retry_backoff_max_ms": 5,
    "request_timeout_ms": 3_000,
    "socket_connection_setup_timeout_ms": 3_000,
    "bootstrap_timeout_ms": 3_000,
}


def heartbeat() -> HeartbeatRequest:
    return HeartbeatRequest(group_id="g", generation_id=1, member_id="m")


class InOrder(random.Random):
    """Leaves things in their order, where the real client shuffles them."""

    def shuffle(self, x: Any) -> None:
        pass


class ScriptedCluster:
    """``leaders``: topic to (leader, epoch) of each partition; all is open to be changed by a test."""

    def __init__(self) -> None:
        self.brokers: list[ScriptedBroker] = []
        self.leaders: dict[str, list[tuple[int, int]]] = {}
        self.errors: dict[str, int] = {}
        self.ids: dict[str, uuid.UUID] = {}
        self.coordinator = 1
        self.coordinator_error = 0
        self.controller = 1

    def metadata(self, header: Any, request: Any) -> MetadataResponse:
        names = [each.name for each in request.topics or ()]
        if request.topics is None or (header.request_api_version == 0 and not names):
            names = [*self.leaders, *self.errors]
        return MetadataResponse(
            brokers=[MetadataResponseBroker(node_id=b.node_id, host=b.host, port=b.port) for b in self.brokers],
            cluster_id="scripted",
            controller_id=self.controller,
            topics=[self._topic(name) for name in names],
        )

    def _topic(self, name: str) -> MetadataResponseTopic:
        if name in self.errors or name not in self.leaders:
            return MetadataResponseTopic(name=name, error_code=self.errors.get(name, 3))
        partitions = [
            MetadataResponsePartition(
                partition_index=index, leader_id=leader, leader_epoch=epoch, replica_nodes=[1], isr_nodes=[1]
            )
            for index, (leader, epoch) in enumerate(self.leaders[name])
        ]
        topic_id = self.ids.setdefault(name, uuid.uuid4())
        return MetadataResponseTopic(name=name, topic_id=topic_id, partitions=partitions)

    def find_coordinator(self, header: Any, request: Any) -> FindCoordinatorResponse:
        found = next(b for b in self.brokers if b.node_id == self.coordinator)
        if header.request_api_version < 4:
            return FindCoordinatorResponse(
                error_code=self.coordinator_error, node_id=found.node_id, host=found.host, port=found.port
            )
        return FindCoordinatorResponse(
            coordinators=[
                Coordinator(
                    key=key,
                    node_id=found.node_id,
                    host=found.host,
                    port=found.port,
                    error_code=self.coordinator_error,
                )
                for key in request.coordinator_keys
            ]
        )

    async def add(self, node_id: int) -> ScriptedBroker:
        broker = ScriptedBroker(node_id)
        broker.on("Metadata", self.metadata)
        broker.on("FindCoordinator", self.find_coordinator)
        broker.on("Heartbeat", lambda *_: HeartbeatResponse(error_code=node_id))
        await broker.listen()
        self.brokers.append(broker)
        return broker


def asked(cluster: ScriptedCluster) -> int:
    """How many requests for metadata have come."""
    return sum(len(broker.requests("Metadata")) for broker in cluster.brokers)


@asynccontextmanager
async def scripted_cluster(nodes: int = 1) -> AsyncIterator[ScriptedCluster]:
    cluster = ScriptedCluster()
    for node_id in range(1, nodes + 1):
        await cluster.add(node_id)
    try:
        yield cluster
    finally:
        for broker in cluster.brokers:
            await broker.stop()
