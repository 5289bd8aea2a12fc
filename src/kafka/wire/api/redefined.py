"""Messages of Kafka 3.9 whose versions a later release redefined.

Version 0 of ReadShareGroupStateSummaryResponse was a draft in 3.9, and gained a field before it was declared stable.
VoteRequest has the same encoding, with other field names. `message_class(name, release="3.9")` returns these classes.
"""

from __future__ import annotations

from uuid import UUID

from kafka.wire.fields import array, int16, int32, int64, string, uuid
from kafka.wire.message import Message
from kafka.wire.structs import Struct


class PartitionResult39(Struct):
    """An element of `ReadStateSummaryResult39.partitions`."""

    partition: int = int32()
    error_code: int = int16()
    error_message: str | None = string(nullable=True, default=None)
    state_epoch: int = int32()
    start_offset: int = int64()


class ReadStateSummaryResult39(Struct):
    """An element of `ReadShareGroupStateSummaryResponse39.results`."""

    topic_id: UUID = uuid()
    partitions: list[PartitionResult39] = array(PartitionResult39)


class ReadShareGroupStateSummaryResponse39(
    Message, name="ReadShareGroupStateSummaryResponse", api_key=87, versions=(0, 0), flexible_since=0
):
    """The response to `ReadShareGroupStateSummaryRequest`, without the leader epoch."""

    results: list[ReadStateSummaryResult39] = array(ReadStateSummaryResult39)


class VoteRequestPartitionData39(Struct):
    """An element of `VoteRequestTopicData39.partitions`."""

    partition_index: int = int32()
    candidate_epoch: int = int32()
    candidate_id: int = int32()
    candidate_directory_id: UUID = uuid(since=1, ignorable=True)
    voter_directory_id: UUID = uuid(since=1, ignorable=True)
    last_offset_epoch: int = int32()
    last_offset: int = int64()


class VoteRequestTopicData39(Struct):
    """An element of `VoteRequest39.topics`."""

    topic_name: str = string()
    partitions: list[VoteRequestPartitionData39] = array(VoteRequestPartitionData39)


class VoteRequest39(Message, name="VoteRequest", api_key=52, versions=(0, 1), flexible_since=0):
    """Request votes in an election of the metadata quorum (KRaft), with `candidate_id` instead of `replica_id`."""

    cluster_id: str | None = string(nullable=True, default=None)
    voter_id: int = int32(since=1, default=-1, ignorable=True)
    topics: list[VoteRequestTopicData39] = array(VoteRequestTopicData39)
