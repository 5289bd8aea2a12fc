"""kafka-columnar: a columnar client for Apache Kafka.

The names below are loaded on first use, to keep `import kafka` fast. At module level, this file may import only
`_variant` and `version`; the rest of the package follows the layers of docs/DESIGN.md.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from kafka import _old_names, _variant
from kafka.version import __version__

_variant.install_plain_finder()
_old_names.install_old_paths()

if TYPE_CHECKING:
    from kafka import errors as errors
    from kafka.admin import AsyncKafkaAdminClient as AsyncKafkaAdminClient
    from kafka.admin import IsolationLevel as IsolationLevel
    from kafka.admin import KafkaAdminClient as KafkaAdminClient
    from kafka.admin import OffsetSpec as OffsetSpec
    from kafka.config import load_properties as load_properties
    from kafka.consumer import AsyncConsumerRebalanceListener as AsyncConsumerRebalanceListener
    from kafka.consumer import AsyncKafkaConsumer as AsyncKafkaConsumer
    from kafka.consumer import KafkaConsumer as KafkaConsumer
    from kafka.consumer._async.bounded_read import read_async as read_async
    from kafka.consumer._sync.bounded_read import read as read
    from kafka.consumer.share.async_share_consumer import AsyncKafkaShareConsumer as AsyncKafkaShareConsumer
    from kafka.consumer.share.kafka_share_consumer import KafkaShareConsumer as KafkaShareConsumer
    from kafka.consumer.share.piece import AcknowledgeType as AcknowledgeType
    from kafka.consumer.subscription.subscription_state import ConsumerRebalanceListener as ConsumerRebalanceListener
    from kafka.health import Health as Health
    from kafka.health import HealthState as HealthState
    from kafka.producer import AsyncKafkaProducer as AsyncKafkaProducer
    from kafka.producer import KafkaProducer as KafkaProducer
    from kafka.serializer import DefaultSerializer as DefaultSerializer
    from kafka.serializer import Deserializer as Deserializer
    from kafka.serializer import JsonSerializer as JsonSerializer
    from kafka.serializer import Serializer as Serializer
    from kafka.structs import ConsumerGroupMetadata as ConsumerGroupMetadata
    from kafka.structs import OffsetAndMetadata as OffsetAndMetadata
    from kafka.structs import OffsetAndTimestamp as OffsetAndTimestamp
    from kafka.structs import SubscriptionPattern as SubscriptionPattern
    from kafka.structs import TopicPartition as TopicPartition
    from kafka.structs import TopicPartitionReplica as TopicPartitionReplica

__title__ = "kafka"
__all__ = [
    "AcknowledgeType",
    "AsyncConsumerRebalanceListener",
    "AsyncKafkaAdminClient",
    "AsyncKafkaConsumer",
    "AsyncKafkaProducer",
    "AsyncKafkaShareConsumer",
    "BrokerConnection",
    "ConsumerGroupMetadata",
    "ConsumerRebalanceListener",
    "DefaultSerializer",
    "Deserializer",
    "HashedPartitioner",
    "Health",
    "HealthState",
    "IsolationLevel",
    "JsonSerializer",
    "KafkaAdminClient",
    "KafkaClient",
    "KafkaConnection",
    "KafkaConsumer",
    "KafkaProducer",
    "KafkaShareConsumer",
    "KeyedProducer",
    "MultiProcessConsumer",
    "OffsetAndMetadata",
    "OffsetAndTimestamp",
    "OffsetSpec",
    "RoundRobinPartitioner",
    "Serializer",
    "SimpleClient",
    "SimpleConsumer",
    "SimpleProducer",
    "SubscriptionPattern",
    "TopicPartition",
    "TopicPartitionReplica",
    "__title__",
    "__version__",
    "create_gzip_message",
    "create_message",
    "create_snappy_message",
    "errors",
    "load_properties",
    "read",
    "read_async",
]
"""The public names of all generations of kafka-python. `from kafka import *` also loads names that only old generations
had; `import kafka` does not.
"""

_HOMES = {
    "AcknowledgeType": "kafka.consumer.share.piece",
    "AsyncConsumerRebalanceListener": "kafka.consumer",
    "AsyncKafkaAdminClient": "kafka.admin",
    "AsyncKafkaConsumer": "kafka.consumer",
    "AsyncKafkaProducer": "kafka.producer",
    "AsyncKafkaShareConsumer": "kafka.consumer.share.async_share_consumer",
    "ConsumerGroupMetadata": "kafka.structs",
    "ConsumerRebalanceListener": "kafka.consumer.subscription.subscription_state",
    "DefaultSerializer": "kafka.serializer",
    "Deserializer": "kafka.serializer",
    "HashedPartitioner": "kafka.partitioner.hashed",
    "Health": "kafka.health",
    "HealthState": "kafka.health",
    "IsolationLevel": "kafka.admin",
    "JsonSerializer": "kafka.serializer",
    "KafkaAdminClient": "kafka.admin",
    "KafkaClient": "kafka.client_async",
    "KafkaConnection": "kafka.conn",
    "KafkaConsumer": "kafka.consumer",
    "KafkaProducer": "kafka.producer",
    "KafkaShareConsumer": "kafka.consumer.share.kafka_share_consumer",
    "KeyedProducer": "kafka.producer",
    "MultiProcessConsumer": "kafka.consumer.multiprocess",
    "Murmur2Partitioner": "kafka.partitioner.hashed",
    "OffsetAndMetadata": "kafka.structs",
    "OffsetAndTimestamp": "kafka.structs",
    "OffsetSpec": "kafka.admin",
    "RoundRobinPartitioner": "kafka.partitioner",
    "Serializer": "kafka.serializer",
    "SimpleClient": "kafka.client",
    "SimpleConsumer": "kafka.consumer.simple",
    "SimpleProducer": "kafka.producer",
    "SubscriptionPattern": "kafka.structs",
    "TopicPartition": "kafka.structs",
    "TopicPartitionReplica": "kafka.structs",
    "load_properties": "kafka.config",
    "BrokerConnection": "kafka.conn",
    "create_gzip_message": "kafka.protocol",
    "create_message": "kafka.protocol",
    "create_snappy_message": "kafka.protocol",
    "read": "kafka.consumer._sync.bounded_read",
    "read_async": "kafka.consumer._async.bounded_read",
}

_SUBMODULES = (
    "admin",
    "client",
    "client_async",
    "cluster",
    "codec",
    "common",
    "conn",
    "consumer",
    "context",
    "coordinator",
    "errors",
    "future",
    "metrics",
    "net",
    "oauth",
    "partitioner",
    "producer",
    "protocol",
    "record",
    "sasl",
    "serializer",
    "structs",
    "util",
    "vendor",
)
"""Submodules that in some generation were available as `kafka.NAME` after a plain `import kafka`."""


def __getattr__(name: str) -> Any:
    """Load a public name or a submodule on first use (PEP 562)."""
    if name in _SUBMODULES:
        return importlib.import_module(f"{__name__}.{name}")
    return _old_names.of_a_package(__name__, name, _HOMES)


def __dir__() -> list[str]:
    """List all public names, including those not loaded yet."""
    return sorted({*globals(), *__all__, *_SUBMODULES})
