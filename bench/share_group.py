"""A share group of a job's own, which reads a topic from its beginning."""

from __future__ import annotations

import uuid

import kafka
from kafka.admin import ConfigResource

SHARE_RECORDS = 4_000
"""How many records a poll asks for: as many as a partition may have in flight."""


def new_share_group(bootstrap_servers: str) -> str:
    """Configure a group and return its name."""
    name = f"bench-{uuid.uuid4()}"
    admin = kafka.KafkaAdminClient(bootstrap_servers=bootstrap_servers)
    configs = {"share.auto.offset.reset": "earliest", "share.partition.max.record.locks": "4000"}
    admin.alter_configs([ConfigResource("group", name, configs)])
    admin.close()
    return name
