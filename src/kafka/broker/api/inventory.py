"""DescribeLogDirs (key 35) and ListConfigResources (74): what this broker has.

Versions served: DescribeLogDirs 1 to 4, ListConfigResources 0 to 1.
Behaviour: one log directory; a partition that was never written to has size 0. The resources that can be described are
listed: topics, the broker, groups for which something was set, and subscriptions to clients' metrics.
Known gaps: loggers are no resources here, so that there are none of them.
"""

import shutil

from kafka.broker.codes import ErrorCode, RequestFailed
from kafka.broker.context import Broker, RequestContext
from kafka.wire.api.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from kafka.wire.api.list_config_resources import (
    ConfigResource,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)

_TOPIC, _BROKER, _BROKER_LOGGER, _CLIENT_METRICS, _GROUP = 2, 4, 8, 16, 32
_ALL_KINDS = (_TOPIC, _BROKER, _BROKER_LOGGER, _CLIENT_METRICS, _GROUP)
_KINDS_SINCE = 1


def describe_log_dirs(
    broker: Broker, request: DescribeLogDirsRequest, context: RequestContext
) -> DescribeLogDirsResponse:
    """Tell the sizes of partitions; those that are not there are left out, as by Kafka."""
    wanted: dict[str, list[int]] = {}
    if request.topics is None:
        wanted = {topic.name: list(range(topic.partitions)) for topic in broker.topics}
    else:
        wanted = {asked.topic: asked.partitions for asked in request.topics if asked.topic in broker.topics}
    folder = broker.topics.folder
    result = DescribeLogDirsResult(log_dir=str(folder))
    try:
        result.topics = [_described(broker, name, indexes) for name, indexes in wanted.items()]
        space = shutil.disk_usage(folder)
        result.total_bytes, result.usable_bytes = space.total, space.free
    except (RequestFailed, OSError):
        result.error_code = ErrorCode.KAFKA_STORAGE_ERROR
    return DescribeLogDirsResponse(results=[result])


def _described(broker: Broker, name: str, indexes: list[int]) -> DescribeLogDirsTopic:
    topic = broker.topics.get(name)
    return DescribeLogDirsTopic(
        name=name,
        partitions=[
            DescribeLogDirsPartition(partition_index=index, partition_size=topic.log(index).size)
            for index in indexes
            if 0 <= index < topic.partitions
        ],
    )


def list_config_resources(
    broker: Broker, request: ListConfigResourcesRequest, context: RequestContext
) -> ListConfigResourcesResponse:
    """List the names of what has configs (KIP-1142); before version 1 that is subscriptions to metrics alone."""
    kinds = (_CLIENT_METRICS,) if context.version < _KINDS_SINCE else tuple(request.resource_types) or _ALL_KINDS
    if not set(kinds) <= set(_ALL_KINDS):
        return ListConfigResourcesResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)
    names = {
        _TOPIC: [topic.name for topic in broker.topics],
        _BROKER: [str(broker.settings.node_id)],
        _GROUP: broker.group_configs.names(),
        _CLIENT_METRICS: broker.client_metrics.names(),
    }
    return ListConfigResourcesResponse(
        config_resources=[
            ConfigResource(resource_name=name, resource_type=kind)
            for kind in dict.fromkeys(kinds)
            for name in names.get(kind, ())
        ]
    )
