"""Offsets of partitions: the first, the last, by time."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kafka.admin.leaders import ask_leaders, by_topic
from kafka.admin.offset_spec import IsolationLevel
from kafka.admin.requests import AdminRequests
from kafka.admin.routing import Outcome, values_or_raise
from kafka.structs import OffsetAndTimestamp, TopicPartition
from kafka.wire.api.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic

_ONE_OFFSET_SINCE = 1
_ISOLATION_SINCE = 2
_SPECIAL_SINCE = {-3: 7, -4: 8, -5: 9, -6: 11}
"""The first versions that know the timestamps of later KIPs (734, 405, 1005, 1023)."""


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
        _outcomes,
        timeout_ms=timeout_ms,
        min_version=max(
            _ISOLATION_SINCE if isolation_level else _ONE_OFFSET_SINCE,
            *(_SPECIAL_SINCE.get(int(spec), 0) for spec in specs.values()),
            0,
        ),
    )
    return values_or_raise(found, raise_errors)


def _outcomes(response: Any) -> Iterable[Outcome]:
    for topic in response.topics:
        for each in topic.partitions:
            epoch = each.leader_epoch if each.leader_epoch >= 0 else None
            found = OffsetAndTimestamp(each.offset, each.timestamp, epoch)
            yield Outcome(TopicPartition(topic.name, each.partition_index), each.error_code, None, found)
