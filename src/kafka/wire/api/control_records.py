"""The keys and values of control records."""

from __future__ import annotations

from uuid import UUID

from kafka.wire.fields import array, int16, int32, int64, string, struct, uint16, uuid
from kafka.wire.message import Message
from kafka.wire.structs import Struct


class Voter(Struct):
    """An element of `LeaderChangeMessage.voters` and of `LeaderChangeMessage.granting_voters`."""

    voter_id: int = int32()
    voter_directory_id: UUID = uuid(since=1)


class LeaderChangeMessage(Message, versions=(0, 1), flexible_since=0):
    """The value of the control record that a new leader of the metadata quorum writes (KRaft)."""

    version: int = int16()
    leader_id: int = int32()
    voters: list[Voter] = array(Voter)
    granting_voters: list[Voter] = array(Voter)


class SnapshotHeaderRecord(Message, versions=(0, 0), flexible_since=0):
    """The value of the control record at the beginning of a snapshot (KRaft)."""

    version: int = int16()
    last_contained_log_timestamp: int = int64()


class SnapshotFooterRecord(Message, versions=(0, 0), flexible_since=0):
    """The value of the control record at the end of a snapshot (KRaft)."""

    version: int = int16()


class KRaftVersionRecord(Message, versions=(0, 0), flexible_since=0):
    """The value of the control record that sets the KRaft version."""

    version: int = int16()
    k_raft_version: int = int16()


class Endpoint(Struct):
    """An element of `VotersRecordVoter.endpoints`."""

    name: str = string()
    host: str = string()
    port: int = uint16()


class KRaftVersionFeature(Struct):
    """The type of `VotersRecordVoter.k_raft_version_feature`."""

    min_supported_version: int = int16()
    max_supported_version: int = int16()


class VotersRecordVoter(Struct):
    """An element of `VotersRecord.voters`."""

    voter_id: int = int32()
    voter_directory_id: UUID = uuid()
    endpoints: list[Endpoint] = array(Endpoint)
    k_raft_version_feature: KRaftVersionFeature = struct(KRaftVersionFeature)


class VotersRecord(Message, versions=(0, 0), flexible_since=0):
    """The value of the control record that lists the voters of the metadata quorum (KIP-853)."""

    version: int = int16()
    voters: list[VotersRecordVoter] = array(VotersRecordVoter)


class ControlRecordTypeSchema(Message, versions=(0, 0)):
    """The type of a control record, which follows the int16 version in the record's key."""

    type: int = int16()


class EndTxnMarker(Message, versions=(0, 0)):
    """The value of the control record that ends a transaction."""

    coordinator_epoch: int = int32()
