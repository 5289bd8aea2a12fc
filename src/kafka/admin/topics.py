"""Topics: create, delete, list and describe them, wait for them, and add partitions.

Contains the arguments in every form that kafka-python accepts (`NewTopic`, `NewPartitions`, names, dicts), their
checks, and the operations.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar
from uuid import UUID

from kafka.admin import arguments
from kafka.admin.acls import operation_names
from kafka.admin.admin_requests import MARGIN_MS, AdminRequests, FinalError, check_answered, raise_first
from kafka.admin.config_resource import with_names
from kafka.admin.results import (
    CreatePartitionsResult,
    CreateTopicsResult,
    DeleteTopicsResult,
    Response,
    TopicDescriptions,
    as_result,
    id_text,
)
from kafka.errors import (
    IllegalArgumentError,
    KafkaError,
    KafkaTimeoutError,
    LeaderNotAvailableError,
    ThrottlingQuotaExceededError,
    UnknownTopicOrPartitionError,
    UnsupportedVersionError,
)
from kafka.wire.api.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from kafka.wire.api.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from kafka.wire.api.delete_topics import DeleteTopicsRequest, DeleteTopicState
from kafka.wire.api.metadata import MetadataResponse

T = TypeVar("T")


class NewTopic:
    """A topic to create.

    Arguments:
        name: the topic's name.
        num_partitions: number of partitions; -1: the cluster's default (KIP-464), or the number of partitions in
            ``replica_assignments``.
        replication_factor: number of replicas of each partition; -1: the cluster's default.
        replica_assignments: partition number to the ids of the brokers for its replicas, the preferred leader first.
            It cannot be combined with ``num_partitions`` or ``replication_factor``.
        topic_configs: names of topic settings to their values, such as ``{"retention.ms": "60000"}``.

    Raises `IllegalArgumentError` if both numbers and assignments are given, or if the name is not a str.
    """

    def __init__(
        self,
        name: str,
        num_partitions: int = -1,
        replication_factor: int = -1,
        replica_assignments: Mapping[int, Sequence[int]] | None = None,
        topic_configs: Mapping[str, object] | None = None,
    ) -> None:
        if replica_assignments and (num_partitions != -1 or replication_factor != -1):
            raise IllegalArgumentError(
                "replica_assignments says how many partitions and replicas there are: leave out num_partitions "
                f"({num_partitions}) and replication_factor ({replication_factor})"
            )
        self.name = arguments.name("name", name)
        self.num_partitions = num_partitions
        self.replication_factor = replication_factor
        assignments = arguments.mapping("replica_assignments", replica_assignments or {})
        self.replica_assignments = {
            partition: arguments.numbers("replica_assignments", brokers) for partition, brokers in assignments.items()
        }
        configs = arguments.mapping("topic_configs", topic_configs or {})
        self.topic_configs = {config: arguments.as_text(value) for config, value in configs.items()}

    def __repr__(self) -> str:
        return f"NewTopic({self.name!r}, {self.num_partitions}, {self.replication_factor})"


class NewPartitions:
    """The new number of partitions for a topic.

    Arguments:
        total_count: the new number of partitions, greater than the current one.
        new_assignments: for each added partition, the ids of the brokers for its replicas, the preferred leader
            first; None: the cluster chooses the brokers.
    """

    def __init__(self, total_count: int, new_assignments: Sequence[Sequence[int]] | None = None) -> None:
        self.total_count = total_count
        self.new_assignments = (
            None
            if new_assignments is None
            else [
                arguments.numbers("new_assignments", brokers)
                for brokers in arguments.elements("new_assignments", new_assignments)
            ]
        )

    def __repr__(self) -> str:
        return f"NewPartitions({self.total_count}, {self.new_assignments})"


NewTopics = Iterable[NewTopic | str] | Mapping[str, Mapping[str, Any]]

_TOPIC_KEYS = {
    "num_partitions": "num_partitions",
    "replication_factor": "replication_factor",
    "assignments": "replica_assignments",
    "configs": "topic_configs",
}


def new_topics(given: NewTopics | NewTopic) -> list[NewTopic]:
    """Convert `NewTopic` objects, names, or a mapping of names to dicts of options, to `NewTopic` objects."""
    if isinstance(given, Mapping):
        return [_topic(arguments.name("new_topics", name), options) for name, options in given.items()]
    found = [given] if isinstance(given, NewTopic | str) else arguments.elements("new_topics", given)
    topics = [NewTopic(each) if isinstance(each, str) else each for each in found]
    return arguments.instances("new_topics", NewTopic, topics)


def _topic(name: str, options: object) -> NewTopic:
    wanted = arguments.mapping("new_topics", options)
    unknown = set(wanted) - set(_TOPIC_KEYS)
    if unknown:
        raise IllegalArgumentError(f"new_topics: expected {', '.join(_TOPIC_KEYS)} for {name!r}, got {unknown}")
    return NewTopic(name, **{_TOPIC_KEYS[key]: value for key, value in wanted.items()})


def new_partitions(given: Mapping[str, Any]) -> dict[str, NewPartitions]:
    """Convert `NewPartitions` objects, numbers or dicts, each by topic, to `NewPartitions` objects."""
    wanted = arguments.mapping("topic_partitions", given)
    arguments.names("topic_partitions", wanted)
    return {topic: _partitions(topic, each) for topic, each in wanted.items()}


def _partitions(topic: str, given: object) -> NewPartitions:
    if isinstance(given, NewPartitions):
        return given
    if isinstance(given, Mapping):
        if "count" not in given:
            raise IllegalArgumentError(f"topic_partitions: expected a count for {topic!r}, got {given!r:.80}")
        return NewPartitions(arguments.number("topic_partitions", given["count"]), given.get("assignments"))
    if not isinstance(given, int):
        raise IllegalArgumentError(
            f"topic_partitions: expected NewPartitions objects, numbers or dicts, got {type(given).__name__}"
        )
    return NewPartitions(given)


_DEFAULTS_SINCE = 4
_DELETE_BY_STATE_SINCE = 6


def _creatable(topic: NewTopic) -> CreatableTopic:
    assignments = [
        CreatableReplicaAssignment(partition_index=partition, broker_ids=brokers)
        for partition, brokers in topic.replica_assignments.items()
    ]
    configs = [CreatableTopicConfig(name=name, value=value) for name, value in topic.topic_configs.items()]
    return CreatableTopic(
        name=topic.name,
        num_partitions=topic.num_partitions,
        replication_factor=topic.replication_factor,
        assignments=assignments,
        configs=configs,
    )


async def create_topics(
    requests: AdminRequests,
    topics: list[NewTopic],
    timeout_ms: int | None,
    validate_only: bool,
    raise_errors: bool = True,
) -> CreateTopicsResult:
    """See `KafkaAdminClient.create_topics`."""
    creatable = [_creatable(topic) for topic in topics]
    uses_defaults = any(
        not each.assignments and (each.num_partitions == -1 or each.replication_factor == -1) for each in creatable
    )

    async def send(some: list[CreatableTopic]) -> Any:
        return await requests.controller(
            CreateTopicsRequest(topics=some, timeout_ms=requests.limit_ms(timeout_ms), validate_only=validate_only),
            lambda response: [each.error_code for each in response.topics],
            timeout_ms,
            min_version=_DEFAULTS_SINCE if uses_defaults else int(validate_only),
        )

    try:
        throttle_ms, results = await within_quota(
            requests,
            {each.name: each for each in creatable},
            send,
            lambda response: {each.name: each for each in response.topics},
            timeout_ms,
        )
    except UnsupportedVersionError as error:
        if uses_defaults:
            raise UnsupportedVersionError(
                "brokers before 2.4 have no defaults for new topics: set num_partitions and replication_factor"
            ) from error
        raise
    if raise_errors:
        raise_first([(f"topic {each.name!r}", each.error_code, each.error_message) for each in results])
    check_answered("topics", (each.name for each in creatable), (each.name for each in results))
    return CreateTopicsResult(throttle_time_ms=throttle_ms, topics=[_created(each) for each in results])


def _created(topic: Any) -> dict[str, Any]:
    described: dict[str, Any] = as_result(topic)
    configs = described.pop("configs")
    if configs:
        described["configs"] = {each.pop("name"): with_names(each) for each in configs}
    return described


async def delete_topics(
    requests: AdminRequests, topics: list[str | UUID], timeout_ms: int | None, raise_errors: bool = True
) -> DeleteTopicsResult:
    """See `KafkaAdminClient.delete_topics`."""
    by_id = any(isinstance(each, UUID) for each in topics)

    async def send(some: list[str | UUID]) -> Any:
        request = DeleteTopicsRequest(timeout_ms=requests.limit_ms(timeout_ms))
        if by_id:
            request.topics = [
                DeleteTopicState(topic_id=each) if isinstance(each, UUID) else DeleteTopicState(name=each)
                for each in some
            ]
        else:
            request.topic_names = [str(each) for each in some]
        return await requests.controller(
            request,
            lambda response: [each.error_code for each in response.responses],
            timeout_ms,
            min_version=_DELETE_BY_STATE_SINCE if by_id else 0,
            max_version=None if by_id else _DELETE_BY_STATE_SINCE - 1,
        )

    def results_of(response: Any) -> dict[Any, Any]:
        return {each.topic_id if each.topic_id in wanted else each.name: each for each in response.responses}

    wanted = {each: each for each in topics}
    throttle_ms, results = await within_quota(requests, wanted, send, results_of, timeout_ms)
    if raise_errors:
        raise_first([(_named(each), each.error_code, each.error_message) for each in results])
    answered = [value for each in results for value in (each.name, each.topic_id)]
    check_answered("topics", topics, answered)
    return DeleteTopicsResult(throttle_time_ms=throttle_ms, topics=as_result(results))


def _named(topic: Any) -> str:
    return f"topic {topic.name!r}" if topic.name is not None else f"topic {topic.topic_id}"


async def create_partitions(
    requests: AdminRequests,
    topic_partitions: dict[str, NewPartitions],
    timeout_ms: int | None,
    validate_only: bool,
    raise_errors: bool = True,
) -> CreatePartitionsResult:
    """See `KafkaAdminClient.create_partitions`."""
    wanted = []
    for name, new in topic_partitions.items():
        assignments = None
        if new.new_assignments is not None:
            assignments = [CreatePartitionsAssignment(broker_ids=each) for each in new.new_assignments]
        wanted.append(CreatePartitionsTopic(name=name, count=new.total_count, assignments=assignments))

    async def send(some: list[CreatePartitionsTopic]) -> Any:
        limit_ms = requests.limit_ms(timeout_ms)
        return await requests.controller(
            CreatePartitionsRequest(topics=some, timeout_ms=limit_ms, validate_only=validate_only),
            lambda response: [each.error_code for each in response.results],
            timeout_ms,
        )

    throttle_ms, results = await within_quota(
        requests,
        {each.name: each for each in wanted},
        send,
        lambda response: {each.name: each for each in response.results},
        timeout_ms,
    )
    if raise_errors:
        raise_first([(f"topic {each.name!r}", each.error_code, each.error_message) for each in results])
    check_answered("topics", topic_partitions, (each.name for each in results))
    described = as_result(results, Response)
    return CreatePartitionsResult(throttle_time_ms=throttle_ms, results=described, topics=described)


async def wait_for_topics(requests: AdminRequests, topics: list[str], timeout_ms: int) -> None:
    """See `KafkaAdminClient.wait_for_topics`."""

    async def look() -> None:
        found = {each.name: each for each in (await requests.cluster.read_metadata(set(topics))).topics}
        for name in topics:
            topic = found.get(name)
            if topic is None or (topic.error_code in (UnknownTopicOrPartitionError.errno, 0) and not topic.partitions):
                raise LeaderNotAvailableError(f"the brokers do not know topic {name!r} yet")
            raise_first([(f"topic {name!r}", topic.error_code, None)])
            without = [each.partition_index for each in topic.partitions if each.error_code or each.leader_id < 0]
            if without:
                raise LeaderNotAvailableError(f"partitions {without} of topic {name!r} have no leader yet")

    await requests.cluster.retry(f"waiting for topics {', '.join(topics)}", look, timeout_ms)


async def read_metadata(
    requests: AdminRequests, topics: Iterable[str | UUID] | None, authorized_operations: bool = False
) -> MetadataResponse:
    """Read a broker's current metadata for topics (None: all topics), without creating any topics."""
    wanted = None if topics is None else set(topics)
    cluster, options = requests.cluster, requests.options
    return await cluster.retry(
        "Metadata",
        lambda: cluster.read_metadata(wanted, authorized_operations=authorized_operations),
        options.request_timeout_ms,
    )


async def list_topics(requests: AdminRequests, include_internal: bool = True) -> list[str]:
    """See `KafkaAdminClient.list_topics`."""
    topics = (await read_metadata(requests, None)).topics
    return [each.name for each in topics if each.name is not None and (include_internal or not each.is_internal)]


async def describe_topics(requests: AdminRequests, topics: list[str | UUID] | None) -> TopicDescriptions:
    """See `KafkaAdminClient.describe_topics`."""
    response = await read_metadata(requests, topics, authorized_operations=True)
    order: dict[str | UUID, int] = {name: place for place, name in enumerate(topics or ())}

    def place(topic: Any) -> int:
        return order.get(topic.name, order.get(topic.topic_id, len(order)))

    return TopicDescriptions(
        {
            "error_code": each.error_code,
            "topic": each.name,
            "name": each.name,
            "topic_id": id_text(each.topic_id),
            "is_internal": each.is_internal,
            "partitions": [_partition(p) for p in sorted(each.partitions, key=lambda p: p.partition_index)],
            "authorized_operations": operation_names(each.topic_authorized_operations),
        }
        for each in sorted(response.topics, key=place)
    )


def _partition(partition: Any) -> dict[str, Any]:
    """Return a partition as a dict with the key names of both generations of kafka-python."""
    return {
        "error_code": partition.error_code,
        "partition": partition.partition_index,
        "partition_index": partition.partition_index,
        "leader": partition.leader_id,
        "leader_id": partition.leader_id,
        "leader_epoch": partition.leader_epoch,
        "replicas": partition.replica_nodes,
        "replica_nodes": partition.replica_nodes,
        "isr": partition.isr_nodes,
        "isr_nodes": partition.isr_nodes,
        "offline_replicas": partition.offline_replicas,
    }


async def within_quota(
    requests: AdminRequests,
    wanted: Mapping[Any, T],
    send: Callable[[list[T]], Awaitable[Any]],
    results_of: Callable[[Any], Mapping[Any, Any]],
    timeout_ms: int | None,
) -> tuple[int, list[Any]]:
    """Send topic changes; until the timeout, retry those that exceed the controller's quota (KIP-599).

    Arguments:
        wanted: the changes, by a key that identifies each change.
        send: sends some of the changes, and retries after other retriable errors.
        results_of: returns the results in a response, by the same keys.

    Returns the longest throttle time in milliseconds, and the results, some of which may still be quota errors.
    """
    results: dict[Any, Any] = {}
    throttle_ms = [0]

    async def once() -> None:
        left = {key: each for key, each in wanted.items() if key not in results or _exceeds(results[key])}
        try:
            response = await send(list(left.values()))
        except KafkaError as error:
            raise FinalError(error) from error
        throttle_ms.append(response.throttle_time_ms)
        answered = results_of(response)
        results.update(answered)
        if any(_exceeds(each) for key, each in answered.items() if key in wanted):
            raise ThrottlingQuotaExceededError("the quota for changes to topics is exceeded")

    try:
        # Longer than the timeout of one attempt, as the error of an attempt is more specific than that of this retry.
        await requests.retry("changing topics", once, requests.limit_ms(timeout_ms) + 2 * MARGIN_MS)
    except KafkaTimeoutError:
        if not results:
            raise
    in_order = [results.pop(key) for key in wanted if key in results]
    return max(throttle_ms), [*in_order, *results.values()]


def _exceeds(result: Any) -> bool:
    return bool(result.error_code == ThrottlingQuotaExceededError.errno)
