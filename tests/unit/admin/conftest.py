"""A cluster of two scripted brokers, and an admin client of each face."""

import asyncio
import functools
import uuid

import pytest

from kafka.admin import AsyncKafkaAdminClient, KafkaAdminClient
from kafka.wire import message_class
from kafka.wire.api.consumer_group_describe import ConsumerGroupDescribeResponse, DescribedGroup
from kafka.wire.api.get_telemetry_subscriptions import GetTelemetrySubscriptionsResponse
from unit.cluster.scripted_cluster import scripted_cluster

INSTANCE = uuid.UUID(int=714)
APIS = (
    *("CreateTopics", "DeleteTopics", "CreatePartitions", "DescribeConfigs", "AlterConfigs", "IncrementalAlterConfigs"),
    *("ListGroups", "DescribeGroups", "DeleteGroups", "OffsetFetch", "DeleteRecords", "ListOffsets"),
    *("ListTransactions", "DescribeTransactions", "WriteTxnMarkers", "AlterClientQuotas", "InitProducerId"),
    *("ConsumerGroupDescribe", "ShareGroupDescribe", "StreamsGroupDescribe", "OffsetCommit", "LeaveGroup"),
    *("DescribeShareGroupOffsets", "AlterShareGroupOffsets", "DeleteShareGroupOffsets"),
    *(
        "DescribeLogDirs",
        "AlterReplicaLogDirs",
        "DescribeAcls",
        "DeleteAcls",
        "ListConfigResources",
        "DescribeUserScramCredentials",
    ),
    "DeleteAcls",
    *("CreateDelegationToken", "RenewDelegationToken", "ExpireDelegationToken", "DescribeDelegationToken"),
    *("AddRaftVoter", "RemoveRaftVoter", "UnregisterBroker", "UnregisterController"),
    *("GetTelemetrySubscriptions", "PushTelemetry"),
)


def no_group(_, request):
    """The coordinator has none of these groups."""
    groups = [DescribedGroup(group_id=each, error_code=69) for each in request.group_ids]
    return ConsumerGroupDescribeResponse(groups=groups)


def no_metrics(*_):
    """Nobody has subscribed to clients' metrics."""
    return GetTelemetrySubscriptionsResponse(client_instance_id=INSTANCE)


class SyncAdmin:
    """A `KafkaAdminClient` whose blocking methods are awaited, as the brokers live on the test's loop."""

    def __init__(self, client):
        self.client = client

    def __getattr__(self, name):
        return functools.partial(asyncio.to_thread, getattr(self.client, name))


class AsyncAdmin:
    """An `AsyncKafkaAdminClient` in the same place."""

    def __init__(self, client):
        self.client = client

    def __getattr__(self, name):
        return getattr(self.client, name)


@pytest.fixture
async def cluster():
    async with scripted_cluster(2) as cluster:
        cluster.leaders = {"t": [(1, 0), (2, 0)]}
        for broker in cluster.brokers:
            for cls in (message_class(f"{api}Request") for api in APIS):
                broker.versions[cls.API_KEY] = (cls.MIN_VERSION, cls.MAX_VERSION)
            broker.on("ConsumerGroupDescribe", no_group)
            broker.on("GetTelemetrySubscriptions", no_metrics)
        yield cluster


def options(cluster):
    """The options of a client of this cluster that wastes no time."""
    return {
        "bootstrap_servers": [f"{broker.host}:{broker.port}" for broker in cluster.brokers],
        "request_timeout_ms": 3_000,
        "retry_backoff_ms": 1,
        "reconnect_backoff_ms": 1,
        "reconnect_backoff_max_ms": 5,
    }


@pytest.fixture(params=["sync", "async"])
async def admin(request, cluster):
    """An admin client of each face; its methods are awaited."""
    if request.param == "sync":
        client = await asyncio.to_thread(KafkaAdminClient, **options(cluster))
        yield SyncAdmin(client)
        await asyncio.to_thread(client.close)
    else:
        async with AsyncKafkaAdminClient(**options(cluster)) as client:
            yield AsyncAdmin(client)
