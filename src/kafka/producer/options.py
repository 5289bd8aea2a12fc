"""The options before they are parsed, and what follows from several of them together."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from kafka.config import ConnectionOptions, ProducerOptions
from kafka.config.producer import FIRST_WITH_IDEMPOTENCE, MOST_IN_FLIGHT
from kafka.producer.send.readiness import SenderOptions

_numbers = itertools.count(1)


def client_configs(configs: Mapping[str, Any]) -> dict[str, Any]:
    """Give a producer without a name one of its own, by which brokers can tell it in their logs."""
    named = dict(configs)
    if named.get("client_id") is None:
        named["client_id"] = f"kafka-python-producer-{next(_numbers)}"
    return named


def is_idempotent(connection: ConnectionOptions, options: ProducerOptions) -> bool:
    """Whether batches get sequence numbers: wherever nothing that was asked for speaks against it."""
    if options.enable_idempotence is not None:
        return options.enable_idempotence
    if connection.api_version is not None and connection.api_version < FIRST_WITH_IDEMPOTENCE:
        return False
    in_flight = connection.max_in_flight_requests_per_connection
    return options.acks == -1 and options.retries > 0 and in_flight <= MOST_IN_FLIGHT


def sender_options(connection: ConnectionOptions, options: ProducerOptions) -> SenderOptions:
    """The sender's slice, in its units."""
    return SenderOptions(
        linger=options.linger_ms / 1000,
        delivery_timeout=options.delivery_timeout_ms / 1000,
        max_in_flight=connection.max_in_flight_requests_per_connection,
        max_request_size=options.max_request_size,
        availability_timeout=options.partitioner_availability_timeout_ms / 1000,
    )
