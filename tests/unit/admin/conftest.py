"""A cluster of two scripted brokers, with a synchronous and an asyncio admin client."""

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
    """Respond that the coordinator knows none of these groups."""
    groups = [DescribedGroup(group_id=each, error_code=69) for each in request.group_ids]
    return ConsumerGroupDescribeResponse(groups=groups)


def no_metrics(*_):
    """Respond that there are no subscriptions to client metrics."""
    return GetTelemetrySubscriptionsResponse(client_instance_id=INSTANCE)


class SyncAdmin:
    """Makes the blocking methods of a `KafkaAdminClient` awaitable, because the brokers run on the test's loop."""

    def __init__(self, client):
        self.client = client

    def __getattr__(self, name):
        return functools.partial(asyncio.to_thread, getattr(self.client, name))


class AsyncAdmin:
    """Wraps an `AsyncKafkaAdminClient`, as a counterpart of `SyncAdmin`."""

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
    """Return options for a client of this cluster, with short pauses."""
    return {
        "bootstrap_servers": [f"{broker.host}:{broker.port}" for broker in cluster.brokers],
        "request_timeout_ms": 3_000,
        "retry_backoff_ms": 1,
        "reconnect_backoff_ms": 1,
        "reconnect_backoff_max_ms": 5,
    }


@pytest.fixture(params=["sync", "async"])
async def admin(request, cluster):
    """A synchronous or an asyncio admin client; its methods are awaited."""
    if request.param == "sync":
        client = await asyncio.to_thread(KafkaAdminClient, **options(cluster))
        yield SyncAdmin(client)
        await asyncio.to_thread(client.close)
    else:
        async with AsyncKafkaAdminClient(**options(cluster)) as client:
            yield AsyncAdmin(client)
