"""Start offsets of share groups (KIP-932): list, alter and delete them."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from kafka.admin.admin_requests import AdminRequests, about, check_answered, raise_first
from kafka.admin.routing import Outcome, ask_each, asking, by_topic, group_route, values_or_raise
from kafka.errors import BrokerResponseError, for_code
from kafka.structs import TopicPartition
from kafka.wire.api.alter_share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestPartition,
    AlterShareGroupOffsetsRequestTopic,
)
from kafka.wire.api.delete_share_group_offsets import (
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsRequestTopic,
)
from kafka.wire.api.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsRequestTopic,
)


class SharePartitionOffset(NamedTuple):
    """The start offset of a share group in a partition. Unknown values are -1.

    Arguments:
        start_offset: the first offset that may still be acquired.
        leader_epoch: epoch of the leader that manages the group's state for the partition.
        lag: number of records that have not been processed yet (KIP-1226).
    """

    start_offset: int
    leader_epoch: int
    lag: int


async def list_share_group_offsets(
    requests: AdminRequests, groups: Mapping[str, list[TopicPartition] | None], raise_errors: bool
) -> dict[str, dict[TopicPartition, Any]]:
    """See `KafkaAdminClient.list_share_group_offsets`."""

    def make(ids: list[str]) -> DescribeShareGroupOffsetsRequest:
        return DescribeShareGroupOffsetsRequest(
            groups=[DescribeShareGroupOffsetsRequestGroup(group_id=each, topics=_topics(groups[each])) for each in ids]
        )

    def read(response: Any) -> Iterable[Outcome]:
        return [Outcome(each.group_id, each.error_code, each.error_message, _found(each)) for each in response.groups]

    found = await ask_each(
        requests, "offsets of share group", groups, group_route(requests, None), asking(requests, make, read)
    )
    if raise_errors:
        for told in values_or_raise(found).values():
            values_or_raise(told)
    return found


def _topics(partitions: Iterable[TopicPartition] | None) -> list[DescribeShareGroupOffsetsRequestTopic] | None:
    if partitions is None:
        return None
    return [DescribeShareGroupOffsetsRequestTopic(topic_name=t, partitions=p) for t, p in by_topic(partitions).items()]


def _found(group: Any) -> dict[TopicPartition, Any]:
    found: dict[TopicPartition, Any] = {}
    for topic in group.topics:
        for each in topic.partitions:
            tp = TopicPartition(topic.topic_name, each.partition_index)
            found[tp] = SharePartitionOffset(each.start_offset, each.leader_epoch, each.lag)
            if each.error_code:
                cls = for_code(each.error_code)
                what = f"offset of share group {group.group_id!r} for {tp.topic}-{tp.partition}"
                found[tp] = cls(about(what, each.error_message or cls.description))
    return found


async def alter_share_group_offsets(
    requests: AdminRequests, group_id: str, offsets: Mapping[TopicPartition, int]
) -> dict[TopicPartition, type[BrokerResponseError]]:
    """See `KafkaAdminClient.alter_share_group_offsets`."""
    topics = [
        AlterShareGroupOffsetsRequestTopic(
            topic_name=topic,
            partitions=[
                AlterShareGroupOffsetsRequestPartition(
                    partition_index=index, start_offset=offsets[TopicPartition(topic, index)]
                )
                for index in indexes
            ],
        )
        for topic, indexes in by_topic(offsets).items()
    ]
    response = await requests.coordinator(
        group_id,
        lambda version: (AlterShareGroupOffsetsRequest(group_id=group_id, topics=topics), version),
        AlterShareGroupOffsetsRequest,
        lambda response: [response.error_code],
    )
    raise_first([(f"share group {group_id!r}", response.error_code, response.error_message)])
    errors = {
        TopicPartition(topic.topic_name, each.partition_index): for_code(each.error_code)
        for topic in response.responses
        for each in topic.partitions
    }
    check_answered("partitions", offsets, errors)
    return {tp: errors[tp] for tp in offsets}


async def delete_share_group_offsets(
    requests: AdminRequests, group_id: str, topics: list[str]
) -> dict[str, type[BrokerResponseError]]:
    """See `KafkaAdminClient.delete_share_group_offsets`."""
    wanted = [DeleteShareGroupOffsetsRequestTopic(topic_name=topic) for topic in topics]
    response = await requests.coordinator(
        group_id,
        lambda version: (DeleteShareGroupOffsetsRequest(group_id=group_id, topics=wanted), version),
        DeleteShareGroupOffsetsRequest,
        lambda response: [response.error_code],
    )
    raise_first([(f"share group {group_id!r}", response.error_code, response.error_message)])
    errors = {each.topic_name: for_code(each.error_code) for each in response.responses}
    check_answered("topics", topics, errors)
    return {topic: errors[topic] for topic in topics}
