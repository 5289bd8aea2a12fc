"""Which subject each name of the reference belongs to, and which guides explain a class or a module.

A class with many methods shows them by subject, and a long one has a page for each subject. To place a new method, add
its name to the subject in `SUBJECTS`; methods of admin clients follow the class that defines them. The build fails for
a method without a subject.
"""

from __future__ import annotations

from collections.abc import Iterable

_COMMON = (
    "bootstrap bootstrap_connected client_instance_id close config DEFAULT_CONFIG DEPRECATED_CONFIGS health metrics "
    "max_usable_produce_magic register_metric_for_subscription start stop unregister_metric_from_subscription"
)
_CONSUMER = {
    "Subscriptions and groups": (
        "subscribe subscription unsubscribe assign assignment pause paused resume enforce_rebalance group_metadata "
        "partitions_for_topic topics"
    ),
    "Reading records": "poll getmany getone poll_arrow poll_columns wakeup last_poll_timestamp",
    "Positions and offsets": (
        "beginning_offsets commit commit_async committed current_lag end_offsets highwater last_stable_offset "
        "offsets_for_times plot_lag position seek seek_to_beginning seek_to_committed seek_to_end"
    ),
    "Starting, closing and observing": _COMMON,
    "Names of old releases": (
        "configure fetch_messages get_partition_offsets next next_v1 next_v2 offsets set_topic_partitions task_done "
        "DEFAULT_SESSION_TIMEOUT_MS_0_9 DEFAULT_SESSION_TIMEOUT_MS_PRE_KIP_735"
    ),
}
_PRODUCER = {
    "Sending records": "send send_and_wait send_arrow flush purge partitions_for create_batch send_batch",
    "Transactions": (
        "init_transactions transaction begin_transaction send_offsets_to_transaction commit_transaction "
        "abort_transaction prepare_transaction transaction_identity transaction_state"
    ),
    "Starting, closing and observing": _COMMON,
}
_SHARE = {
    "Reading records": "subscribe subscription unsubscribe poll poll_arrow poll_columns wakeup",
    "Acknowledgements": (
        "acknowledge acquisition_lock_timeout_ms commit commit_async commit_sync set_acknowledgement_commit_callback"
    ),
    "Starting, closing and observing": _COMMON,
}
_REGISTRY = {
    "Schemas": (
        "register_schema register_schema_full_response lookup_schema get_schema get_schema_by_guid get_schema_types "
        "get_schema_versions get_subjects_by_schema_id get_referenced_by"
    ),
    "Subjects and versions": (
        "get_subjects get_latest_version get_latest_with_metadata get_version get_versions delete_subject "
        "delete_version get_contexts"
    ),
    "Compatibility and settings": (
        "test_compatibility test_compatibility_all_versions compatibility_errors get_compatibility set_compatibility "
        "get_config set_config delete_config get_mode update_mode delete_mode get_global_mode update_global_mode"
    ),
    "Associations": "create_association get_associations_by_resource_name delete_associations",
    "The client": "new_client config reader writer clear_caches clear_latest_caches close aclose",
}
SUBJECTS: dict[str, dict[str, str]] = {
    "KafkaConsumer": _CONSUMER,
    "AIOKafkaConsumer": _CONSUMER,
    "KafkaProducer": _PRODUCER,
    "AIOKafkaProducer": _PRODUCER,
    "KafkaShareConsumer": _SHARE,
    "SchemaRegistryClient": _REGISTRY,
    "kafka": {
        "Reading, health and options": "read read_async load_properties Health HealthState",
        "Partitions and offsets": (
            "TopicPartition TopicPartitionReplica OffsetAndMetadata OffsetAndTimestamp OffsetSpec IsolationLevel"
        ),
        "Groups": (
            "ConsumerRebalanceListener AsyncConsumerRebalanceListener ConsumerGroupMetadata SubscriptionPattern "
            "AcknowledgeType"
        ),
        "Serializers": "Serializer Deserializer DefaultSerializer JsonSerializer",
    },
    "kafka.admin": {
        "Topics, partitions and offsets": "NewTopic NewPartitions OffsetShift OffsetTimestamp ReplicaLogDir",
        "Configurations and the cluster": (
            "AlterConfigOp ConfigFilterType ConfigResource ConfigResourceType ConfigSourceType ConfigType "
            "RaftVoterEndpoint UpdateFeatureType"
        ),
        "Groups and transactions": (
            "GroupState GroupType MemberToRemove SharePartitionOffset AbortTransactionSpec FencedProducer "
            "PartitionProducerState ProducerState TransactionDescription TransactionListing TransactionState"
        ),
        "ACLs, users and tokens": (
            "ACL ACLFilter ACLOperation ACLPermissionType ACLResourcePatternType ResourcePattern ResourcePatternFilter "
            "ResourceType ScramMechanism UserScramCredentialDeletion UserScramCredentialUpsertion DelegationToken"
        ),
    },
    "kafka.schema_registry": {
        "Schemas and rules": (
            "Schema SchemaReference RegisteredSchema SchemaVersion SchemaEntity SchemaTags Metadata MetadataProperties "
            "MetadataTags Rule RuleKind RuleMode RuleParams RuleSet"
        ),
        "Settings, associations and errors": (
            "ServerConfig ConfigCompatibilityLevel Association AssociationCreateOrUpdateInfo "
            "AssociationCreateOrUpdateRequest AssociationInfo AssociationResponse SchemaRegistryError "
            "SchemaRegistryConnectionError"
        ),
        "Subject names and schema ids": (
            "SchemaId record_subject_name_strategy reference_subject_name_strategy topic_record_subject_name_strategy "
            "topic_subject_name_strategy dual_schema_id_deserializer header_schema_id_serializer "
            "prefix_schema_id_deserializer prefix_schema_id_serializer"
        ),
    },
    "kafka.record": {
        "Decoding batches": (
            "BatchDecoder decode_batches decode_run BatchHeader batch_headers whole_batches TimestampType arrow_schema "
            "concat_arrow"
        ),
        "Encoding and checking batches": (
            "BatchBuilder ArrowRows EncodedBatch Compression ProducerState BatchContents check_batch validate_batch "
            "set_offsets set_producer_state"
        ),
    },
}
"""By class or module: the names of each subject, in the order of the pages. Async... is like the other class."""

ADMIN = {
    "Topics and partitions": ("TopicCalls", "PartitionCalls"),
    "Configurations and quotas": ("ConfigCalls", "QuotaCalls"),
    "Groups and their offsets": ("GroupCalls", "GroupOffsetCalls"),
    "Transactions": ("TransactionCalls",),
    "ACLs, users and tokens": ("AccessCalls", "TokenCalls"),
    "The cluster": ("ClusterCalls", "QuorumCalls", "LogDirCalls"),
    "The client": ("BaseAdminClient", "KafkaAdminClient"),
}
"""The subjects of admin clients: the classes that define their methods, without the prefix Async."""

RESULTS: dict[str, dict[str, str]] = {
    "kafka.admin": {
        "kafka.admin.results": (
            "CreateTopicsResult DeleteTopicsResult CreatePartitionsResult ElectLeadersResult AlterConfigsResult "
            "DescribedConfigs DescribeConfigsResult LogDirsResult Result Response"
        ),
        "kafka.admin.groups": "ListedGroups ListedGroup",
        "kafka.admin.group_descriptions": "DescribedGroups",
        "kafka.admin.acls": "MatchedACL",
        "kafka.admin.cluster": "BrokerVersionData",
    },
    "kafka.producer": {
        "kafka.producer.arrow_future": "FutureArrowResult ArrowResult",
        "kafka.producer._sync.transaction_calls": "TransactionBlock",
        "kafka.producer._async.transaction_calls": "AsyncTransactionBlock",
        "kafka.producer.transactions.state_machine": "TransactionIdentity TransactionState",
    },
    "kafka.consumer": {
        "kafka.consumer.commit.commit_future": "CommitFuture CommittedOffset",
    },
    "kafka.schema_registry": {
        "kafka.formats.registry._sync.column_calls": "RegistryReader",
        "kafka.formats.registry._async.column_calls": "AsyncRegistryReader",
        "kafka.formats.registry.schema_columns": "RegistryWriter",
    },
    "kafka.spark": {
        "kafka.spark.monitoring.progress_reports": "QueryProgress",
        "kafka.spark.exactly_once.open_transactions": "QueryTransactions",
    },
}
"""By module: the classes that its calls return and that programs do not create, by the modules that define them."""
_ON_THEIR_PAGES = (
    "kafka.consumer.AsyncBoundedRead",
    "kafka.consumer.BoundedRead",
    "kafka.consumer.Columns",
    "kafka.metrics.sensor.Sensor",
    "kafka.schema_registry.serde.FieldSerializer",
    "kafka.schema_registry.serde.FieldDeserializer",
    "kafka.broker.client_metrics.PushedMetrics",
    "kafka.record.column_memory.ColumnBuffers",
    "kafka.testing.network.MemoryServer",
    "kafka.testing.transport.MemoryTransport",
    "kafka.aio.structs.RecordMetadata",
    "kafka.aio.producer.producer.BatchBuilder",
    "kafka.aio.producer.producer.Appended",
    "kafka.aio.producer.producer.BatchRecord",
    *(f"kafka.config.keywords.{each}Configs" for each in ("Consumer", "Producer", "Share", "Admin")),
    *(f"kafka.aio.options.{each}Configs" for each in ("AIOConsumer", "AIOProducer")),
)
"""Others that programs do not create."""
RESULT_PATHS = {
    f"{home}.{each}" for homes in RESULTS.values() for home, names in homes.items() for each in names.split()
} | set(_ON_THEIR_PAGES)
"""Classes whose constructors are not shown."""

SIGNATURE_TYPES: dict[str, tuple[str, ...]] = {
    "Keys, values and data": (
        "kafka.record.records.Key",
        "kafka.record.records.Value",
        "kafka.formats.column_io.ReadAs",
        "kafka.formats.column_io.WriteAs",
        "kafka.producer.arrow_future.ArrowData",
        "kafka.producer.arrow_future.ArrowStream",
        "kafka.producer.arrow_future.ArrowArray",
        "kafka.record.column_memory.ColumnBuffers",
        "kafka.formats.protobuf.codec.FindPosition",
        "kafka.display.progress_bar.Tell",
    ),
    "Options": (
        *(f"kafka.config.keywords.{each}Configs" for each in ("Consumer", "Producer", "Share", "Admin")),
        *(f"kafka.aio.options.{each}Configs" for each in ("AIOConsumer", "AIOProducer")),
        "kafka.config.security.ProxyAddress",
    ),
    "Partitioners, assignors and requests": (
        "kafka.partitioner.abc.KnownPartitions",
        "kafka.wire.api.consumer_protocol.ConsumerProtocolAssignment",
        "kafka.wire.api.consumer_protocol.ConsumerProtocolSubscription",
        "kafka.wire.message.Request",
    ),
    "Schema registry": (
        "kafka.schema_registry._sync.value_schemas.Registry",
        "kafka.schema_registry._async.value_schemas.AsyncRegistry",
        "kafka.schema_registry.serde.FieldSerializer",
        "kafka.schema_registry.serde.FieldDeserializer",
    ),
    "Metrics": (
        "kafka.metrics.kafka_metric.AbstractMeasurable",
        "kafka.metrics.metrics_reporter.AbstractMetricsReporter",
        "kafka.metrics.sensor.Sensor",
        "kafka.metrics.stat.AbstractMeasurableStat",
        "kafka.metrics.stat.AbstractCompoundStat",
        "kafka.broker.client_metrics.PushedMetrics",
    ),
    "Tests and simulations": (
        "kafka.pytest_plugin.fixtures.MakeTopic",
        "kafka.testing.network.MemoryServer",
        "kafka.testing.transport.MemoryTransport",
    ),
    "Results of aiokafka's producer": (
        "kafka.aio.structs.RecordMetadata",
        "kafka.aio.producer.producer.BatchBuilder",
        "kafka.aio.producer.producer.Appended",
        "kafka.aio.producer.producer.BatchRecord",
    ),
}
"""By subject: the types that stand in public signatures, but that no module of the reference offers."""
WITHOUT_MEMBERS = frozenset({
    "Registry", "AsyncRegistry", "Request", "MemoryTransport",
    "ConsumerProtocolAssignment", "ConsumerProtocolSubscription",
    "ConsumerConfigs", "ProducerConfigs", "ShareConfigs", "AdminConfigs", "AIOConsumerConfigs", "AIOProducerConfigs",
})  # fmt: skip
"""Of these, those whose text is enough: their members are those of other classes, or fields with a page of options."""

_CONSUMERS = ("START", "GROUPS", "DELIVERY", "ARROW", "OPTIONS/consumer-the-group", "OPTIONS/consumer-fetching")
_PRODUCERS = ("START", "DELIVERY", "TRANSACTIONS", "ARROW", "OPTIONS/producer")
_REGISTRIES = ("SCHEMA_REGISTRY", "recipes/schema-evolution")
GUIDES: dict[str, tuple[str, ...]] = {
    "KafkaConsumer": _CONSUMERS,
    "AsyncKafkaConsumer": ("ASYNCIO", *_CONSUMERS[1:]),
    "KafkaProducer": _PRODUCERS,
    "AsyncKafkaProducer": ("ASYNCIO", *_PRODUCERS[1:]),
    "KafkaShareConsumer": ("SHARE_GROUPS", "OPTIONS/share-consumer"),
    "AsyncKafkaShareConsumer": ("SHARE_GROUPS", "ASYNCIO", "OPTIONS/share-consumer"),
    "KafkaAdminClient": ("ADMIN", "OPTIONS/connections"),
    "AsyncKafkaAdminClient": ("ADMIN", "ASYNCIO", "OPTIONS/connections"),
    "SchemaRegistryClient": _REGISTRIES,
    "AsyncSchemaRegistryClient": (*_REGISTRIES, "ASYNCIO"),
    "AIOKafkaConsumer": ("MIGRATION/from-aiokafka", "ASYNCIO"),
    "AIOKafkaProducer": ("MIGRATION/from-aiokafka", "ASYNCIO"),
    "kafka": ("START", "ARROW", "GROUPS"),
    "kafka.structs": ("START", "ADMIN"),
    "kafka.admin": ("ADMIN",),
    "kafka.producer": ("DELIVERY",),
    "kafka.consumer": ("GROUPS", "ARROW", "START"),
    "kafka.serializer": ("FORMATS",),
    "kafka.formats": ("FORMATS", "ARROW"),
    "kafka.schema_registry": _REGISTRIES,
    "kafka.schema_registry.avro": ("SCHEMA_REGISTRY/avro-keys-and-values", "SCHEMA_REGISTRY"),
    "kafka.schema_registry.json_schema": ("SCHEMA_REGISTRY/json-keys-and-values", "SCHEMA_REGISTRY"),
    "kafka.schema_registry.protobuf": ("SCHEMA_REGISTRY/protobuf-keys-and-values", "SCHEMA_REGISTRY"),
    "kafka.serialization": ("SCHEMA_REGISTRY", "MIGRATION/from-confluent-kafka"),
    "kafka.partitioner": ("OPTIONS/producer",),
    "kafka.interceptor": ("OPTIONS/producer", "OPTIONS/consumer-returned-records"),
    "kafka.coordinator.assignors.abstract": ("GROUPS",),
    "kafka.record": ("ARROW", "DESIGN"),
    "kafka.config": ("OPTIONS", "MIGRATION"),
    "kafka.health": ("MONITORING", "KUBERNETES/probes"),
    "kafka.metrics": ("MONITORING",),
    "kafka.metrics.prometheus": ("MONITORING",),
    "kafka.metrics.opentelemetry": ("MONITORING",),
    "kafka.broker": ("TESTING",),
    "kafka.broker.faults": ("TESTING", "recipes/test-with-a-failing-broker"),
    "kafka.pytest_plugin": ("TESTING",),
    "kafka.spark": ("SPARK", "PIPELINES"),
    "kafka.aio": ("MIGRATION/from-aiokafka", "ASYNCIO"),
    "kafka.testing": ("TESTING", "RELIABILITY"),
}
"""By class or module: the pages of the site that explain it, the most useful first."""


def of_names(owner: str, names: Iterable[str]) -> dict[str, list[str]]:
    """The names of a class or a module by subject, in the order of `SUBJECTS`; empty if it has no subjects.

    Raises `ValueError` for a name without a subject.
    """
    subjects = SUBJECTS.get(owner) or SUBJECTS.get(owner.removeprefix("Async"))
    if subjects is None:
        return {}
    left = set(names)
    found: dict[str, list[str]] = {}
    for subject, listed in subjects.items():
        if here := [name for name in listed.split() if name in left]:
            found[subject] = here
            left -= set(here)
    if left:
        raise ValueError(f"scripts/reference/subjects.py has no subject for {', '.join(sorted(left))} of {owner}")
    return found


def of_admin(cls: type, names: Iterable[str]) -> dict[str, list[str]]:
    """The methods of an admin client by subject.

    Raises `ValueError` for a method of a class that `ADMIN` does not have.
    """
    subject_of = {name: subject for subject, classes in ADMIN.items() for name in classes}
    found: dict[str, list[str]] = {subject: [] for subject in ADMIN}
    for name in names:
        definer = next(base for base in cls.__mro__ if name in vars(base)).__name__.removeprefix("Async")
        if definer not in subject_of:
            raise ValueError(f"ADMIN in scripts/reference/subjects.py has no subject for methods of {definer}")
        found[subject_of[definer]].append(name)
    return {subject: listed for subject, listed in found.items() if listed}
