"""A cluster of two scripted brokers, and an admin client of it."""

import asyncio
import functools

import pytest

from kafka.admin import KafkaAdminClient
from kafka.wire import message_class
from unit.cluster.scripted_cluster import scripted_cluster

APIS = (
    *("CreateTopics", "DeleteTopics", "CreatePartitions", "DescribeConfigs", "AlterConfigs", "IncrementalAlterConfigs"),
    *("ListGroups", "DescribeGroups", "DeleteGroups", "OffsetFetch", "DeleteRecords", "ListOffsets"),
    *("ListTransactions", "DescribeTransactions", "WriteTxnMarkers", "AlterClientQuotas"),
)


class Admin:
    """A `KafkaAdminClient` whose blocking methods are awaited, as the brokers live on the test's loop."""

    def __init__(self, client):
        self.client = client

    def __getattr__(self, name):
        return functools.partial(asyncio.to_thread, getattr(self.client, name))


@pytest.fixture
async def cluster():
    async with scripted_cluster(2) as cluster:
        cluster.leaders = {"t": [(1, 0), (2, 0)]}
        for broker in cluster.brokers:
            for cls in (message_class(f"{api}Request") for api in APIS):
                broker.versions[cls.API_KEY] = (cls.MIN_VERSION, cls.MAX_VERSION)
        yield cluster


@pytest.fixture
async def admin(cluster):
    servers = [f"{broker.host}:{broker.port}" for broker in cluster.brokers]
    client = await asyncio.to_thread(
        KafkaAdminClient,
        bootstrap_servers=servers,
        request_timeout_ms=3_000,
        retry_backoff_ms=1,
        reconnect_backoff_ms=1,
        reconnect_backoff_max_ms=5,
    )
    yield Admin(client)
    await asyncio.to_thread(client.close)
