"""Records: delete those before an offset."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kafka.admin.leaders import ask_leaders, by_topic
from kafka.admin.requests import AdminRequests
from kafka.admin.routing import Outcome, values_or_raise
from kafka.structs import TopicPartition
from kafka.wire.api.delete_records import DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic


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
        _outcomes,
        timeout_ms=timeout_ms,
        leader_id=leader_id,
    )
    return values_or_raise(deleted, raise_errors)


def _outcomes(response: Any) -> Iterable[Outcome]:
    for topic in response.topics:
        for each in topic.partitions:
            value = {
                "low_watermark": each.low_watermark,
                "error_code": each.error_code,
                "partition_index": each.partition_index,
            }
            yield Outcome(TopicPartition(topic.name, each.partition_index), each.error_code, None, value)
