"""Which options a producer needs that numbers its batches (KIP-98)."""

from __future__ import annotations

from kafka.config.connection import ConnectionOptions
from kafka.config.producer import ProducerOptions
from kafka.errors import KafkaConfigurationError

MOST_IN_FLIGHT = 5
"""Batches of a producer that a broker remembers of a partition."""
FIRST_WITH_IDEMPOTENCE = (0, 11)
"""The release of brokers."""


def check_idempotence(connection: ConnectionOptions, producer: ProducerOptions) -> None:
    """Raise `KafkaConfigurationError` with all options at once that a program must not set as it does.

    Only what was asked for counts: ``enable_idempotence=True`` or a ``transactional_id``. With neither, a producer goes
    without idempotence where the other options do not allow it.
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
