"""The API RemoveRaftVoter (key 81, version 0): remove a voter from the metadata quorum (KIP-853)."""

from __future__ import annotations

from uuid import UUID

from kafka.wire.fields import int16, int32, string, uuid
from kafka.wire.message import Request, Response


class RemoveRaftVoterRequest(Request["RemoveRaftVoterResponse"], api_key=81, versions=(0, 0), flexible_since=0):
    """Remove a voter from the metadata quorum (KIP-853)."""

    cluster_id: str | None = string(nullable=True)
    voter_id: int = int32()
    voter_directory_id: UUID = uuid()


class RemoveRaftVoterResponse(Response, request=RemoveRaftVoterRequest):
    """The response to `RemoveRaftVoterRequest`."""

    throttle_time_ms: int = int32()
    error_code: int = int16()
    error_message: str | None = string(nullable=True)
