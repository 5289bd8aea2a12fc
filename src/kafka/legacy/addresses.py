"""Import paths of kafka-python and aiokafka that have no file here: their names, and where each name is defined.

A row is a module, or a package if other rows are below it. In a source tree and in editable installations,
`kafka._old_names.OldPaths` serves the rows. In wheels, `setup.py` writes them as files, so that type checkers, editors
and bundlers find them. Both use `source_of`. This module imports nothing from the package, because `setup.py` reads it
before anything is built.

To add a path: add a row here. If today's package of the same path also had the name, add the name to the table of old
names in that package's `__init__`. Add a top-level module to `_SUBMODULES` of `kafka/__init__.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


class Address(NamedTuple):
    """An import path.

    Each line of `names` and `apart` is a module, followed by names to import from it. ``name:other`` imports a name as
    another one, and ``*`` imports everything that the module exports. A module alone on its line is itself imported.
    """

    doc: str
    """The docstring."""
    names: str = ""
    """The names to import. `__all__` lists all of them; a path with a ``*`` has no `__all__`."""
    apart: str = ""
    """Further names, which `from ... import *` does not import."""
    same_as: str = ""
    """Another path whose names this path also exports."""
    made_by: tuple[str, ...] = ()
    """Functions of `kafka.legacy.protocol`, as ``module.name``, that return the names for a path."""


_VERSIONS = "catalogue.names_of"
_MESSAGES_OF_3 = "kafka_python_3.names_of_3"
_OF_2 = Address(
    "kafka-python's import path of requests and responses by version; they are made from `kafka.wire`.",
    made_by=(_VERSIONS,),
)
_OF_3 = Address(
    "kafka-python 3's import path of messages with a version; they are made from `kafka.wire`.",
    made_by=(_MESSAGES_OF_3,),
)
_OF_BOTH = Address(
    """kafka-python's import path of requests and responses by version, made from `kafka.wire`.

What 2.x had is as in 2.x, and gives a message of kafka-python 3 where it is called with a version.
""",
    made_by=(_MESSAGES_OF_3, _VERSIONS),
)

ADDRESSES: dict[str, Address] = {
    "kafka.admin.acl_resource": Address(
        "kafka-python's import path of ACLs.",
        names="""
            kafka.admin.acls ACL ACLFilter ACLOperation ACLPermissionType ACLResourcePatternType ResourcePattern
            kafka.admin.acls ResourcePatternFilter ResourceType valid_acl_operations
        """,
    ),
    "kafka.admin.new_partitions": Address(
        "kafka-python's import path of `NewPartitions`.", names="kafka.admin.topics NewPartitions"
    ),
    "kafka.admin.new_topic": Address("kafka-python's import path of `NewTopic`.", names="kafka.admin.topics NewTopic"),
    "kafka.aio.admin.records_to_delete": Address(
        "aiokafka's import path of `RecordsToDelete`.", names="kafka.aio.admin.client RecordsToDelete"
    ),
    "kafka.aio.coordinator": Address("aiokafka's import path of group membership."),
    "kafka.aio.coordinator.assignors": Address("aiokafka's import path of the assignors."),
    "kafka.aio.coordinator.assignors.abstract": Address(
        "aiokafka's import path of `AbstractPartitionAssignor`.",
        names="kafka.coordinator.assignors.abstract AbstractPartitionAssignor",
    ),
    "kafka.aio.coordinator.assignors.range": Address(
        "aiokafka's import path of `RangePartitionAssignor`.",
        names="kafka.coordinator.assignors.range RangePartitionAssignor",
    ),
    "kafka.aio.coordinator.assignors.roundrobin": Address(
        "aiokafka's import path of `RoundRobinPartitionAssignor`.",
        names="kafka.coordinator.assignors.roundrobin RoundRobinPartitionAssignor",
    ),
    "kafka.aio.coordinator.assignors.sticky": Address("aiokafka's import path of the sticky assignor."),
    "kafka.aio.coordinator.assignors.sticky.sticky_assignor": Address(
        "aiokafka's import path of `StickyPartitionAssignor`.",
        names="kafka.coordinator.assignors.sticky.sticky_assignor StickyPartitionAssignor",
    ),
    "kafka.aio.partitioner": Address(
        "aiokafka's import path of the default partitioner.",
        names="""
            kafka.partitioner.default DefaultPartitioner
            kafka.partitioner.murmur2 murmur2
        """,
    ),
    "kafka.aio.producer.message_accumulator": Address(
        "aiokafka's import path of `BatchBuilder`.", names="kafka.aio.producer.producer BatchBuilder"
    ),
    "kafka.client": Address(
        "kafka-python's import path of `SimpleClient` and `KafkaClient`, from 0.9 to 1.4.",
        names="""
            kafka.legacy.client_async.kafka_client KafkaClient
            kafka.legacy.simple.simple_client SimpleClient
        """,
    ),
    "kafka.client_async": Address(
        "kafka-python's import path of `KafkaClient`, from 1.0 to 2.x.",
        names="""
            kafka.legacy.client_async.kafka_client KafkaClient
            kafka.legacy.client_async.kafka_client DelayedTaskQueue
        """,
        apart="selectors",
    ),
    "kafka.codec": Address(
        "kafka-python's import path of compression.",
        names="kafka.legacy.compression_functions *",
        apart="kafka.legacy.compression_functions _detect_xerial_stream",
    ),
    "kafka.common": Address(
        "kafka-python's import path of tuples and errors, from 0.9 to 1.4; today `kafka.structs` and `kafka.errors`.",
        names="""
            kafka.errors *
            kafka.errors CoordinatorLoadInProgressError:OffsetsLoadInProgressCode
            kafka.errors CoordinatorNotAvailableError:ConsumerCoordinatorNotAvailableCode
            kafka.errors NotCoordinatorError:NotCoordinatorForConsumerCode UnknownTopicOrPartitionError:x
            kafka.legacy.payloads *
            kafka.structs OffsetAndMetadata OffsetAndTimestamp RetryOptions TopicPartition
        """,
    ),
    "kafka.conn": Address(
        "kafka-python's import path of connections to brokers.",
        names="""
            ssl SSLEOFError SSLWantReadError SSLWantWriteError SSLZeroReturnError
            kafka.legacy.connection.broker_connection BrokerConnection
            kafka.legacy.connection.hosts AFI_NAMES DEFAULT_KAFKA_PORT SASL_QOP_AUTH SASL_QOP_AUTH_CONF
            kafka.legacy.connection.hosts SASL_QOP_AUTH_INT collect_hosts dns_lookup get_ip_port_afi is_inet_4_or_6
            kafka.legacy.connection.hosts ssl_available
            kafka.legacy.connection.socket_connection DEFAULT_SOCKET_TIMEOUT_SECONDS KafkaConnection
            kafka.legacy.connection.broker_connection ConnectionStates InFlightRequest
        """,
    ),
    "kafka.consumer.aio": Address(
        "An import path of `AsyncKafkaConsumer` that programs use.",
        names="kafka.consumer.async_consumer AsyncKafkaConsumer",
    ),
    "kafka.consumer.base": Address(
        "kafka-python's import path of `Consumer` and its constants, from 0.9 to 1.4.",
        names="""
            kafka.legacy.consumer.consumer_base AUTO_COMMIT_INTERVAL AUTO_COMMIT_MSG_COUNT FETCH_BUFFER_SIZE_BYTES
            kafka.legacy.consumer.consumer_base FETCH_DEFAULT_BLOCK_TIMEOUT FETCH_MAX_WAIT_TIME FETCH_MIN_BYTES
            kafka.legacy.consumer.consumer_base FULL_QUEUE_WAIT_TIME_SECONDS ITER_TIMEOUT_SECONDS MAX_BACKOFF_SECONDS
            kafka.legacy.consumer.consumer_base MAX_FETCH_BUFFER_SIZE_BYTES NO_MESSAGES_WAIT_TIME_SECONDS Consumer log
        """,
    ),
    "kafka.consumer.fetcher": Address(
        "kafka-python's import path of `ConsumerRecord`, and of errors of fetching.",
        names="""
            kafka.consumer.fetch.response_handler RecordTooLargeError
            kafka.errors NoOffsetForPartitionError
            kafka.record.records ConsumerRecord
        """,
    ),
    "kafka.consumer.kafka": Address(
        "kafka-python's import path of `KafkaConsumer` in 0.9.",
        names="""
            kafka.legacy.consumer.marked_consumer KafkaConsumer
            kafka.legacy.consumer.marked_fetching OffsetsStruct
            kafka.legacy.consumer.marked_consumer DEFAULT_CONSUMER_CONFIG DEPRECATED_CONFIG_KEYS
        """,
    ),
    "kafka.consumer.multiprocess": Address(
        "kafka-python's import path of `MultiProcessConsumer`, from 0.9 to 1.4.",
        names="kafka.legacy.consumer.multiprocess MultiProcessConsumer",
    ),
    "kafka.consumer.simple": Address(
        "kafka-python's import path of `SimpleConsumer`, from 0.9 to 1.4.",
        names="""
            kafka.legacy.consumer.simple FetchContext
            kafka.legacy.consumer.simple SimpleConsumer
        """,
    ),
    "kafka.consumer.subscription_state": Address(
        "kafka-python's import path of `SubscriptionState` and of the rebalance listeners.",
        names="""
            kafka.consumer.subscription.subscription_state AsyncConsumerRebalanceListener ConsumerRebalanceListener
            kafka.consumer.subscription.subscription_state SubscriptionType
            kafka.legacy.subscription_state TopicPartitionState
            kafka.legacy.subscription_state SubscriptionState
        """,
    ),
    "kafka.context": Address(
        "kafka-python's import path of `OffsetCommitContext`, from 0.9 to 1.4.",
        names="kafka.legacy.offset_commit_context OffsetCommitContext",
    ),
    "kafka.coordinator.base": Address(
        "kafka-python's import path of `BaseCoordinator`, from 1.0 to 2.x.",
        names="""
            kafka.legacy.coordinator.base_coordinator BaseCoordinator
            kafka.legacy.coordinator.coordinator_metrics GroupCoordinatorMetrics
            kafka.legacy.coordinator.group_member Generation MemberState UnjoinedGroupException
            kafka.legacy.coordinator.base_coordinator HeartbeatTask HeartbeatThread
        """,
    ),
    "kafka.coordinator.consumer": Address(
        "kafka-python's import path of `ConsumerCoordinator`, from 1.0 to 2.x.",
        names="""
            kafka.legacy.coordinator.offset_commits AutoCommitTask
            kafka.legacy.coordinator.consumer_coordinator ConsumerCoordinator
            kafka.legacy.coordinator.coordinator_metrics ConsumerCoordinatorMetrics
        """,
    ),
    "kafka.coordinator.heartbeat": Address(
        "kafka-python's import path of `Heartbeat`, from 1.0 to 2.x.",
        names="kafka.legacy.coordinator.heartbeat_times Heartbeat",
    ),
    "kafka.coordinator.protocol": Address(
        "kafka-python's import path of `ConsumerProtocol`, from 1.0 to 2.x.",
        names="""
            kafka.legacy.coordinator.protocol_structs ConsumerProtocol ConsumerProtocol_v0
            kafka.legacy.coordinator.protocol_structs ConsumerProtocolMemberAssignment
            kafka.legacy.coordinator.protocol_structs ConsumerProtocolMemberAssignment_v0
            kafka.legacy.coordinator.protocol_structs ConsumerProtocolMemberMetadata
            kafka.legacy.coordinator.protocol_structs ConsumerProtocolMemberMetadata_v0
        """,
    ),
    "kafka.coordinator.subscription": Address(
        "kafka-python's import path of `Subscription`, in 2.x.",
        names="kafka.legacy.coordinator.protocol_structs Subscription",
    ),
    "kafka.future": Address(
        "kafka-python's import path of `Future`, from 1.0 on.",
        names="kafka.legacy.kafka_future Future",
    ),
    "kafka.metrics.compound_stat": Address(
        "kafka-python's import path of `AbstractCompoundStat` and `NamedMeasurable`.",
        names="kafka.metrics.stat AbstractCompoundStat NamedMeasurable",
        apart="kafka.metrics.stat AbstractStat",
    ),
    "kafka.metrics.dict_reporter": Address(
        "kafka-python's import path of `DictReporter`.",
        names="kafka.metrics.metrics_reporter DictReporter",
        apart="kafka.metrics.metrics_reporter AbstractMetricsReporter",
    ),
    "kafka.metrics.measurable": Address(
        "kafka-python's import path of `AbstractMeasurable` and `AnonMeasurable`.",
        names="kafka.metrics.kafka_metric AbstractMeasurable AnonMeasurable",
    ),
    "kafka.metrics.measurable_stat": Address(
        "kafka-python's import path of `AbstractMeasurableStat`.",
        names="kafka.metrics.stat AbstractMeasurableStat",
        apart="""
            kafka.metrics.kafka_metric AbstractMeasurable
            kafka.metrics.stat AbstractStat
        """,
    ),
    "kafka.metrics.metric_config": Address(
        "kafka-python's import path of `MetricConfig`.",
        names="kafka.metrics.kafka_metric MetricConfig",
        apart="sys",
    ),
    "kafka.metrics.metric_name": Address(
        "kafka-python's import path of `MetricName`.",
        names="kafka.metrics.kafka_metric MetricName",
    ),
    "kafka.metrics.quota": Address(
        "kafka-python's import path of `Quota`.",
        names="kafka.metrics.kafka_metric Quota",
    ),
    "kafka.metrics.stats": Address(
        "kafka-python's import path of the quantities that sensors feed, and of `Sensor` itself.",
        names="""
            kafka.legacy.metrics.sampled_stat Avg
            kafka.legacy.metrics.sampled_stat Count
            kafka.legacy.metrics.percentiles Histogram
            kafka.legacy.metrics.sampled_stat Max
            kafka.legacy.metrics.sampled_stat Min
            kafka.legacy.metrics.percentiles Percentile
            kafka.legacy.metrics.percentiles Percentiles
            kafka.legacy.metrics.sampled_stat Rate
            kafka.metrics.sensor Sensor
            kafka.metrics.stat Total
        """,
    ),
    "kafka.metrics.stats.avg": Address(
        "kafka-python's import path of `Avg`.",
        names="kafka.legacy.metrics.sampled_stat Avg",
        apart="""
            kafka.metrics.kafka_metric MetricConfig
            kafka.legacy.metrics.sampled_stat AbstractSampledStat
        """,
    ),
    "kafka.metrics.stats.count": Address(
        "kafka-python's import path of `Count`.",
        names="kafka.legacy.metrics.sampled_stat Count",
        apart="""
            kafka.metrics.kafka_metric MetricConfig
            kafka.legacy.metrics.sampled_stat AbstractSampledStat
        """,
    ),
    "kafka.metrics.stats.histogram": Address(
        "kafka-python's import path of `BinScheme` and `Histogram`.",
        names="kafka.legacy.metrics.percentiles BinScheme Histogram",
    ),
    "kafka.metrics.stats.max_stat": Address(
        "kafka-python's import path of `Max`.",
        names="kafka.legacy.metrics.sampled_stat Max",
        apart="""
            kafka.metrics.kafka_metric MetricConfig
            kafka.legacy.metrics.sampled_stat AbstractSampledStat
        """,
    ),
    "kafka.metrics.stats.min_stat": Address(
        "kafka-python's import path of `Min`.",
        names="kafka.legacy.metrics.sampled_stat Min",
        apart="""
            kafka.metrics.kafka_metric MetricConfig
            kafka.legacy.metrics.sampled_stat AbstractSampledStat
        """,
    ),
    "kafka.metrics.stats.percentile": Address(
        "kafka-python's import path of `Percentile`.",
        names="kafka.legacy.metrics.percentiles Percentile",
        apart="kafka.metrics.kafka_metric MetricName",
    ),
    "kafka.metrics.stats.percentiles": Address(
        "kafka-python's import path of `BucketSizing` and `Percentiles`.",
        names="kafka.legacy.metrics.percentiles BucketSizing Percentiles",
        apart="""
            kafka.metrics.stat AbstractCompoundStat NamedMeasurable
            kafka.metrics.kafka_metric AnonMeasurable
            kafka.metrics.kafka_metric MetricConfig
            kafka.legacy.metrics.percentiles BinScheme Histogram
            kafka.legacy.metrics.percentiles Percentile
            kafka.legacy.metrics.sampled_stat AbstractSampledStat
        """,
    ),
    "kafka.metrics.stats.rate": Address(
        "kafka-python's import path of `TimeUnit`, `SampledTotal` and `Rate`.",
        names="kafka.legacy.metrics.sampled_stat TimeUnit SampledTotal Rate",
        apart="""
            kafka.metrics.stat AbstractMeasurableStat
            kafka.metrics.kafka_metric MetricConfig
            kafka.legacy.metrics.sampled_stat AbstractSampledStat
        """,
    ),
    "kafka.metrics.stats.sampled_stat": Address(
        "kafka-python's import path of `AbstractSampledStat`.",
        names="kafka.legacy.metrics.sampled_stat AbstractSampledStat",
        apart="""
            kafka.metrics.stat AbstractMeasurableStat
            kafka.metrics.kafka_metric MetricConfig
        """,
    ),
    "kafka.metrics.stats.sensor": Address(
        "kafka-python's import path of `Sensor`.",
        names="kafka.metrics.sensor Sensor",
        apart="""
            kafka.errors QuotaViolationError
            kafka.metrics.stat AbstractCompoundStat
            kafka.metrics.kafka_metric KafkaMetric
            kafka.metrics.stat AbstractMeasurableStat
            kafka.metrics.kafka_metric MetricConfig
            kafka.metrics.kafka_metric MetricName
            kafka.metrics.stat AbstractStat
        """,
    ),
    "kafka.metrics.stats.total": Address(
        "kafka-python's import path of `Total`.",
        names="kafka.metrics.stat Total",
        apart="""
            kafka.metrics.stat AbstractMeasurableStat
            kafka.metrics.kafka_metric MetricConfig
        """,
    ),
    "kafka.oauth": Address(
        "kafka-python's import path of `AbstractTokenProvider`, in 1.4 and 2.0.",
        names="kafka.net.sasl.oauth AbstractTokenProvider",
    ),
    "kafka.oauth.abstract": Address(
        "kafka-python's import path of `AbstractTokenProvider`, in 1.4 and 2.0.",
        names="kafka.net.sasl.oauth AbstractTokenProvider",
    ),
    "kafka.partitioner.base": Address(
        "kafka-python's import path of the partitioners' base class, from 0.9 to 1.4.",
        names="kafka.legacy.partitioners Partitioner",
    ),
    "kafka.partitioner.hashed": Address(
        "kafka-python's import path of partitioners that hash, from 0.9 to 1.4.",
        names="""
            kafka.legacy.partitioners HashedPartitioner LegacyPartitioner Murmur2Partitioner Partitioner murmur2
        """,
    ),
    "kafka.partitioner.roundrobin": Address(
        "kafka-python's import path of `RoundRobinPartitioner`.",
        names="kafka.partitioner.default RoundRobinPartitioner",
    ),
    "kafka.partitioner.sticky": Address(
        "kafka-python's import path of `StickyPartitioner`.",
        names="kafka.partitioner.default StickyPartitioner",
    ),
    "kafka.producer.base": Address(
        "kafka-python's import path of `Producer`, from 0.9 to 1.4.",
        names="""
            kafka.legacy.producers.producer_classes ASYNC_LOG_MESSAGES_ON_ERROR ASYNC_QUEUE_MAXSIZE
            kafka.legacy.producers.producer_classes ASYNC_QUEUE_PUT_TIMEOUT
            kafka.legacy.producers.producer_classes ASYNC_RETRY_BACKOFF_MS ASYNC_RETRY_LIMIT ASYNC_RETRY_ON_TIMEOUTS
            kafka.legacy.producers.producer_classes ASYNC_STOP_TIMEOUT_SECS BATCH_SEND_DEFAULT_INTERVAL
            kafka.legacy.producers.producer_classes BATCH_SEND_MSG_COUNT
            kafka.legacy.producers.producer_classes STOP_ASYNC_PRODUCER SYNC_FAIL_ON_ERROR_DEFAULT Producer
        """,
    ),
    "kafka.producer.keyed": Address(
        "kafka-python's import path of `KeyedProducer`, from 0.9 to 1.4.",
        names="kafka.legacy.producers.producer_classes KeyedProducer",
    ),
    "kafka.producer.simple": Address(
        "kafka-python's import path of `SimpleProducer`, from 0.9 to 1.4.",
        names="kafka.legacy.producers.producer_classes SimpleProducer",
    ),
    "kafka.protocol": Address(
        "kafka-python's import path of messages, by payload tuples (0.9 and 1.x) and as classes (its submodules).",
        names="""
            kafka.legacy.protocol.kafka_protocol KafkaProtocol
            kafka.legacy.protocol.message_sets ALL_CODECS ATTRIBUTE_CODEC_MASK CODEC_GZIP CODEC_NONE CODEC_SNAPPY
            kafka.legacy.protocol.message_sets create_gzip_message create_message create_message_set
            kafka.legacy.protocol.message_sets create_snappy_message
            kafka.wire.index API_NAMES:API_KEYS
        """,
    ),
    "kafka.protocol.abstract": Address(
        "kafka-python's import path of `AbstractType`.",
        names="kafka.legacy.protocol.schema_types AbstractType",
    ),
    "kafka.protocol.add_offsets_to_txn": _OF_2,
    "kafka.protocol.add_partitions_to_txn": _OF_2,
    "kafka.protocol.admin": _OF_BOTH,
    "kafka.protocol.admin.acl": _OF_3,
    "kafka.protocol.admin.client_quotas": _OF_3,
    "kafka.protocol.admin.cluster": _OF_3,
    "kafka.protocol.admin.configs": _OF_3,
    "kafka.protocol.admin.groups": _OF_3,
    "kafka.protocol.admin.topics": _OF_3,
    "kafka.protocol.admin.transactions": _OF_3,
    "kafka.protocol.admin.users": _OF_3,
    "kafka.protocol.api": Address(
        "kafka-python's import path of `Request`, `Response` and their headers.",
        names="""
            kafka.legacy.protocol.api Request RequestHeader RequestHeaderV2 Response ResponseHeader ResponseHeaderV2
        """,
    ),
    "kafka.protocol.api_message": Address(
        "kafka-python 3's import path of `ApiMessage`.",
        names="kafka.legacy.protocol.api_message ApiMessage",
    ),
    "kafka.protocol.api_versions": _OF_2,
    "kafka.protocol.commit": _OF_2,
    "kafka.protocol.consumer": _OF_3,
    "kafka.protocol.consumer.fetch": _OF_3,
    "kafka.protocol.consumer.group": _OF_3,
    "kafka.protocol.consumer.metadata": _OF_3,
    "kafka.protocol.consumer.offsets": _OF_3,
    "kafka.protocol.end_txn": _OF_2,
    "kafka.protocol.fetch": _OF_2,
    "kafka.protocol.find_coordinator": _OF_2,
    "kafka.protocol.frame": Address(
        "kafka-python's import path of `KafkaBytes`.",
        names="kafka.legacy.protocol.parser KafkaBytes",
    ),
    "kafka.protocol.group": _OF_2,
    "kafka.protocol.init_producer_id": _OF_2,
    "kafka.protocol.legacy": Address(
        "kafka-python's import path of messages by payload tuples (0.9 and 1.x).",
        names="""
            kafka.legacy.protocol.kafka_protocol KafkaProtocol
            kafka.legacy.protocol.message_sets ALL_CODECS ATTRIBUTE_CODEC_MASK CODEC_GZIP CODEC_NONE CODEC_SNAPPY
            kafka.legacy.protocol.message_sets create_gzip_message create_message create_message_set
            kafka.legacy.protocol.message_sets create_snappy_message
        """,
    ),
    "kafka.protocol.list_offsets": _OF_2,
    "kafka.protocol.message": Address(
        "kafka-python's import path of messages of magic 0 and 1.",
        names="kafka.legacy.protocol.message Message MessageSet PartialMessage",
    ),
    "kafka.protocol.metadata": _OF_BOTH,
    "kafka.protocol.metadata.api_versions": _OF_3,
    "kafka.protocol.metadata.find_coordinator": _OF_3,
    "kafka.protocol.metadata.metadata": _OF_3,
    "kafka.protocol.offset": _OF_2,
    "kafka.protocol.offset_for_leader_epoch": _OF_2,
    "kafka.protocol.old": Address(
        "kafka-python 3's import path of what 2.x had in `kafka.protocol`.",
    ),
    "kafka.protocol.old.abstract": Address(
        "kafka-python 3's import path of what 2.x had in `kafka.protocol.abstract`.", same_as="kafka.protocol.abstract"
    ),
    "kafka.protocol.old.add_offsets_to_txn": Address(
        "kafka-python 3's import path of what 2.x had in `kafka.protocol.add_offsets_to_txn`.",
        same_as="kafka.protocol.add_offsets_to_txn",
    ),
    "kafka.protocol.old.add_partitions_to_txn": Address(
        "kafka-python 3's import path of what 2.x had in `kafka.protocol.add_partitions_to_txn`.",
        same_as="kafka.protocol.add_partitions_to_txn",
    ),
    "kafka.protocol.old.admin": Address(
        "kafka-python 3's import path of what 2.x had in `kafka.protocol.admin`.", made_by=(_VERSIONS,)
    ),
    "kafka.protocol.old.api": Address(
        "kafka-python 3's import path of what 2.x had in `kafka.protocol.api`.", same_as="kafka.protocol.api"
    ),
    "kafka.protocol.old.api_versions": Address(
        "kafka-python 3's import path of what 2.x had in `kafka.protocol.api_versions`.",
        same_as="kafka.protocol.api_versions",
    ),
    "kafka.protocol.old.commit": Address(
        "kafka-python 3's import path of what 2.x had in `kafka.protocol.commit`.", same_as="kafka.protocol.commit"
    ),
    "kafka.protocol.old.consumer_protocol": Address(
        "kafka-python 3's import path of what 2.x had in `kafka.coordinator.protocol`.",
        same_as="kafka.coordinator.protocol",
    ),
    "kafka.protocol.old.end_txn": Address(
        "kafka-python 3's import path of what 2.x had in `kafka.protocol.end_txn`.", same_as="kafka.protocol.end_txn"
    ),
    "kafka.protocol.old.fetch": Address(
        "kafka-python 3's import path of what 2.x had in `kafka.protocol.fetch`.", same_as="kafka.protocol.fetch"
    ),
    "kafka.protocol.old.find_coordinator": Address(
        "kafka-python 3's import path of what 2.x had in `kafka.protocol.find_coordinator`.",
        same_as="kafka.protocol.find_coordinator",
    ),
    "kafka.protocol.old.group": Address(
        "kafka-python 3's import path of what 2.x had in `kafka.protocol.group`.", same_as="kafka.protocol.group"
    ),
    "kafka.protocol.old.init_producer_id": Address(
        "kafka-python 3's import path of what 2.x had in `kafka.protocol.init_producer_id`.",
        same_as="kafka.protocol.init_producer_id",
    ),
    "kafka.protocol.old.list_offsets": Address(
        "kafka-python 3's import path of what 2.x had in `kafka.protocol.list_offsets`.",
        same_as="kafka.protocol.list_offsets",
    ),
    "kafka.protocol.old.metadata": Address(
        "kafka-python 3's import path of what 2.x had in `kafka.protocol.metadata`.", made_by=(_VERSIONS,)
    ),
    "kafka.protocol.old.offset_for_leader_epoch": Address(
        "kafka-python 3's import path of what 2.x had in `kafka.protocol.offset_for_leader_epoch`.",
        same_as="kafka.protocol.offset_for_leader_epoch",
    ),
    "kafka.protocol.old.produce": Address(
        "kafka-python 3's import path of what 2.x had in `kafka.protocol.produce`.", same_as="kafka.protocol.produce"
    ),
    "kafka.protocol.old.sasl_authenticate": Address(
        "kafka-python 3's import path of what 2.x had in `kafka.protocol.sasl_authenticate`.",
        same_as="kafka.protocol.sasl_authenticate",
    ),
    "kafka.protocol.old.sasl_handshake": Address(
        "kafka-python 3's import path of what 2.x had in `kafka.protocol.sasl_handshake`.",
        same_as="kafka.protocol.sasl_handshake",
    ),
    "kafka.protocol.old.struct": Address(
        "kafka-python 3's import path of what 2.x had in `kafka.protocol.struct`.", same_as="kafka.protocol.struct"
    ),
    "kafka.protocol.old.txn_offset_commit": Address(
        "kafka-python 3's import path of what 2.x had in `kafka.protocol.txn_offset_commit`.",
        same_as="kafka.protocol.txn_offset_commit",
    ),
    "kafka.protocol.old.types": Address(
        "kafka-python 3's import path of what 2.x had in `kafka.protocol.types`.", same_as="kafka.protocol.types"
    ),
    "kafka.protocol.parser": Address(
        "kafka-python's import path of the frames of a connection.",
        names="kafka.legacy.protocol.parser KafkaProtocol log",
    ),
    "kafka.protocol.pickle": Address(
        "kafka-python's import path of what let methods be pickled under Python 2; today's Python needs nothing.",
    ),
    "kafka.protocol.produce": _OF_2,
    "kafka.protocol.producer": _OF_3,
    "kafka.protocol.producer.produce": _OF_3,
    "kafka.protocol.producer.transaction": _OF_3,
    "kafka.protocol.sasl": _OF_3,
    "kafka.protocol.sasl_authenticate": _OF_2,
    "kafka.protocol.sasl_handshake": _OF_2,
    "kafka.protocol.struct": Address(
        "kafka-python's import path of `Struct`.",
        names="kafka.legacy.protocol.schema_types Struct",
    ),
    "kafka.protocol.txn_offset_commit": _OF_2,
    "kafka.protocol.types": Address(
        "kafka-python's import path of the types of schemas.",
        names="""
            kafka.legacy.protocol.schema_types CompactArray CompactBytes CompactString TaggedFields
            kafka.legacy.protocol.schema_types UnsignedVarInt32 VarInt32 VarInt64
            kafka.legacy.protocol.schema_types AbstractType Array BitField Boolean Bytes Float64 Int8 Int16 Int32 Int64
            kafka.legacy.protocol.schema_types Schema String _pack _unpack
        """,
    ),
    "kafka.record.default_records": Address(
        "kafka-python's import path of batches of magic 2.",
        names="""
            kafka.legacy.record.default_record DefaultRecordBase
            kafka.legacy.record.default_batch DefaultRecordBatch
            kafka.legacy.record.default_batch DefaultRecordBatchBuilder
            kafka.legacy.record.default_record ControlRecord DefaultRecord DefaultRecordMetadata
        """,
    ),
    "kafka.record.legacy_records": Address(
        "kafka-python's import path of messages of magic 0 and 1.",
        names="""
            kafka.legacy.record.legacy_batch LegacyRecordBase
            kafka.legacy.record.legacy_batch LegacyRecord LegacyRecordBatch
            kafka.legacy.record.legacy_batch LegacyRecordBatchBuilder LegacyRecordMetadata
        """,
    ),
    "kafka.record.memory_records": Address(
        "kafka-python's import path of records in memory.",
        names="kafka.legacy.record.memory_records MemoryRecords MemoryRecordsBuilder",
    ),
    "kafka.record.util": Address(
        "kafka-python's import path of numbers of variable length and checksums.",
        names="""
            kafka.legacy.record.varints_and_checksums calc_crc32 calc_crc32c crc32c_c crc32c_py decode_varint
            kafka.legacy.record.varints_and_checksums encode_varint
            kafka.legacy.record.varints_and_checksums size_of_varint
        """,
    ),
    "kafka.sasl": Address(
        "kafka-python's folder of SASL mechanisms, from 2.1 to 2.3; they are chosen by the option `sasl_mechanism`.",
        names="kafka.net.sasl get_sasl_mechanism register_sasl_mechanism",
    ),
    "kafka.sasl.oauth": Address(
        "kafka-python's import path of `AbstractTokenProvider`, from 2.1 to 2.3.",
        names="kafka.net.sasl.oauth AbstractTokenProvider",
    ),
    "kafka.serializer.json": Address(
        "kafka-python's import path of `JsonSerializer`.",
        names="kafka.serializer.default JsonSerializer",
    ),
    "kafka.serializer.wrapper": Address(
        "kafka-python's import path of `SerializeWrapper` and `DeserializeWrapper`.",
        names="kafka.serializer.default DeserializeWrapper SerializeWrapper",
    ),
    "kafka.util": Address(
        "kafka-python's import path of its helpers, from 0.9 on.",
        names="""
            kafka.coordinator.offset_arguments LEGAL_TOPIC_NAME LEGAL_TOPIC_NAME:TOPIC_LEGAL_CHARS
            kafka.coordinator.offset_arguments LONGEST_TOPIC_NAME LONGEST_TOPIC_NAME:TOPIC_MAX_LENGTH
            kafka.coordinator.offset_arguments check_topic_name check_topic_name:ensure_valid_topic_name
            kafka.legacy.kafka_util MAX_INT TO_SIGNED crc32 kafka_bytestring read_int_string read_short_string
            kafka.legacy.kafka_util relative_unpack write_int_string write_short_string
            kafka.admin.enums EnumHelper
            kafka.legacy.kafka_util classproperty synchronized
            kafka.legacy.payloads group_by_topic_and_partition
            kafka.legacy.kafka_util ReentrantTimer Timer
            kafka.legacy.kafka_util Dict WeakMethod try_method_on_system_exit
        """,
    ),
    "kafka.vendor": Address(
        "Where kafka-python kept other people's modules.",
    ),
    "kafka.vendor.enum34": Address(
        "kafka-python's copy of `enum`, for Python 2: the standard library's.",
        names="enum *",
    ),
    "kafka.vendor.selectors34": Address(
        "kafka-python's copy of `selectors`, for Python 2: the standard library's.",
        names="selectors *",
    ),
    "kafka.vendor.six": Address(
        "kafka-python's import path of `six`.",
        names="""
            kafka.legacy.six *
            kafka.vendor.six moves
        """,
    ),
    "kafka.vendor.six.moves": Address(
        "kafka-python's import path of `six.moves`.",
        names="kafka.legacy.six_moves *",
    ),
    "kafka.vendor.socketpair": Address(
        "kafka-python's `socketpair` for systems that lack it: the standard library's, which has it everywhere.",
        names="socket socketpair",
    ),
}

_GETATTR = '''

def __getattr__(name: str) -> _Any:
    """Load a submodule, or a name that this module had in kafka-python because it imported it (PEP 562)."""
    return _old_names.of_a_package(__name__, name, {})
'''


def file_of(path: str) -> str:
    """Return the file for an import path, relative to the folder that contains `kafka`, with slashes."""
    is_package = any(other.startswith(f"{path}.") for other in ADDRESSES)
    return path.replace(".", "/") + ("/__init__.py" if is_package else ".py")


def source_of(path: str) -> str:
    """Return the source of the module at an import path. Raises `KeyError` for a path that is not in the table."""
    row = ADDRESSES[path]
    names = [*_imported(row.names)]
    code = [f'"""{row.doc}"""', "", "from typing import Any as _Any", "", "from kafka import _old_names"]
    code += [statement for _, statement in (*names, *_imported(row.apart))]
    if row.same_as:
        code += [f"from {row.same_as} import *", f"from {row.same_as} import __all__ as __all__"]
    elif row.made_by:
        makers = [each.partition(".") for each in row.made_by]
        code += [f"from kafka.legacy.protocol.{module} import {name} as _{name}" for module, _, name in makers]
        code += ["", "_found = " + " | ".join(f'_{name}("{path}")' for *_, name in makers)]
        code += ["globals().update(_found)", "__all__ = sorted(_found)"]
    elif "*" not in dict(names):
        code += ["", f"__all__ = {[name for name, _ in names]}"]
    return "\n".join([*code, _GETATTR])


def _imported(lines: str) -> Iterator[tuple[str, str]]:
    """Yield the names in the lines of a row, each with the statement that imports it."""
    for line in lines.splitlines():
        home, *names = line.split() or [""]
        if home and not names:
            yield home, f"import {home} as {home}"
        for name, _, other in (each.partition(":") for each in names):
            if name == "*":
                yield name, f"from {home} import *"
            else:
                yield other or name, f"from {home} import {name} as {other or name}"
