"""A scripted cluster of three brokers that leads topic `t`, and clients of it."""

from __future__ import annotations

import asyncio
import socket
import struct
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


@pytest.fixture
async def hangs_up():
    """A port where connections are taken and closed at once, as a load balancer without a live backend does."""

    taken = []

    def take(reader, writer):
        taken.append(1)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    server = await asyncio.start_server(take, "127.0.0.1", 0)
    yield server.sockets[0].getsockname()[1], taken
    server.close()
    await server.wait_closed()


@pytest.fixture
def dials(monkeypatch):
    """Counts attempts to connect by port, and the most that are under way at a time."""

    class Dials:
        def __init__(self):
            self.ports, self.now, self.most = [], 0, 0

    from kafka.cluster import bootstrap, pool

    dials, real = Dials(), pool.open_connection

    async def counted(host, port, *rest):
        dials.ports.append(port)
        dials.now += 1
        dials.most = max(dials.most, dials.now)
        try:
            await asyncio.sleep(0)
            return await real(host, port, *rest)
        finally:
            dials.now -= 1

    for module in (bootstrap, pool):
        monkeypatch.setattr(module, "open_connection", counted)
    return dials
