"""CreateTopics (key 19), DeleteTopics (20), DeleteRecords (21), DescribeLogDirs (35) and CreatePartitions (37).

Versions served: CreateTopics 0 to 7, DeleteTopics 0 to 6, DeleteRecords 0 to 2, DescribeLogDirs 1 to 4,
CreatePartitions 0 to 3.
Behaviour: changes are complete when the response is sent. From DeleteTopics 6 on topics can be deleted by id. Requests
with validate_only are validated but not executed. DescribeLogDirs returns one log directory; partitions without records
have size 0.
Known gaps: with a single broker the replication factor must be 1 (or -1 for the default), and assignments can contain
only this broker.
"""

import logging
import shutil
from collections import Counter
from collections.abc import Sequence

from kafka.broker.broker import Broker, RequestContext
from kafka.broker.error_codes import ErrorCode, RequestFailed
from kafka.broker.topic_configs import TOPIC_OPTIONS, check_config
from kafka.broker.topic_store import Topic, TopicChanges
from kafka.wire.api.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)
from kafka.wire.api.create_topics import (
    CreatableTopic,
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kafka.wire.api.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)
from kafka.wire.api.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from kafka.wire.api.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)

log = logging.getLogger(__name__)

_IDS_SINCE = 6
_MOST_PARTITIONS = 10_000
_UP_TO_THE_END = -1
_TOPIC_CONFIG, _DEFAULT_CONFIG = 1, 5


def create_topics(broker: Broker, request: CreateTopicsRequest, context: RequestContext) -> CreateTopicsResponse:
    """Create all valid topics in one step."""
    times = Counter(topic.name for topic in request.topics)
    described = _DescribedConfigs(broker)
    changes = TopicChanges()
    results = {}
    for asked in {topic.name: topic for topic in request.topics}.values():
        try:
            if times[asked.name] > 1:
                raise RequestFailed(ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
            results[asked.name] = _planned(broker, asked, changes, described)
        except RequestFailed as error:
            results[asked.name] = _not_created(asked.name, error)
    if changes and not request.validate_only:
        try:
            broker.topics.apply(changes)
        except RequestFailed as error:
            results.update((row.name, _not_created(row.name, error)) for row in changes.created)
    return CreateTopicsResponse(topics=list(results.values()))


def _not_created(name: str, error: RequestFailed) -> CreatableTopicResult:
    return CreatableTopicResult(name=name, error_code=error.code, error_message=str(error))


def _planned(
    broker: Broker, asked: CreatableTopic, changes: TopicChanges, described: "_DescribedConfigs"
) -> CreatableTopicResult:
    """Add a new topic to the changes, and return the response for it."""
    broker.topics.check_new(asked.name, changes)
    partitions = _partitions(broker, asked)
    configs = {one.name: check_config(one.name, one.value) for one in asked.configs}
    row = broker.topics.add_new(changes, asked.name, partitions, configs)
    return CreatableTopicResult(
        name=asked.name,
        topic_id=row.topic_id,
        error_message=None,
        num_partitions=partitions,
        replication_factor=1,
        configs=described.of(configs),
    )


class _DescribedConfigs:
    """Formats the configs of new topics for the response, with a cache keyed by the configs that a topic overrides."""

    def __init__(self, broker: Broker) -> None:
        self._defaults = broker.settings.topic_defaults
        self._made: dict[tuple[tuple[str, str], ...], list[CreatableTopicConfigs]] = {}

    def of(self, configs: dict[str, str]) -> list[CreatableTopicConfigs]:
        """Return all configs of a topic, given the ones that it overrides."""
        key = tuple(sorted(configs.items()))
        if key not in self._made:
            self._made[key] = [
                CreatableTopicConfigs(
                    name=option.name,
                    value=configs.get(option.name, self._defaults.get(option.name, option.default)),
                    config_source=_TOPIC_CONFIG if option.name in configs else _DEFAULT_CONFIG,
                )
                for option in TOPIC_OPTIONS.values()
            ]
        return self._made[key]


def _partitions(broker: Broker, asked: CreatableTopic) -> int:
    """Return the number of partitions for a new topic."""
    if asked.assignments:
        if asked.num_partitions != -1 or asked.replication_factor != -1:
            raise RequestFailed(
                ErrorCode.INVALID_REQUEST, "with an assignment the partitions and the replication factor must be -1"
            )
        if {one.partition_index for one in asked.assignments} != set(range(len(asked.assignments))):
            raise RequestFailed(ErrorCode.INVALID_REPLICA_ASSIGNMENT, "partitions must be numbered from 0")
        _check_assignment(broker, [one.broker_ids for one in asked.assignments])
        return len(asked.assignments)
    if asked.replication_factor not in (-1, 1):
        raise RequestFailed(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"there is 1 broker, so the replication factor must be 1 (or -1), not {asked.replication_factor}",
        )
    partitions = broker.settings.num_partitions if asked.num_partitions == -1 else asked.num_partitions
    _check_total(partitions)
    return partitions


def _check_total(partitions: int) -> None:
    if not 1 <= partitions <= _MOST_PARTITIONS:
        raise RequestFailed(
            ErrorCode.INVALID_PARTITIONS, f"a topic must have 1 to {_MOST_PARTITIONS} partitions, not {partitions}"
        )


def _check_assignment(broker: Broker, assignments: Sequence[Sequence[int]]) -> None:
    node_id = broker.settings.node_id
    if any(list(brokers) != [node_id] for brokers in assignments):
        raise RequestFailed(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT, f"each partition can only be assigned to broker {node_id}"
        )


def create_partitions(
    broker: Broker, request: CreatePartitionsRequest, context: RequestContext
) -> CreatePartitionsResponse:
    """Add partitions to topics."""
    times = Counter(topic.name for topic in request.topics)
    changes = TopicChanges()
    results = {}
    for asked in {topic.name: topic for topic in request.topics}.values():
        result = results[asked.name] = CreatePartitionsTopicResult(name=asked.name)
        try:
            if times[asked.name] > 1:
                raise RequestFailed(ErrorCode.INVALID_REQUEST, "Duplicate topic in request.")
            topic = broker.topics.get(asked.name)
            _check_more(broker, topic, asked)
            changes.changed[asked.name] = topic.row._replace(partitions=asked.count)
        except RequestFailed as error:
            result.error_code, result.error_message = error.code, str(error)
    if changes and not request.validate_only:
        try:
            broker.topics.apply(changes)
        except RequestFailed as error:
            for name in changes.changed:
                results[name].error_code, results[name].error_message = error.code, str(error)
    return CreatePartitionsResponse(results=list(results.values()))


def _check_more(broker: Broker, topic: Topic, asked: CreatePartitionsTopic) -> None:
    if asked.count <= topic.partitions:
        raise RequestFailed(
            ErrorCode.INVALID_PARTITIONS,
            f"expected more than the {topic.partitions} that it has as the number of partitions, got {asked.count}; "
            "partitions cannot be removed",
        )
    _check_total(asked.count)
    if asked.assignments is not None:
        if len(asked.assignments) != asked.count - topic.partitions:
            raise RequestFailed(ErrorCode.INVALID_REPLICA_ASSIGNMENT, "there must be one assignment per new partition")
        _check_assignment(broker, [one.broker_ids for one in asked.assignments])


def delete_topics(broker: Broker, request: DeleteTopicsRequest, context: RequestContext) -> DeleteTopicsResponse:
    """Delete topics, their records and their committed offsets."""
    if context.version < _IDS_SINCE:
        states = [DeleteTopicState(name=name) for name in request.topic_names]
    else:
        states = request.topics
    times = Counter((asked.name, asked.topic_id) for asked in states)
    changes = TopicChanges()
    results = {}
    for asked in states:
        result = DeletableTopicResult(name=asked.name, topic_id=asked.topic_id)
        results[asked.name, asked.topic_id] = result
        try:
            if times[asked.name, asked.topic_id] > 1:
                raise RequestFailed(ErrorCode.INVALID_REQUEST, "Duplicate topic name or id.")
            by_id = asked.name is None
            topic = broker.topics.by_id(asked.topic_id) if by_id else broker.topics.get(asked.name or "")
            result.name, result.topic_id = topic.name, topic.topic_id
            changes.deleted[topic.name] = topic
        except RequestFailed as error:
            result.error_code, result.error_message = error.code, str(error)
    if changes:
        _delete(broker, changes, [one for one in results.values() if not one.error_code])
    return DeleteTopicsResponse(responses=list(results.values()))


def _delete(broker: Broker, changes: TopicChanges, results: Sequence[DeletableTopicResult]) -> None:
    try:
        broker.topics.apply(changes)
    except RequestFailed as error:
        for result in results:
            result.error_code, result.error_message = error.code, str(error)
        return
    for name in changes.deleted:
        try:
            broker.groups.forget_topic(name)
        except OSError:
            # The topic is deleted nevertheless; only its offsets remain.
            log.exception("could not remove the committed offsets of the deleted topic %s from disk", name)
        try:
            broker.shares.forget_topic(changes.deleted[name].topic_id)
        except OSError:
            log.exception("could not remove the share groups' offsets of the deleted topic %s from disk", name)


def delete_records(broker: Broker, request: DeleteRecordsRequest, context: RequestContext) -> DeleteRecordsResponse:
    """Delete the records before an offset (KIP-107)."""
    return DeleteRecordsResponse(
        topics=[
            DeleteRecordsTopicResult(
                name=topic.name, partitions=[_deleted(broker, topic.name, one) for one in topic.partitions]
            )
            for topic in request.topics
        ]
    )


def _deleted(broker: Broker, topic: str, asked: DeleteRecordsPartition) -> DeleteRecordsPartitionResult:
    result = DeleteRecordsPartitionResult(partition_index=asked.partition_index, low_watermark=-1)
    try:
        log = broker.topics.get(topic).log(asked.partition_index)
        log.delete_before(log.end_offset if asked.offset == _UP_TO_THE_END else asked.offset)
        result.low_watermark = log.start_offset
    except RequestFailed as error:
        result.error_code = error.code
    return result


def describe_log_dirs(
    broker: Broker, request: DescribeLogDirsRequest, context: RequestContext
) -> DescribeLogDirsResponse:
    """Return the partition sizes. As in Kafka, missing partitions are omitted."""
    wanted: dict[str, list[int]] = {}
    if request.topics is None:
        wanted = {topic.name: list(range(topic.partitions)) for topic in broker.topics}
    else:
        wanted = {asked.topic: asked.partitions for asked in request.topics if asked.topic in broker.topics}
    folder = broker.topics.folder
    result = DescribeLogDirsResult(log_dir=str(folder))
    try:
        result.topics = [_log_dir_topic(broker, name, indexes) for name, indexes in wanted.items()]
        space = shutil.disk_usage(next(each for each in (folder, *folder.parents) if each.exists()))
        result.total_bytes, result.usable_bytes = space.total, space.free
    except (RequestFailed, OSError):
        result.error_code = ErrorCode.KAFKA_STORAGE_ERROR
    return DescribeLogDirsResponse(results=[result])


def _log_dir_topic(broker: Broker, name: str, indexes: list[int]) -> DescribeLogDirsTopic:
    topic = broker.topics.get(name)
    return DescribeLogDirsTopic(
        name=name,
        partitions=[
            DescribeLogDirsPartition(partition_index=index, partition_size=topic.log(index).size)
            for index in indexes
            if 0 <= index < topic.partitions
        ],
    )
