"""A scripted cluster of three brokers that leads topic `t`, and clients of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from kafka.cluster import ClusterClient
from kafka.config import parse_admin
from unit.cluster.scripted_cluster import QUICK, InOrder, ScriptedCluster, scripted_cluster


@pytest.fixture
async def cluster() -> AsyncIterator[ScriptedCluster]:
    async with scripted_cluster(3) as cluster:
        cluster.leaders = {"t": [(2, 5), (3, 5)]}
        yield cluster


@pytest.fixture
async def make_client() -> AsyncIterator[Any]:
    clients = []

    def make(cluster: ScriptedCluster, *, brokers: Any = None, **configs: Any) -> ClusterClient:
        servers = [f"{b.host}:{b.port}" for b in brokers or cluster.brokers]
        parsed = parse_admin({**QUICK, "bootstrap_servers": servers, **configs})
        clients.append(ClusterClient(parsed.connection, parsed.security, InOrder()))
        return clients[-1]

    yield make
    for client in clients:
        await client.close()


@pytest.fixture
async def client(cluster: ScriptedCluster, make_client: Any) -> ClusterClient:
    client: ClusterClient = make_client(cluster)
    client.watch_topics({"t"})
    await client.start()
    return client
