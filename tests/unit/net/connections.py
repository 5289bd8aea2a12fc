"""Helpers that open connections to a scripted broker, and a request for it."""

from kafka.config import parse_admin
from kafka.net import open_connection
from kafka.wire.api.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from kafka.wire.api.heartbeat import HeartbeatRequest


def options(**configs):
    return parse_admin({"request_timeout_ms": 5_000, "socket_connection_setup_timeout_ms": 3_000, **configs})


async def connect(broker, node_id=-1, **configs):
    parsed = options(**configs)
    return await open_connection(broker.host, broker.port, parsed.connection, parsed.security, node_id)


def heartbeat():
    return HeartbeatRequest(group_id="g", generation_id=1, member_id="m")


def fetched(records):
    return FetchResponse(
        responses=[FetchableTopicResponse(topic="t", partitions=[PartitionData(partition_index=0, records=records)])]
    )
