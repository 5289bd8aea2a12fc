"""Options of the producer."""

import dataclasses
import math
from typing import Any

from kafka._compression import Compression
from kafka.config.interceptors import interceptors_option
from kafka.config.option import anything, boolean, choice, integer, invalid, no_object, number, option, text

_CODECS = [each.option for each in Compression if each]


def parse_retries(name: str, value: Any) -> float:
    """A whole number of attempts, or infinity."""
    if value == math.inf:
        return math.inf
    parsed: int = integer(0)(name, value)
    return parsed


def parse_compression(name: str, value: Any) -> str | None:
    """The name of a codec, or None."""
    if value is None or value == Compression.NONE.option:
        return None
    if not isinstance(value, str) or value.lower() not in _CODECS:
        raise invalid(name, "None or one of " + ", ".join(map(repr, _CODECS)), value)
    return value.lower()


def parse_partitioner(name: str, value: Any) -> Any:
    """A callable, an object with a method `partition`, or None."""
    is_object = callable(value) or (callable(getattr(value, "partition", None)) and not isinstance(value, str | bytes))
    if value is not None and not is_object:
        raise no_object(name, "a callable, an object with partition(), or None", value)
    return value


@dataclasses.dataclass(frozen=True, slots=True)
class ProducerOptions:
    """How records are gathered, sent and acknowledged."""

    key_serializer: Any = option(None, anything, "Turns a key into bytes.", "key.serializer")
    value_serializer: Any = option(None, anything, "Turns a value into bytes.", "value.serializer")
    acks: int = option(
        "all",
        choice({"all": -1, "-1": -1, "0": 0, "1": 1, -1: -1, 0: 0, 1: 1}),
        "Who has to have a record before it counts as sent: 0 nobody, 1 the leader, 'all' every in-sync replica.",
        "acks",
    )
    enable_idempotence: bool | None = option(
        None,
        lambda name, value: None if value is None else boolean(name, value),
        "Whether retries never write a record twice (KIP-98); None: wherever acks='all' and the cluster allows it.",
        "enable.idempotence",
        accepts="bool | None",
    )
    compression_type: str | None = option(
        None,
        parse_compression,
        f"{', '.join(map(repr, _CODECS))} or None.",
        "compression.type",
        accepts="str | None",
    )
    compression_level: int | None = option(
        None, integer(-100, 100, none=True), "Level of the codec; None: its default."
    )
    retries: float = option(
        math.inf,
        parse_retries,
        "How often a batch is sent again, within the delivery timeout.",
        "retries",
        accepts="float",
    )
    delivery_timeout_ms: float = option(
        120_000, number(0), "How long a record may take until it is acknowledged or fails.", "delivery.timeout.ms"
    )
    batch_size: int = option(16_384, integer(0), "Size that a batch of a partition is filled up to.", "batch.size")
    linger_ms: float = option(0, number(0), "How long a batch waits for more records.", "linger.ms")
    partitioner: Any = option(
        None,
        parse_partitioner,
        "Picks a partition; None: by murmur2 of the key, as Kafka's Java client.",
        "partitioner.class",
    )
    partitioner_adaptive_partitioning_enable: bool = option(
        False,
        boolean,
        "Whether records without a key go the rarer to a partition, the more batches wait for it (KIP-794).",
        "partitioner.adaptive.partitioning.enable",
    )
    partitioner_availability_timeout_ms: float = option(
        0,
        number(0),
        "Records without a key avoid partitions whose broker takes nothing for so long; 0: they do not (KIP-794).",
        "partitioner.availability.timeout.ms",
    )
    partitioner_ignore_keys: bool = option(
        False, boolean, "Whether keys have no say in the choice of partitions (KIP-794).", "partitioner.ignore.keys"
    )
    buffer_memory: int = option(
        33_554_432, integer(1, 2**62), "Memory for records that are not sent yet.", "buffer.memory"
    )
    max_block_ms: float = option(
        60_000, number(0), "How long send() waits for metadata or memory; 0: not at all.", "max.block.ms"
    )
    metadata_max_idle_ms: float = option(
        300_000,
        number(5_000),
        "A topic that nothing is sent to for so long is asked about no more.",
        "metadata.max.idle.ms",
    )
    max_request_size: int = option(1_048_576, integer(1), "The largest request, and record, sent.", "max.request.size")
    interceptor_classes: tuple[Any, ...] = interceptors_option()
    transactional_id: str | None = option(
        None,
        text(none=True, empty=False),
        "Name under which the producer has transactions: one producer at a time has it (KIP-98).",
        "transactional.id",
    )
    transaction_timeout_ms: int = option(
        60_000, integer(1), "How long a transaction may take before it is aborted.", "transaction.timeout.ms"
    )
