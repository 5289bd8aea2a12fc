"""Producer options, and the requirements for idempotence (KIP-98)."""

import dataclasses
import math
from typing import Any

from kafka._compression import Compression
from kafka.config.connection import ConnectionOptions
from kafka.config.interceptors import interceptors_option
from kafka.config.option import anything, boolean, choice, integer, invalid, no_object, number, option, text
from kafka.errors import KafkaConfigurationError

_CODECS = [each.option for each in Compression if each]
_LEVELS = ", ".join(
    f"{each.levels[0]} to {each.levels[-1]} for {each.option}" for each in Compression if each.levels is not None
)


def parse_retries(name: str, value: Any) -> float:
    """Parse a whole number of attempts, or infinity."""
    if value == math.inf:
        return math.inf
    parsed: int = integer(0)(name, value)
    return parsed


def parse_compression(name: str, value: Any) -> str | None:
    """Parse a codec name, or None."""
    if value is None or value == Compression.NONE.option:
        return None
    if not isinstance(value, str) or value.lower() not in _CODECS:
        raise invalid(name, "None or one of " + ", ".join(map(repr, _CODECS)), value)
    return value.lower()


def parse_partitioner(name: str, value: Any) -> Any:
    """Check a callable, an object with a method `partition`, or None."""
    is_object = callable(value) or (callable(getattr(value, "partition", None)) and not isinstance(value, str | bytes))
    if value is not None and not is_object:
        raise no_object(name, "a callable, an object with partition(), or None", value)
    return value


@dataclasses.dataclass(frozen=True, slots=True)
class ProducerOptions:
    """Options for batching, sending and acknowledging records."""

    key_serializer: Any = option(None, anything, "Converts a key to bytes.", "key.serializer")
    value_serializer: Any = option(None, anything, "Converts a value to bytes.", "value.serializer")
    acks: int = option(
        "all",
        choice({"all": -1, "-1": -1, "0": 0, "1": 1, -1: -1, 0: 0, 1: 1}),
        "Required acknowledgements: 0 none, 1 the leader's, 'all' those of all in-sync replicas.",
        "acks",
    )
    enable_idempotence: bool | None = option(
        None,
        lambda name, value: None if value is None else boolean(name, value),
        "Whether to prevent duplicates caused by retries (KIP-98); None: if acks='all' and the cluster supports it.",
        "enable.idempotence",
        accepts="bool | None",
    )
    compression_type: str | None = option(
        None,
        parse_compression,
        f"Compression codec: {', '.join(map(repr, _CODECS))} or None.",
        "compression.type",
        accepts="str | None",
    )
    compression_level: int | None = option(
        None,
        integer(-131_072, 100, none=True),
        f"Compression level: {_LEVELS}; None: the codec's default.",
    )
    retries: float = option(
        math.inf,
        parse_retries,
        "Maximum number of retries of a batch within the delivery timeout.",
        "retries",
        accepts="float",
    )
    delivery_timeout_ms: float = option(
        120_000, number(0), "Maximum time until a record is acknowledged or fails.", "delivery.timeout.ms"
    )
    batch_size: int = option(16_384, integer(0), "Maximum size of a batch of records for one partition.", "batch.size")
    linger_ms: float = option(0, number(0), "Time a batch waits for more records.", "linger.ms")
    partitioner: Any = option(
        None,
        parse_partitioner,
        "Chooses the partition of a record; None: murmur2 hash of the key, as in Kafka's Java client.",
        "partitioner.class",
    )
    partitioner_adaptive_partitioning_enable: bool = option(
        False,
        boolean,
        "Whether to send fewer records without a key to partitions with many waiting batches (KIP-794).",
        "partitioner.adaptive.partitioning.enable",
    )
    partitioner_availability_timeout_ms: float = option(
        0,
        number(0),
        "Time after which records without a key avoid partitions whose broker accepts nothing; 0 disables this "
        "(KIP-794).",
        "partitioner.availability.timeout.ms",
    )
    partitioner_ignore_keys: bool = option(
        False, boolean, "Whether to ignore keys when choosing partitions (KIP-794).", "partitioner.ignore.keys"
    )
    buffer_memory: int = option(33_554_432, integer(1, 2**62), "Maximum memory for unsent records.", "buffer.memory")
    max_block_ms: float = option(
        60_000, number(0), "Maximum time send() waits for metadata or memory; 0: do not wait.", "max.block.ms"
    )
    metadata_max_idle_ms: float = option(
        300_000,
        number(5_000),
        "Time without a record after which a topic's metadata is no longer requested.",
        "metadata.max.idle.ms",
    )
    max_request_size: int = option(1_048_576, integer(1), "Maximum size of a request or a record.", "max.request.size")
    interceptor_classes: tuple[Any, ...] = interceptors_option()
    transactional_id: str | None = option(
        None,
        text(none=True, empty=False),
        "Transactional id, which only one producer may use at a time (KIP-98).",
        "transactional.id",
    )
    transaction_timeout_ms: int = option(
        60_000, integer(1), "Time after which the coordinator aborts an open transaction.", "transaction.timeout.ms"
    )


MOST_IN_FLIGHT = 5
"""Number of batches per producer and partition that brokers remember to detect duplicates."""
FIRST_WITH_IDEMPOTENCE = (0, 11)
"""The first broker release that supports idempotence."""


def check_compression_level(producer: ProducerOptions) -> None:
    """Raise `KafkaConfigurationError` for an invalid compression level. Codecs without levels ignore the option."""
    level, codec = producer.compression_level, Compression[(producer.compression_type or "none").upper()]
    if level is None or codec.levels is None or level in codec.levels or level in (0, codec.default_level):
        return
    first, last = codec.levels[0], codec.levels[-1]
    raise KafkaConfigurationError(
        f"option 'compression_level': {codec.option} has the levels {first} to {last}, got {level}; leave it out for "
        "the codec's default"
    )


def check_idempotence(connection: ConnectionOptions, producer: ProducerOptions) -> None:
    """Raise `KafkaConfigurationError`, naming all options that prevent idempotence.

    This applies only if the program sets ``enable_idempotence=True`` or a ``transactional_id``. Otherwise, such options
    make the producer work without idempotence.
    """
    if producer.transactional_id is not None:
        what = "a 'transactional_id'"
    elif producer.enable_idempotence:
        what = "enable_idempotence=True"
    else:
        return
    needs: list[str] = []
    if producer.enable_idempotence is False:
        needs.append("idempotence: leave out enable_idempotence=False")
    if producer.acks != -1:
        needs.append(
            f"acks='all', not acks={producer.acks!r}: with fewer acknowledgements, a retry cannot be distinguished "
            "from a new record"
        )
    in_flight = connection.max_in_flight_requests_per_connection
    if in_flight > MOST_IN_FLIGHT:
        needs.append(
            f"at most {MOST_IN_FLIGHT} for 'max_in_flight_requests_per_connection', not {in_flight}: brokers remember "
            f"the last {MOST_IN_FLIGHT} batches of a producer"
        )
    if not producer.retries:
        needs.append("retries: leave out retries=0")
    release = connection.api_version
    if release is not None and release < FIRST_WITH_IDEMPOTENCE:
        needs.append(
            f"brokers of Kafka 0.11 or later, not api_version={release}: leave out api_version, or set it to the "
            "brokers' version"
        )
    if needs:
        raise KafkaConfigurationError(f"{what} requires " + "; and ".join(needs))
