"""aiokafka's API on top of this package's clients: programs written for aiokafka only need to change their imports.

Replace ``from aiokafka import AIOKafkaConsumer`` with ``from kafka.aio import AIOKafkaConsumer``. The submodules `abc`,
`admin`, `consumer`, `coordinator.assignors`, `errors`, `helpers`, `partitioner`, `producer` and `structs` correspond to
aiokafka's. Clients accept aiokafka's options and all options of this package. This package is above the clients and
uses their public methods where possible; no other package imports it. docs/COMPATIBILITY.md lists the differences.
"""

from kafka.aio.abc import ConsumerRebalanceListener
from kafka.aio.consumer import AIOKafkaConsumer
from kafka.aio.errors import ConsumerStoppedError, IllegalOperation
from kafka.aio.producer import AIOKafkaProducer
from kafka.aio.structs import ConsumerRecord, OffsetAndMetadata, OffsetAndTimestamp, TopicPartition

__version__ = "0.14.0"
"""The aiokafka release that this API corresponds to, for programs that compare versions."""

__all__ = [
    "AIOKafkaConsumer",
    "AIOKafkaProducer",
    "ConsumerRebalanceListener",
    "ConsumerRecord",
    "ConsumerStoppedError",
    "IllegalOperation",
    "OffsetAndMetadata",
    "OffsetAndTimestamp",
    "TopicPartition",
    "__version__",
]


def __getattr__(name: str) -> object:
    """Load the admin client on first use: most programs do not need it."""
    if name == "AIOKafkaAdminClient":
        from kafka.aio.admin import AIOKafkaAdminClient

        return AIOKafkaAdminClient
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
