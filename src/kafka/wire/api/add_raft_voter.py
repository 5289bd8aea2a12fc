"""The API AddRaftVoter (key 80, versions 0 to 1): add a voter to the metadata quorum (KIP-853)."""

from __future__ import annotations

from uuid import UUID

from kafka.wire.fields import array, boolean, int16, int32, string, uint16, uuid
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class Listener(Struct):
    """An element of `AddRaftVoterRequest.listeners`."""

    name: str = string()
    host: str = string()
    port: int = uint16()


class AddRaftVoterRequest(Request["AddRaftVoterResponse"], api_key=80, versions=(0, 1), flexible_since=0):
    """Add a voter to the metadata quorum (KIP-853)."""

    cluster_id: str | None = string(nullable=True)
    timeout_ms: int = int32()
    voter_id: int = int32()
    voter_directory_id: UUID = uuid()
    listeners: list[Listener] = array(Listener)
    ack_when_committed: bool = boolean(since=1, default=True)


class AddRaftVoterResponse(Response, request=AddRaftVoterRequest):
    """The response to `AddRaftVoterRequest`."""

    throttle_time_ms: int = int32()
    error_code: int = int16()
    error_message: str | None = string(nullable=True)
