"""Names that modules of kafka-python had only because they imported them, but that programs import from there.

The table lists by module where these names are defined: a module and its names on each line. This module is below all
layers, and is loaded only when such a name is requested.
"""

from __future__ import annotations

_IMPORTED = {
    "kafka.admin.client": """
        kafka.admin.acls ACL ACLFilter ACLOperation ACLPermissionType ACLResourcePatternType ResourcePattern
        kafka.admin.acls ResourceType valid_acl_operations
        kafka.admin.config_resource ConfigResourceType
        kafka.client_async KafkaClient
        kafka.coordinator.protocol ConsumerProtocolMemberAssignment_v0 ConsumerProtocolMemberMetadata_v0
        kafka.coordinator.protocol ConsumerProtocol_v0
        kafka.errors IllegalArgumentError IncompatibleBrokerVersion KafkaConfigurationError NotControllerError
        kafka.errors UnknownTopicOrPartitionError UnrecognizedBrokerVersion
        kafka.future Future
        kafka.metrics.kafka_metric MetricConfig
        kafka.metrics.metrics Metrics
        kafka.protocol.admin AlterConfigsRequest CreateAclsRequest CreatePartitionsRequest CreateTopicsRequest
        kafka.protocol.admin DeleteAclsRequest DeleteGroupsRequest DeleteRecordsRequest DeleteTopicsRequest
        kafka.protocol.admin DescribeAclsRequest DescribeConfigsRequest DescribeGroupsRequest DescribeLogDirsRequest
        kafka.protocol.admin ElectLeadersRequest ElectionType ListGroupsRequest
        kafka.protocol.commit GroupCoordinatorRequest OffsetFetchRequest
        kafka.protocol.find_coordinator FindCoordinatorRequest
        kafka.protocol.metadata MetadataRequest
        kafka.protocol.metadata.find_coordinator CoordinatorType
        kafka.protocol.types Array
        kafka.structs GroupInformation MemberInformation OffsetAndMetadata TopicPartition
    """,
    "kafka.client": """
        kafka.common ConnectionError TopicAndPartition
        kafka.conn BrokerConnection ConnectionStates DEFAULT_SOCKET_TIMEOUT_SECONDS KafkaConnection collect_hosts
        kafka.conn get_ip_port_afi
        kafka.errors FailedPayloadsError KafkaConnectionError KafkaTimeoutError KafkaUnavailableError
        kafka.errors LeaderNotAvailableError NotLeaderForPartitionError ReplicaNotAvailableError UnknownError
        kafka.errors UnknownTopicOrPartitionError
        kafka.protocol.legacy KafkaProtocol
        kafka.structs BrokerMetadata TopicPartition
        kafka.util kafka_bytestring
    """,
    "kafka.client_async": """
        kafka.cluster ClusterMetadata
        kafka.conn BrokerConnection ConnectionStates collect_hosts get_ip_port_afi
        kafka.future Future
        kafka.metrics.kafka_metric AnonMeasurable
        kafka.metrics.stats.avg Avg
        kafka.metrics.stats.count Count
        kafka.metrics.stats.rate Rate TimeUnit
        kafka.protocol.metadata MetadataRequest
        kafka.protocol.produce ProduceRequest
        kafka.util Dict Timer WeakMethod ensure_valid_topic_name
    """,
    "kafka.cluster": """
        kafka.conn get_ip_port_afi
        kafka.future Future
        kafka.protocol.metadata.find_coordinator CoordinatorType
        kafka.protocol.metadata.metadata MetadataRequest MetadataResponse
        kafka.structs BrokerMetadata PartitionMetadata TopicPartition
        kafka.util ensure_valid_topic_name
    """,
    "kafka.conn": """
        kafka.common ConnectionError
        kafka.future Future
        kafka.metrics.stats.avg Avg
        kafka.metrics.stats.count Count
        kafka.metrics.stats.max_stat Max
        kafka.metrics.stats.rate Rate
        kafka.oauth.abstract AbstractTokenProvider
        kafka.protocol.admin DescribeAclsRequest DescribeClientQuotasRequest ListGroupsRequest SaslHandShakeRequest
        kafka.protocol.api RequestHeader
        kafka.protocol.api_versions ApiVersionsRequest
        kafka.protocol.commit GroupCoordinatorResponse OffsetFetchRequest
        kafka.protocol.fetch FetchRequest
        kafka.protocol.find_coordinator FindCoordinatorRequest
        kafka.protocol.list_offsets ListOffsetsRequest
        kafka.protocol.metadata MetadataRequest
        kafka.protocol.parser KafkaProtocol
        kafka.protocol.produce ProduceRequest
        kafka.protocol.sasl_authenticate SaslAuthenticateRequest
        kafka.protocol.sasl_handshake SaslHandshakeRequest
        kafka.protocol.types Int32 Int8
    """,
    "kafka.consumer.base": """
        kafka.common OffsetCommitRequest OffsetFetchRequest OffsetRequest
        kafka.errors KafkaError UnknownTopicOrPartitionError check_error
        kafka.structs OffsetCommitRequestPayload OffsetFetchRequestPayload OffsetRequestPayload
        kafka.util ReentrantTimer kafka_bytestring
    """,
    "kafka.consumer.fetcher": """
        kafka.future Future
        kafka.metrics.stats.avg Avg
        kafka.metrics.stats.count Count
        kafka.metrics.stats.max_stat Max
        kafka.metrics.stats.rate Rate
        kafka.protocol.consumer.offsets IsolationLevel OffsetForLeaderEpochRequest OffsetSpec
        kafka.protocol.fetch AbortedTransaction FetchRequest
        kafka.protocol.list_offsets ListOffsetsRequest OffsetResetStrategy UNKNOWN_OFFSET
        kafka.protocol.message PartialMessage
        kafka.protocol.offset OffsetRequest
        kafka.record.memory_records MemoryRecords
        kafka.serializer.abstract Deserializer
        kafka.serializer.default DeserializeWrapper
        kafka.structs OffsetAndMetadata OffsetAndTimestamp TopicPartition
        kafka.util Timer
    """,
    "kafka.consumer.group": """
        kafka.client_async KafkaClient
        kafka.consumer.subscription_state SubscriptionState
        kafka.coordinator.assignors.range RangePartitionAssignor
        kafka.coordinator.assignors.roundrobin RoundRobinPartitionAssignor
        kafka.coordinator.consumer ConsumerCoordinator
        kafka.errors KafkaConfigurationError UnsupportedVersionError
        kafka.metrics.kafka_metric MetricConfig
        kafka.metrics.metrics Metrics
        kafka.protocol.list_offsets OffsetResetStrategy
        kafka.structs ConsumerGroupMetadata OffsetAndMetadata TopicPartition
        kafka.util Timer
    """,
    "kafka.consumer.kafka": """
        kafka.client KafkaClient
        kafka.common ConsumerTimeout FailedPayloadsError FetchRequest KafkaConfigurationError KafkaMessage
        kafka.common KafkaUnavailableError NotLeaderForPartitionError OffsetCommitRequest OffsetFetchRequest
        kafka.common OffsetOutOfRangeError OffsetRequest RequestTimedOutError UnknownTopicOrPartitionError check_error
        kafka.util kafka_bytestring
    """,
    "kafka.consumer.multiprocess": """
        kafka.consumer.base AUTO_COMMIT_INTERVAL AUTO_COMMIT_MSG_COUNT Consumer FULL_QUEUE_WAIT_TIME_SECONDS
        kafka.consumer.base MAX_BACKOFF_SECONDS NO_MESSAGES_WAIT_TIME_SECONDS
        kafka.consumer.simple SimpleConsumer
        kafka.errors KafkaError
    """,
    "kafka.consumer.simple": """
        kafka.common ConsumerNoMoreData FetchRequest OffsetRequest
        kafka.consumer.base AUTO_COMMIT_INTERVAL AUTO_COMMIT_MSG_COUNT Consumer FETCH_BUFFER_SIZE_BYTES
        kafka.consumer.base FETCH_DEFAULT_BLOCK_TIMEOUT FETCH_MAX_WAIT_TIME FETCH_MIN_BYTES ITER_TIMEOUT_SECONDS
        kafka.consumer.base MAX_FETCH_BUFFER_SIZE_BYTES NO_MESSAGES_WAIT_TIME_SECONDS
        kafka.errors ConsumerFetchSizeTooSmall FailedPayloadsError KafkaError NotLeaderForPartitionError
        kafka.errors OffsetOutOfRangeError UnknownTopicOrPartitionError check_error
        kafka.protocol.message PartialMessage
        kafka.structs FetchRequestPayload OffsetRequestPayload
    """,
    "kafka.consumer.subscription_state": """
        kafka.errors IllegalStateError
        kafka.protocol.list_offsets OffsetResetStrategy
        kafka.structs OffsetAndMetadata
        kafka.util ensure_valid_topic_name synchronized
    """,
    "kafka.context": """
        kafka.common OffsetCommitRequest
        kafka.errors OffsetOutOfRangeError check_error
        kafka.structs OffsetCommitRequestPayload
    """,
    "kafka.coordinator.base": """
        kafka.coordinator.heartbeat Heartbeat
        kafka.future Future
        kafka.metrics.kafka_metric AnonMeasurable
        kafka.metrics.stats.avg Avg
        kafka.metrics.stats.count Count
        kafka.metrics.stats.max_stat Max
        kafka.metrics.stats.rate Rate
        kafka.protocol.commit GroupCoordinatorRequest OffsetCommitRequest
        kafka.protocol.find_coordinator FindCoordinatorRequest
        kafka.protocol.group DEFAULT_GENERATION_ID GroupMember HeartbeatRequest JoinGroupRequest LeaveGroupRequest
        kafka.protocol.group SyncGroupRequest UNKNOWN_MEMBER_ID
        kafka.protocol.metadata.find_coordinator CoordinatorType
        kafka.structs ConsumerGroupMetadata
        kafka.util Timer
    """,
    "kafka.coordinator.consumer": """
        kafka.coordinator.assignors.abstract AbstractPartitionAssignor RebalanceProtocol
        kafka.coordinator.assignors.range RangePartitionAssignor
        kafka.coordinator.assignors.roundrobin RoundRobinPartitionAssignor
        kafka.coordinator.assignors.sticky.sticky_assignor StickyPartitionAssignor
        kafka.coordinator.base BaseCoordinator Generation
        kafka.coordinator.protocol ConsumerProtocol
        kafka.coordinator.subscription Subscription
        kafka.future Future
        kafka.metrics.kafka_metric AnonMeasurable
        kafka.metrics.stats.avg Avg
        kafka.metrics.stats.count Count
        kafka.metrics.stats.max_stat Max
        kafka.metrics.stats.rate Rate
        kafka.protocol.commit OffsetCommitRequest OffsetCommitRequest_v0 OffsetCommitRequest_v1 OffsetCommitRequest_v2
        kafka.protocol.commit OffsetFetchRequest OffsetFetchRequest_v0 OffsetFetchRequest_v1
        kafka.protocol.consumer.metadata ConsumerProtocolAssignment ConsumerProtocolSubscription
        kafka.protocol.consumer.offsets IsolationLevel
        kafka.structs OffsetAndMetadata TopicPartition
        kafka.util Timer WeakMethod
    """,
    "kafka.future": """
        kafka.errors RetriableError
    """,
    "kafka.producer.base": """
        kafka.common ProduceRequest ProduceResponse TopicAndPartition
        kafka.errors AsyncProducerQueueFull FailedPayloadsError RETRY_BACKOFF_ERROR_TYPES RETRY_ERROR_TYPES
        kafka.errors RETRY_REFRESH_ERROR_TYPES RequestTimedOutError UnknownError UnsupportedCodecError kafka_errors
        kafka.protocol ALL_CODECS CODEC_NONE
        kafka.protocol.legacy create_message_set
        kafka.structs ProduceRequestPayload ProduceResponsePayload RetryOptions TopicPartition
        kafka.util kafka_bytestring
    """,
    "kafka.producer.kafka": """
        kafka.client_async KafkaClient
        kafka.codec has_gzip has_lz4 has_snappy has_zstd
        kafka.metrics.kafka_metric MetricConfig
        kafka.metrics.metrics Metrics
        kafka.partitioner.abc Partitioner
        kafka.partitioner.default DefaultPartitioner
        kafka.producer.future FutureRecordMetadata
        kafka.protocol.message Message MessageSet
        kafka.record.default_records DefaultRecordBatchBuilder
        kafka.record.legacy_records LegacyRecordBatchBuilder
        kafka.serializer.abstract Serializer
        kafka.serializer.default SerializeWrapper
        kafka.structs TopicPartition
        kafka.util Timer ensure_valid_topic_name
    """,
    "kafka.producer.keyed": """
        kafka.producer.base Producer
        kafka.util kafka_bytestring
    """,
    "kafka.producer.simple": """
        kafka.producer.base Producer
    """,
    "kafka.protocol.parser": """
        kafka.protocol.api RequestHeader
        kafka.protocol.commit GroupCoordinatorResponse
        kafka.protocol.find_coordinator FindCoordinatorResponse
        kafka.protocol.frame KafkaBytes
        kafka.protocol.types Int32
    """,
    "kafka.util": """
        kafka.errors BufferUnderflowError KafkaTimeoutError
    """,
}


def home_of(module: str, name: str) -> str | None:
    """Return the module that defines a name that ``module`` only imported; None if ``module`` did not import this name.

    Arguments:
        module: the module from which the name is requested.
        name: the requested attribute.
    """
    for line in _IMPORTED.get(module, "").splitlines():
        home, *names = line.split() or [""]
        if name in names:
            return home
    return None
