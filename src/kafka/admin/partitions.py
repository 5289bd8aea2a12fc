"""Partitions: find offsets, delete records, reassign replicas (KIP-455), elect leaders (KIP-460)."""

from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from typing import Any

from kafka.admin import arguments
from kafka.admin.admin_requests import AdminRequests, own_error_code, raise_first
from kafka.admin.enums import EnumHelper
from kafka.admin.results import ElectLeadersResult, Response, as_result
from kafka.admin.routing import Outcome, ask_leaders, by_topic, values_or_raise
from kafka.errors import BrokerResponseError, ElectionNotNeededError, IllegalArgumentError, for_code
from kafka.structs import OffsetAndTimestamp, TopicPartition
from kafka.wire.api.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from kafka.wire.api.delete_records import DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic
from kafka.wire.api.elect_leaders import ElectLeadersRequest, TopicPartitions
from kafka.wire.api.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kafka.wire.api.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)


class OffsetSpec(EnumHelper, IntEnum):
    """Special offsets to look up, such as the first one. The values are the special timestamps in the protocol."""

    LATEST = -1
    """The end: the offset after the last record."""
    EARLIEST = -2
    """The first offset that still exists."""
    MAX_TIMESTAMP = -3
    """The record with the largest timestamp (KIP-734)."""
    EARLIEST_LOCAL = -4
    """The first offset on the broker's own disks, with tiered storage (KIP-405)."""
    LATEST_TIERED = -5
    """The last offset in remote storage, with tiered storage (KIP-1005)."""
    EARLIEST_PENDING_UPLOAD = -6
    """The first offset that is not in remote storage yet, with tiered storage (KIP-1023)."""


class OffsetTimestamp(int):
    """A time in milliseconds since 1970, which selects the first offset at or after it. A plain int is an offset."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"OffsetTimestamp({int(self)})"


class OffsetShift(int):
    """The number of records by which to move a group's committed offset; negative numbers move it back."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"OffsetShift({int(self)})"


class IsolationLevel(EnumHelper, IntEnum):
    """Whether the end of a partition includes records of open transactions. Java: ``IsolationLevel``."""

    READ_UNCOMMITTED = 0
    """It does: `OffsetSpec.LATEST` is the high watermark."""
    READ_COMMITTED = 1
    """It does not: `OffsetSpec.LATEST` is the last stable offset, the first offset of the oldest open transaction."""


def time_or_spec(what: str, given: Any) -> int:
    """Check a time in milliseconds since 1970, or an `OffsetSpec`."""
    found = arguments.number(what, given)
    if found < min(OffsetSpec):
        raise IllegalArgumentError(f"{what}: expected an OffsetSpec or milliseconds since 1970, got {given!r:.80}")
    return found


_ONE_OFFSET_SINCE = 1
_ISOLATION_SINCE = 2
_SPECIAL_SINCE = {-3: 7, -4: 8, -5: 9, -6: 11}
"""The request versions that introduced the special timestamps of KIPs 734, 405, 1005 and 1023."""


async def list_partition_offsets(
    requests: AdminRequests,
    specs: Mapping[TopicPartition, int],
    isolation_level: IsolationLevel = IsolationLevel.READ_UNCOMMITTED,
    timeout_ms: int | None = None,
    raise_errors: bool = True,
) -> dict[TopicPartition, OffsetAndTimestamp]:
    """See `KafkaAdminClient.list_partition_offsets`."""

    def make_request(partitions: Sequence[TopicPartition]) -> ListOffsetsRequest:
        topics = [
            ListOffsetsTopic(
                name=topic,
                partitions=[
                    ListOffsetsPartition(partition_index=index, timestamp=int(specs[TopicPartition(topic, index)]))
                    for index in indexes
                ],
            )
            for topic, indexes in by_topic(partitions).items()
        ]
        limit_ms = requests.limit_ms(timeout_ms)
        return ListOffsetsRequest(replica_id=-1, isolation_level=isolation_level, topics=topics, timeout_ms=limit_ms)

    found = await ask_leaders(
        requests,
        "looking for an offset of",
        specs,
        make_request,
        _offset_outcomes,
        timeout_ms=timeout_ms,
        min_version=max(
            _ISOLATION_SINCE if isolation_level else _ONE_OFFSET_SINCE,
            *(_SPECIAL_SINCE.get(int(spec), 0) for spec in specs.values()),
            0,
        ),
    )
    return values_or_raise(found, raise_errors)


def _offset_outcomes(response: Any) -> Iterable[Outcome]:
    for topic in response.topics:
        for each in topic.partitions:
            epoch = each.leader_epoch if each.leader_epoch >= 0 else None
            found = OffsetAndTimestamp(each.offset, each.timestamp, epoch)
            yield Outcome(TopicPartition(topic.name, each.partition_index), each.error_code, None, found)


async def elect_leaders(
    requests: AdminRequests,
    election_type: int,
    topic_partitions: dict[str, list[int]] | None,
    timeout_ms: int | None,
    raise_errors: bool,
) -> ElectLeadersResult:
    """See `KafkaAdminClient.elect_leaders`."""
    partitions = None
    if topic_partitions is not None:
        partitions = [TopicPartitions(topic=topic, partitions=each) for topic, each in topic_partitions.items()]
    request = ElectLeadersRequest(
        election_type=election_type, topic_partitions=partitions, timeout_ms=requests.limit_ms(timeout_ms)
    )
    response = await requests.controller(
        request, lambda response: [response.error_code], timeout_ms, min_version=min(election_type, 1)
    )
    if raise_errors:
        raise_first([("electing leaders", response.error_code, None)])
        raise_first(
            [
                (f"electing the leader of {topic.topic}-{each.partition_id}", each.error_code, each.error_message)
                for topic in response.replica_election_results
                for each in topic.partition_result
                if each.error_code != ElectionNotNeededError.errno
            ]
        )
    return ElectLeadersResult(as_result(response, Response))


async def alter_partition_reassignments(
    requests: AdminRequests, reassignments: Mapping[TopicPartition, list[int] | None], timeout_ms: int | None
) -> dict[TopicPartition, type[BrokerResponseError] | None]:
    """See `KafkaAdminClient.alter_partition_reassignments`."""
    topics = [
        ReassignableTopic(
            name=topic,
            partitions=[
                ReassignablePartition(partition_index=index, replicas=reassignments[TopicPartition(topic, index)])
                for index in indexes
            ],
        )
        for topic, indexes in by_topic(reassignments).items()
    ]
    request = AlterPartitionReassignmentsRequest(timeout_ms=requests.limit_ms(timeout_ms), topics=topics)
    response = await requests.controller(request, lambda response: [response.error_code], timeout_ms)
    raise_first([("reassigning partitions", response.error_code, response.error_message)])
    return {
        TopicPartition(topic.name, each.partition_index): for_code(each.error_code) if each.error_code else None
        for topic in response.responses
        for each in topic.partitions
    }


async def list_partition_reassignments(
    requests: AdminRequests, topic_partitions: dict[str, list[int]] | None, timeout_ms: int | None
) -> dict[TopicPartition, dict[str, Any]]:
    """See `KafkaAdminClient.list_partition_reassignments`."""
    topics = None
    if topic_partitions is not None:
        topics = [
            ListPartitionReassignmentsTopics(name=topic, partition_indexes=each)
            for topic, each in topic_partitions.items()
        ]
    request = ListPartitionReassignmentsRequest(timeout_ms=requests.limit_ms(timeout_ms), topics=topics)
    response = await requests.controller(request, own_error_code, timeout_ms, repeatable=True)
    raise_first([("listing reassignments", response.error_code, response.error_message)])
    return {
        TopicPartition(topic.name, each.partition_index): {
            "replicas": each.replicas,
            "adding_replicas": each.adding_replicas,
            "removing_replicas": each.removing_replicas,
        }
        for topic in response.topics
        for each in topic.partitions
    }


async def delete_records(
    requests: AdminRequests,
    records_to_delete: Mapping[TopicPartition, int],
    timeout_ms: int | None,
    leader_id: int | None,
    raise_errors: bool = True,
) -> dict[TopicPartition, dict[str, Any]]:
    """See `KafkaAdminClient.delete_records`."""

    def make_request(partitions: Sequence[TopicPartition]) -> DeleteRecordsRequest:
        topics = [
            DeleteRecordsTopic(
                name=topic,
                partitions=[
                    DeleteRecordsPartition(
                        partition_index=index, offset=records_to_delete[TopicPartition(topic, index)]
                    )
                    for index in indexes
                ],
            )
            for topic, indexes in by_topic(partitions).items()
        ]
        return DeleteRecordsRequest(topics=topics, timeout_ms=requests.limit_ms(timeout_ms))

    deleted = await ask_leaders(
        requests,
        "deleting records of",
        records_to_delete,
        make_request,
        _deletion_outcomes,
        timeout_ms=timeout_ms,
        leader_id=leader_id,
    )
    return values_or_raise(deleted, raise_errors)


def _deletion_outcomes(response: Any) -> Iterable[Outcome]:
    for topic in response.topics:
        for each in topic.partitions:
            value = {
                "low_watermark": each.low_watermark,
                "error_code": each.error_code,
                "partition_index": each.partition_index,
            }
            yield Outcome(TopicPartition(topic.name, each.partition_index), each.error_code, None, value)
