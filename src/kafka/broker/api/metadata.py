"""Metadata (key 3), FindCoordinator (10), DescribeCluster (60) and DescribeTopicPartitions (75).

Versions served: Metadata 0 to 13; FindCoordinator 0 to 6, with several keys per request from 4 on (KIP-699);
DescribeCluster 0 to 2; DescribeTopicPartitions 0.
Behaviour: the broker is the controller, and leads every partition. It coordinates all groups, share groups included,
and all transactions. Topics can be requested by name or by id. A topic that is requested by name and does not exist is
created if the broker's settings and the request allow it, and is usable at once.
Known gaps: the only rack is the broker's; leader epochs are always 0. FindCoordinator rejects type 2, the coordinator
of share-partition state, which only brokers request.
"""

from collections.abc import Iterable

from kafka.broker.api import CLUSTER_OPERATIONS, OPERATIONS_NOT_REQUESTED, TOPIC_OPERATIONS
from kafka.broker.broker import Broker, RequestContext
from kafka.broker.error_codes import ErrorCode, RequestFailed
from kafka.broker.log.partition import LEADER_EPOCH
from kafka.broker.topic_store import (
    CONSUMER_OFFSETS,
    INTERNAL_TOPICS,
    TRANSACTION_STATE,
    Topic,
    TopicChanges,
    check_name,
)
from kafka.wire import NO_UUID
from kafka.wire.api.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from kafka.wire.api.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)
from kafka.wire.api.find_coordinator import Coordinator, FindCoordinatorRequest, FindCoordinatorResponse
from kafka.wire.api.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

_ALL_BY_EMPTY_LIST = 0
_BROKERS = 1
_CONTROLLERS = 2
_CREATION_CHOSEN_SINCE = 4
_IDS_SINCE = 12


def metadata(broker: Broker, request: MetadataRequest, context: RequestContext) -> MetadataResponse:
    """Return the broker and the requested topics."""
    everything = request.topics is None or (context.version == _ALL_BY_EMPTY_LIST and not request.topics)
    may_create = broker.settings.auto_create_topics and (
        context.version < _CREATION_CHOSEN_SINCE or request.allow_auto_topic_creation
    )
    operations = TOPIC_OPERATIONS if request.include_topic_authorized_operations else OPERATIONS_NOT_REQUESTED
    if everything:
        topics = [_described(broker, topic, operations) for topic in broker.topics]
    else:
        topics = _all_asked(broker, request.topics or [], context.version, may_create, operations)
    return MetadataResponse(
        brokers=[
            MetadataResponseBroker(
                node_id=broker.settings.node_id,
                host=broker.endpoint.host,
                port=broker.endpoint.port,
                rack=broker.settings.rack,
            )
        ],
        cluster_id=broker.identity.cluster_id,
        controller_id=broker.settings.node_id,
        topics=topics,
        cluster_authorized_operations=(
            CLUSTER_OPERATIONS if request.include_cluster_authorized_operations else OPERATIONS_NOT_REQUESTED
        ),
    )


def _all_asked(
    broker: Broker, asked: list[MetadataRequestTopic], version: int, may_create: bool, operations: int
) -> list[MetadataResponseTopic]:
    if version < _IDS_SINCE and any(one.name is None or one.topic_id != NO_UUID for one in asked):
        return [
            MetadataResponseTopic(error_code=ErrorCode.INVALID_REQUEST, name=one.name or "", topic_id=one.topic_id)
            for one in asked
        ]
    # Return each topic once, even if it is requested several times.
    unique = {(one.name, one.topic_id if one.name is None else NO_UUID): one for one in asked}
    failures = _create_missing(broker, unique.values()) if may_create else {}
    return [_asked(broker, one, failures, operations) for one in unique.values()]


def _create_missing(broker: Broker, asked: Iterable[MetadataRequestTopic]) -> dict[str, RequestFailed]:
    """Create missing topics in one step; return the errors by topic name for those that could not be created."""
    changes = TopicChanges()
    failures: dict[str, RequestFailed] = {}
    for one in asked:
        if one.name is None or one.name in broker.topics:
            continue
        try:
            broker.topics.check_new(one.name, changes)
            if one.name in INTERNAL_TOPICS:
                broker.topics.create_internal(INTERNAL_TOPICS[one.name])
            else:
                broker.topics.add_new(changes, one.name, broker.settings.num_partitions, {})
        except RequestFailed as error:
            failures[one.name] = error
    try:
        if changes:
            broker.topics.apply(changes)
    except RequestFailed as error:
        failures.update((row.name, error) for row in changes.created)
    return failures


def _asked(
    broker: Broker, asked: MetadataRequestTopic, failures: dict[str, RequestFailed], operations: int
) -> MetadataResponseTopic:
    try:
        if asked.name is None:
            return _described(broker, broker.topics.by_id(asked.topic_id), operations)
        if asked.name in failures:
            raise failures[asked.name]
        check_name(asked.name)
        return _described(broker, broker.topics.get(asked.name), operations)
    except RequestFailed as error:
        return MetadataResponseTopic(error_code=error.code, name=asked.name, topic_id=asked.topic_id)


def _described(broker: Broker, topic: Topic, operations: int) -> MetadataResponseTopic:
    node_id = broker.settings.node_id
    return MetadataResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.is_internal,
        partitions=[
            MetadataResponsePartition(
                partition_index=number,
                leader_id=node_id,
                leader_epoch=LEADER_EPOCH,
                replica_nodes=[node_id],
                isr_nodes=[node_id],
            )
            for number in range(topic.partitions)
        ],
        topic_authorized_operations=operations,
    )


def describe_cluster(
    broker: Broker, request: DescribeClusterRequest, context: RequestContext
) -> DescribeClusterResponse:
    """Return the cluster's only broker (KIP-700). There are no controller endpoints (KIP-919)."""
    if request.endpoint_type != _BROKERS:
        error, text = ErrorCode.MISMATCHED_ENDPOINT_TYPE, "The request was sent to an endpoint of type BROKER."
        if request.endpoint_type != _CONTROLLERS:
            error, text = ErrorCode.UNSUPPORTED_ENDPOINT_TYPE, f"Unsupported endpoint type {request.endpoint_type}"
        return DescribeClusterResponse(error_code=error, error_message=text)
    return DescribeClusterResponse(
        cluster_id=broker.identity.cluster_id,
        controller_id=broker.settings.node_id,
        brokers=[
            DescribeClusterBroker(
                broker_id=broker.settings.node_id,
                host=broker.endpoint.host,
                port=broker.endpoint.port,
                rack=broker.settings.rack,
            )
        ],
        cluster_authorized_operations=(
            CLUSTER_OPERATIONS if request.include_cluster_authorized_operations else OPERATIONS_NOT_REQUESTED
        ),
    )


def describe_topic_partitions(
    broker: Broker, request: DescribeTopicPartitionsRequest, context: RequestContext
) -> DescribeTopicPartitionsResponse:
    """Describe the requested topics, or all topics, sorted by name and in pages (KIP-966)."""
    names = sorted({one.name for one in request.topics} or {topic.name for topic in broker.topics})
    first = 0
    if request.cursor is not None:
        names = [name for name in names if name >= request.cursor.topic_name]
        first = request.cursor.partition_index if names and names[0] == request.cursor.topic_name else 0
    left = max(1, min(request.response_partition_limit, 2000))
    topics: list[DescribeTopicPartitionsResponseTopic] = []
    for name in names:
        if left <= 0:
            return DescribeTopicPartitionsResponse(
                topics=topics, next_cursor=Cursor(topic_name=name, partition_index=first)
            )
        try:
            topic = broker.topics.get(name)
        except RequestFailed as error:
            topics.append(DescribeTopicPartitionsResponseTopic(error_code=error.code, name=name))
            continue
        last = min(topic.partitions, first + left)
        topics.append(_page(broker, topic, first, last))
        left -= last - first
        if last < topic.partitions:
            return DescribeTopicPartitionsResponse(
                topics=topics, next_cursor=Cursor(topic_name=name, partition_index=last)
            )
        first = 0
    return DescribeTopicPartitionsResponse(topics=topics)


def _page(broker: Broker, topic: Topic, first: int, last: int) -> DescribeTopicPartitionsResponseTopic:
    node_id = broker.settings.node_id
    return DescribeTopicPartitionsResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.is_internal,
        partitions=[
            DescribeTopicPartitionsResponsePartition(
                partition_index=number,
                leader_id=node_id,
                leader_epoch=LEADER_EPOCH,
                replica_nodes=[node_id],
                isr_nodes=[node_id],
                eligible_leader_replicas=[],
                last_known_elr=[],
            )
            for number in range(first, last)
        ],
        topic_authorized_operations=TOPIC_OPERATIONS,
    )


_KEPT_IN = {0: CONSUMER_OFFSETS, 1: TRANSACTION_STATE}
"""The internal topic that stores the state for each key type: groups (0) and transactions (1)."""
_BATCHED_SINCE = 4


def find_coordinator(
    broker: Broker, request: FindCoordinatorRequest, context: RequestContext
) -> FindCoordinatorResponse:
    """Return this broker as the coordinator of each key."""
    error, text = ErrorCode.NONE, None
    kept_in = _KEPT_IN.get(request.key_type)
    if kept_in is None:
        error, text = ErrorCode.INVALID_REQUEST, f"the embedded broker has no coordinator of type {request.key_type}"
    else:
        try:
            broker.topics.create_internal(kept_in)
        except RequestFailed as failed:
            error, text = ErrorCode.COORDINATOR_NOT_AVAILABLE, str(failed)
    if error is ErrorCode.NONE:
        node_id, host, port = broker.settings.node_id, broker.endpoint.host, broker.endpoint.port
    else:
        node_id, host, port = -1, "", -1
    if context.version < _BATCHED_SINCE:
        return FindCoordinatorResponse(error_code=error, error_message=text, node_id=node_id, host=host, port=port)
    return FindCoordinatorResponse(
        coordinators=[
            Coordinator(key=key, node_id=node_id, host=host, port=port, error_code=error, error_message=text)
            for key in request.coordinator_keys
        ]
    )
