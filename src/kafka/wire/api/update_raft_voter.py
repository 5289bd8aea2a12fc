"""The API UpdateRaftVoter (key 82, version 0): change a voter of the metadata quorum (KIP-853)."""

from __future__ import annotations

from uuid import UUID

from kafka.wire.fields import array, int16, int32, string, struct, uint16, uuid
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class Listener(Struct):
    """An element of `UpdateRaftVoterRequest.listeners`."""

    name: str = string()
    host: str = string()
    port: int = uint16()


class KRaftVersionFeature(Struct):
    """The type of `UpdateRaftVoterRequest.k_raft_version_feature`."""

    min_supported_version: int = int16()
    max_supported_version: int = int16()


class UpdateRaftVoterRequest(Request["UpdateRaftVoterResponse"], api_key=82, versions=(0, 0), flexible_since=0):
    """Change a voter of the metadata quorum (KIP-853)."""

    cluster_id: str | None = string(nullable=True)
    current_leader_epoch: int = int32()
    voter_id: int = int32()
    voter_directory_id: UUID = uuid()
    listeners: list[Listener] = array(Listener)
    k_raft_version_feature: KRaftVersionFeature = struct(KRaftVersionFeature)


class CurrentLeader(Struct):
    """The type of `UpdateRaftVoterResponse.current_leader`."""

    leader_id: int = int32(default=-1)
    leader_epoch: int = int32(default=-1)
    host: str = string()
    port: int = int32()


class UpdateRaftVoterResponse(Response, request=UpdateRaftVoterRequest):
    """The response to `UpdateRaftVoterRequest`."""

    throttle_time_ms: int = int32()
    error_code: int = int16()
    current_leader: CurrentLeader = struct(CurrentLeader, tag=0)
