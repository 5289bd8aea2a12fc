"""Records: delete those before an offset."""

from collections.abc import Mapping
from typing import Any

from kafka.admin.requests import AdminRequests, check_answered
from kafka.errors import for_code
from kafka.structs import TopicPartition
from kafka.wire.api.delete_records import DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic


async def delete_records(
    requests: AdminRequests,
    records_to_delete: Mapping[TopicPartition, int],
    timeout_ms: int | None,
    leader_id: int | None,
) -> dict[TopicPartition, dict[str, Any]]:
    """See `KafkaAdminClient.delete_records`."""
    limit_ms = requests.limit_ms(timeout_ms)
    done: dict[TopicPartition, dict[str, Any]] = {}

    async def once() -> None:
        by_leader: dict[int, list[TopicPartition]] = {}
        for tp in records_to_delete:
            if tp not in done:
                leader = leader_id if leader_id is not None else await requests.cluster.partition_leader(tp, limit_ms)
                by_leader.setdefault(leader, []).append(tp)
        for leader, partitions in by_leader.items():
            request = _request({tp: records_to_delete[tp] for tp in partitions}, limit_ms)
            response = await requests.cluster.send(leader, request, timeout_ms=limit_ms + 5_000)
            _take_in(response, done)
            check_answered("partitions", partitions, done)

    await requests.cluster.retry(once, limit_ms)
    return done


def _request(offsets: Mapping[TopicPartition, int], timeout_ms: int) -> DeleteRecordsRequest:
    by_topic: dict[str, list[DeleteRecordsPartition]] = {}
    for (topic, partition), offset in offsets.items():
        by_topic.setdefault(topic, []).append(DeleteRecordsPartition(partition_index=partition, offset=offset))
    topics = [DeleteRecordsTopic(name=name, partitions=each) for name, each in by_topic.items()]
    return DeleteRecordsRequest(topics=topics, timeout_ms=timeout_ms)


def _take_in(response: Any, done: dict[TopicPartition, dict[str, Any]]) -> None:
    """Keep what worked; raise for what did not, so that only that is tried again."""
    failed = None
    for topic in response.topics:
        for each in topic.partitions:
            tp = TopicPartition(topic.name, each.partition_index)
            if each.error_code:
                failed = failed or for_code(each.error_code)(f"deleting records of {tp.topic}-{tp.partition}")
                continue
            done[tp] = {
                "low_watermark": each.low_watermark,
                "error_code": 0,
                "partition_index": each.partition_index,
            }
    if failed is not None:
        raise failed
