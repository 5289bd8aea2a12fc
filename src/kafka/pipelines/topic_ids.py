"""Looks up the ids of the source topics, which distinguish a topic from a deleted one of the same name (KIP-516)."""

from __future__ import annotations

import base64
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from kafka.errors import KafkaError
from kafka.pipelines.declaration import Declaration

if TYPE_CHECKING:
    from kafka import KafkaAdminClient

log = logging.getLogger(__name__)

MOST = 20
"""Maximum number of topics whose ids are looked up: each needs a condition in the query."""


def topic_ids(declaration: Declaration) -> dict[str, str]:
    """Return the id of each source topic by its name, in base64 as Kafka's tools show it.

    Topics of patterns, and topics of brokers before Kafka 2.8, are left out. Returns {} if there are more than `MOST`
    topics, or if the broker does not respond.
    """
    names = [name for source in declaration.all_sources.values() for name in (source.topics or (source.topic,))]
    return ids_of(declaration, [name for name in names if name is not None])


def ids_of(declaration: Declaration, topics: Sequence[str]) -> dict[str, str]:
    """Return the ids of topics by name; see `topic_ids`."""
    if not topics or len(topics) > MOST:
        return {}
    try:
        with admin_client(declaration) as admin:
            described = admin.describe_topics(topics)
    except KafkaError as error:
        log.warning("could not look up the ids of %s: %s", ", ".join(topics), error)
        return {}
    ids = {each["topic"]: each["topic_id"] for each in described}
    return {name: _text(UUID(topic_id)) for name, topic_id in ids.items() if topic_id is not None}


def admin_client(declaration: Declaration) -> KafkaAdminClient:
    """Return an admin client with the pipeline's options. Raises `KafkaError` if no broker responds."""
    from kafka import KafkaAdminClient
    from kafka.config.java_names import read_java_names, trimmed

    configs, _ = read_java_names(trimmed(declaration.kafka), "admin")
    return KafkaAdminClient(**configs)


def _text(topic_id: UUID) -> str:
    return base64.urlsafe_b64encode(topic_id.bytes).decode().rstrip("=")
