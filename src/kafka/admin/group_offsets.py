"""What groups have committed: list, alter, reset, delete."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from kafka.admin.concurrently import all_of
from kafka.admin.leaders import by_topic as partitions_by_topic
from kafka.admin.offset_spec import OffsetSpec
from kafka.admin.offsets import list_partition_offsets
from kafka.admin.requests import AdminRequests, check_answered, raise_first
from kafka.errors import BrokerResponseError, KafkaError, for_code
from kafka.structs import OffsetAndMetadata, TopicPartition
from kafka.wire import Request
from kafka.wire.api.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafka.wire.api.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from kafka.wire.api.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)

_GROUPS_SINCE = 8
_NAMES_UNTIL = 9
_ALL_SINCE = 2

Errors = dict[TopicPartition, type[BrokerResponseError]]


async def list_consumer_group_offsets(
    requests: AdminRequests, group_id: str, node_id: int | None, partitions: Iterable[TopicPartition] | None
) -> dict[TopicPartition, OffsetAndMetadata]:
    """See `KafkaAdminClient.list_consumer_group_offsets`."""
    by_topic: dict[str, list[int]] | None = None
    if partitions is not None:
        by_topic = {}
        for topic, partition in partitions:
            by_topic.setdefault(topic, []).append(partition)
    response = await requests.coordinator(
        group_id,
        lambda version: _offset_request(group_id, by_topic, version),
        OffsetFetchRequest,
        _offset_error_codes,
        node_id,
    )
    answer = response.groups[0] if response.groups else response
    _raise_for(answer.error_code, f"offsets of group {group_id!r}")
    answered = ((topic.name, each.partition_index) for topic in answer.topics for each in topic.partitions)
    asked = ((topic, partition) for topic, partitions in (by_topic or {}).items() for partition in partitions)
    check_answered("partitions", asked, answered)
    offsets = {}
    for topic in answer.topics:
        for each in topic.partitions:
            _raise_for(each.error_code, f"offset of group {group_id!r} for {topic.name}-{each.partition_index}")
            offsets[TopicPartition(topic.name, each.partition_index)] = OffsetAndMetadata(
                each.committed_offset, each.metadata, each.committed_leader_epoch
            )
    return offsets


def _offset_request(group_id: str, by_topic: dict[str, list[int]] | None, version: int) -> tuple[Request[Any], int]:
    version = min(version, _NAMES_UNTIL)
    if version >= _GROUPS_SINCE:
        wanted = None
        if by_topic is not None:
            wanted = [OffsetFetchRequestTopics(name=t, partition_indexes=p) for t, p in by_topic.items()]
        return OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=group_id, topics=wanted)]), version
    topics = None
    if by_topic is not None:
        topics = [OffsetFetchRequestTopic(name=t, partition_indexes=p) for t, p in by_topic.items()]
    elif version < _ALL_SINCE:
        raise for_code(35)("brokers before 0.10.2 do not list all offsets of a group: name the partitions")
    return OffsetFetchRequest(group_id=group_id, topics=topics), version


def _offset_error_codes(response: Any) -> list[int]:
    if response.groups:
        return [each.error_code for each in response.groups]
    inner = [each.error_code for topic in response.topics for each in topic.partitions]
    return [response.error_code, *inner]


def _raise_for(code: int, what: str) -> None:
    if code:
        error: type[KafkaError] = for_code(code)
        raise error(what)


async def list_group_offsets(
    requests: AdminRequests, groups: Mapping[str, list[TopicPartition] | None]
) -> dict[str, dict[TopicPartition, OffsetAndMetadata]]:
    """See `KafkaAdminClient.list_group_offsets`."""
    found = await all_of(
        list_consumer_group_offsets(requests, group_id, None, wanted) for group_id, wanted in groups.items()
    )
    return dict(zip(groups, found, strict=True))


async def alter_group_offsets(
    requests: AdminRequests, group_id: str, offsets: Mapping[TopicPartition, OffsetAndMetadata], node_id: int | None
) -> Errors:
    """See `KafkaAdminClient.alter_group_offsets`."""
    topics = [
        OffsetCommitRequestTopic(
            name=topic,
            partitions=[_committed(index, offsets[TopicPartition(topic, index)]) for index in indexes],
        )
        for topic, indexes in partitions_by_topic(offsets).items()
    ]
    response = await requests.coordinator(
        group_id,
        lambda version: (OffsetCommitRequest(group_id=group_id, topics=topics), min(version, _NAMES_UNTIL)),
        OffsetCommitRequest,
        _inner_codes,
        node_id,
    )
    return _errors(response, offsets)


def _committed(index: int, offset: OffsetAndMetadata) -> OffsetCommitRequestPartition:
    return OffsetCommitRequestPartition(
        partition_index=index,
        committed_offset=offset.offset,
        committed_leader_epoch=-1 if offset.leader_epoch is None else offset.leader_epoch,
        committed_metadata=offset.metadata or "",
    )


async def delete_group_offsets(
    requests: AdminRequests, group_id: str, partitions: list[TopicPartition], node_id: int | None
) -> Errors:
    """See `KafkaAdminClient.delete_group_offsets`."""
    topics = [
        OffsetDeleteRequestTopic(
            name=topic, partitions=[OffsetDeleteRequestPartition(partition_index=index) for index in indexes]
        )
        for topic, indexes in partitions_by_topic(partitions).items()
    ]
    response = await requests.coordinator(
        group_id,
        lambda version: (OffsetDeleteRequest(group_id=group_id, topics=topics), version),
        OffsetDeleteRequest,
        lambda response: [response.error_code],
        node_id,
    )
    raise_first([(f"deleting offsets of group {group_id!r}", response.error_code, None)])
    return _errors(response, partitions)


async def reset_group_offsets(
    requests: AdminRequests, group_id: str, targets: Mapping[TopicPartition, int], node_id: int | None
) -> dict[TopicPartition, dict[str, Any]]:
    """See `KafkaAdminClient.reset_group_offsets`."""
    timed = {tp: target for tp, target in targets.items() if type(target) is not int}
    current, first, last, found = await asyncio.gather(
        list_consumer_group_offsets(requests, group_id, node_id, list(targets)),
        list_partition_offsets(requests, dict.fromkeys(targets, OffsetSpec.EARLIEST)),
        list_partition_offsets(requests, dict.fromkeys(targets, OffsetSpec.LATEST)),
        list_partition_offsets(requests, timed),
    )
    to_commit = {}
    for tp, target in targets.items():
        wanted = found[tp].offset if tp in found else target
        if wanted < 0:  # no record is as late as that
            wanted = last[tp].offset
        offset = min(max(wanted, first[tp].offset), last[tp].offset)
        to_commit[tp] = OffsetAndMetadata(offset, current[tp].metadata, None)
    errors = await alter_group_offsets(requests, group_id, to_commit, node_id)
    return {tp: {"error": error, "offset": to_commit[tp].offset} for tp, error in errors.items()}


def _inner_codes(response: Any) -> list[int]:
    return [each.error_code for topic in response.topics for each in topic.partitions]


def _errors(response: Any, asked: Iterable[TopicPartition]) -> Errors:
    """The error class of each partition, `NoError` for success."""
    errors = {
        TopicPartition(topic.name, each.partition_index): for_code(each.error_code)
        for topic in response.topics
        for each in topic.partitions
    }
    check_answered("partitions", asked, errors)
    return errors
