"""aiokafka's names and manners over this package's clients: a program written for aiokafka changes its imports alone.

``from kafka.aio import AIOKafkaConsumer`` for ``from aiokafka import AIOKafkaConsumer``; the submodules `abc`, `admin`,
`consumer`, `coordinator.assignors`, `errors`, `helpers`, `partitioner`, `producer` and `structs` are those of aiokafka.
Options may be aiokafka's, and all of this package's besides. Stands above the clients, whose public calls it uses where
there are such; nothing below imports it. What differs is in `docs/COMPATIBILITY.md`.
"""

from kafka.aio.abc import ConsumerRebalanceListener
from kafka.aio.consumer import AIOKafkaConsumer
from kafka.aio.errors import ConsumerStoppedError, IllegalOperation
from kafka.aio.producer import AIOKafkaProducer
from kafka.aio.structs import ConsumerRecord, OffsetAndMetadata, OffsetAndTimestamp, TopicPartition

__version__ = "0.14.0"
"""The release of aiokafka whose names this package has, for programs that compare versions."""

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
    """Load the admin client when it is asked for: most programs have none."""
    if name == "AIOKafkaAdminClient":
        from kafka.aio.admin import AIOKafkaAdminClient

        return AIOKafkaAdminClient
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
