"""DescribeShareGroupOffsets (key 90), AlterShareGroupOffsets (91) and DeleteShareGroupOffsets (92).

Versions served: DescribeShareGroupOffsets 0 to 1, with the lag from 1 on (KIP-1226); the others 0.
Behaviour: a partition that the group has not read has the start offset -1. Offsets can be changed only while the group
is empty, which discards records in flight. Setting offsets creates a group that does not exist.
Known gaps: none.
"""

from collections.abc import Iterable

from kafka.broker.broker import Broker, RequestContext
from kafka.broker.error_codes import ErrorCode, RequestFailed
from kafka.broker.log.partition import LEADER_EPOCH
from kafka.broker.topics import Topic
from kafka.wire.api import alter_share_group_offsets as alter
from kafka.wire.api import delete_share_group_offsets as delete
from kafka.wire.api import describe_share_group_offsets as describe
from kafka.wire.api.alter_share_group_offsets import AlterShareGroupOffsetsRequest, AlterShareGroupOffsetsResponse
from kafka.wire.api.delete_share_group_offsets import DeleteShareGroupOffsetsRequest, DeleteShareGroupOffsetsResponse
from kafka.wire.api.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsResponse,
)

_UNREAD = -1


def describe_share_group_offsets(
    broker: Broker, request: DescribeShareGroupOffsetsRequest, context: RequestContext
) -> DescribeShareGroupOffsetsResponse:
    """Return the start offsets of groups."""
    return DescribeShareGroupOffsetsResponse(groups=[_of_group(broker, asked) for asked in request.groups])


def _of_group(
    broker: Broker, asked: DescribeShareGroupOffsetsRequestGroup
) -> describe.DescribeShareGroupOffsetsResponseGroup:
    group = describe.DescribeShareGroupOffsetsResponseGroup(group_id=asked.group_id)
    try:
        broker.shares.group(asked.group_id)
    except RequestFailed as error:
        group.error_code, group.error_message = error.code, error.message
        return group
    for name, numbers in _asked(broker, asked):
        topic = describe.DescribeShareGroupOffsetsResponseTopic(topic_name=name)
        for number in numbers:
            topic.partitions.append(_described(broker, asked.group_id, name, number))
        if name in broker.topics:
            topic.topic_id = broker.topics.get(name).topic_id
        group.topics.append(topic)
    return group


def _asked(broker: Broker, asked: DescribeShareGroupOffsetsRequestGroup) -> Iterable[tuple[str, list[int]]]:
    """Return the requested partitions; by default all that the group has read or that its members are assigned."""
    if asked.topics is not None:
        return [(topic.topic_name, topic.partitions) for topic in asked.topics]
    found: dict[str, set[int]] = {}
    names = {topic.topic_id: topic.name for topic in broker.topics}
    for _, topic_id, number in broker.shares.keys(asked.group_id):
        if topic_id in names:
            found.setdefault(names[topic_id], set()).add(number)
    for name in broker.shares.group(asked.group_id).topics:
        if name in broker.topics:
            found.setdefault(name, set()).update(range(broker.topics.get(name).partitions))
    return [(name, sorted(numbers)) for name, numbers in found.items()]


def _described(
    broker: Broker, group_id: str, name: str, number: int
) -> describe.DescribeShareGroupOffsetsResponsePartition:
    answer = describe.DescribeShareGroupOffsetsResponsePartition(partition_index=number, start_offset=_UNREAD)
    try:
        topic = broker.topics.get(name)
        log = topic.log(number)
    except RequestFailed as error:
        answer.error_code, answer.error_message = error.code, error.message
        return answer
    key = group_id, topic.topic_id, number
    start = broker.shares.start_offset(key)
    if start is not None:
        answer.start_offset, answer.leader_epoch = start, LEADER_EPOCH
        answer.lag = broker.shares.undelivered(key, log)
    return answer


def alter_share_group_offsets(
    broker: Broker, request: AlterShareGroupOffsetsRequest, context: RequestContext
) -> AlterShareGroupOffsetsResponse:
    """Move the start offsets of an empty group."""
    shares, group_id = broker.shares, request.group_id
    try:
        if not group_id:
            raise RequestFailed(ErrorCode.INVALID_GROUP_ID, "The group id is invalid.")
        shares.check_type(group_id)
        if group_id in shares.groups:
            _check_empty(broker, group_id)
        elif any(asked.topic_name in broker.topics for asked in request.topics):
            shares.group_or_new(group_id)
    except RequestFailed as error:
        return AlterShareGroupOffsetsResponse(error_code=error.code, error_message=error.message)
    except OSError as error:
        return AlterShareGroupOffsetsResponse(error_code=ErrorCode.KAFKA_STORAGE_ERROR, error_message=str(error))
    answers = []
    for asked in request.topics:
        topic = alter.AlterShareGroupOffsetsResponseTopic(topic_name=asked.topic_name)
        for one in asked.partitions:
            answer = alter.AlterShareGroupOffsetsResponsePartition(partition_index=one.partition_index)
            try:
                found = broker.topics.get(asked.topic_name)
                topic.topic_id = found.topic_id
                _set_start(broker, request.group_id, found, one.partition_index, one.start_offset)
            except RequestFailed as error:
                answer.error_code, answer.error_message = error.code, error.message
            except OSError as error:
                answer.error_code, answer.error_message = ErrorCode.KAFKA_STORAGE_ERROR, str(error)
            topic.partitions.append(answer)
        answers.append(topic)
    return AlterShareGroupOffsetsResponse(responses=answers)


def _set_start(broker: Broker, group_id: str, topic: Topic, number: int, start: int) -> None:
    topic.log(number)
    broker.shares.set_start((group_id, topic.topic_id, number), start)


def delete_share_group_offsets(
    broker: Broker, request: DeleteShareGroupOffsetsRequest, context: RequestContext
) -> DeleteShareGroupOffsetsResponse:
    """Delete the offsets of an empty group for topics."""
    try:
        _check_empty(broker, request.group_id)
    except RequestFailed as error:
        return DeleteShareGroupOffsetsResponse(error_code=error.code, error_message=error.message)
    answers = []
    for asked in request.topics:
        answer = delete.DeleteShareGroupOffsetsResponseTopic(topic_name=asked.topic_name)
        try:
            topic = broker.topics.get(asked.topic_name)
            answer.topic_id = topic.topic_id
            for key in broker.shares.keys(request.group_id):
                if key[1] == topic.topic_id:
                    broker.shares.set_start(key, None)
        except RequestFailed as error:
            answer.error_code, answer.error_message = error.code, error.message
        except OSError as error:
            answer.error_code, answer.error_message = ErrorCode.KAFKA_STORAGE_ERROR, str(error)
        answers.append(answer)
    return DeleteShareGroupOffsetsResponse(responses=answers)


def _check_empty(broker: Broker, group_id: str) -> None:
    if broker.shares.group(group_id).members:
        raise RequestFailed(ErrorCode.NON_EMPTY_GROUP, f"The share group {group_id} is not empty.")
