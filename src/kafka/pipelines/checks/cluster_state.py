"""Asks the brokers for what the checks of topics, permissions and positions need, within a few seconds."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kafka.errors import (
    GroupAuthorizationFailedError,
    KafkaError,
    TransactionalIdAuthorizationFailedError,
    UnsupportedVersionError,
)
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    from kafka.admin import KafkaAdminClient

_TOPIC_CONFIGS = ("cleanup.policy", "retention.ms", "retention.bytes", "max.message.bytes", "min.insync.replicas")
_BROKER_CONFIGS = ("auto.create.topics.enable", "num.partitions", "default.replication.factor")
_NOT_AUTHORIZED = 29
_UNKNOWN_TOPIC = 3


@dataclasses.dataclass(frozen=True, slots=True)
class TopicState:
    """A topic that exists.

    Arguments:
        name: the name.
        partitions: the numbers of the partitions.
        operations: what this client may do with the topic, such as READ; None if the brokers do not tell.
        configs: the configs that matter here, by name; empty without permission to see them.
    """

    name: str
    partitions: tuple[int, ...]
    operations: frozenset[str] | None = None
    configs: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def number(self, config: str) -> int | None:
        """Return the value of a config as a number; None if it is unknown."""
        text = self.configs.get(config)
        return int(text) if text is not None and text.removeprefix("-").isdecimal() else None


@dataclasses.dataclass(frozen=True, slots=True)
class ClusterState:
    """What the brokers answered.

    Arguments:
        topics: the topics that exist, by name.
        denied: the topics that this client may not describe.
        all_names: the names of all topics that this client may see.
        broker: configs of a broker, by name; empty without permission to see them.
        starts: the first offset of each partition.
        ends: the end offset of each partition.
        newest_ms: the newest timestamp in each partition with records, in ms since 1970.
        groups: what this client may do with each group; None if the brokers do not tell.
        transactional_id_denied: whether the client may not describe the transactional ids of the sink.
    """

    topics: Mapping[str, TopicState] = dataclasses.field(default_factory=dict)
    denied: frozenset[str] = frozenset()
    all_names: tuple[str, ...] = ()
    broker: Mapping[str, str] = dataclasses.field(default_factory=dict)
    starts: Mapping[TopicPartition, int] = dataclasses.field(default_factory=dict)
    ends: Mapping[TopicPartition, int] = dataclasses.field(default_factory=dict)
    newest_ms: Mapping[TopicPartition, int] = dataclasses.field(default_factory=dict)
    groups: Mapping[str, frozenset[str] | None] = dataclasses.field(default_factory=dict)
    transactional_id_denied: bool = False


class Cluster:
    """A connection for the questions of the checks. A context manager.

    Arguments:
        configs: keyword arguments of a consumer or producer.
        limit_ms: time limit for the connection, and for each question.

    Raises `KafkaError` when it is entered, if no broker answers.
    """

    def __init__(self, configs: Sequence[tuple[str, Any]], limit_ms: int) -> None:
        from kafka.spark.exactly_once.prefix_access import admin_configs

        own = {"bootstrap_timeout_ms": limit_ms, "request_timeout_ms": limit_ms, "client_id": "kafka-pipeline-check"}
        self._configs: dict[str, Any] = dict(admin_configs(tuple(configs))) | own
        self._admin: KafkaAdminClient | None = None

    def __enter__(self) -> Cluster:
        from kafka.admin import KafkaAdminClient

        self._admin = KafkaAdminClient(**self._configs)
        return self

    def __exit__(self, *_: object) -> None:
        if self._admin is not None:
            self._admin.close()

    def state(
        self,
        topics: Collection[str],
        selects: Callable[[str], bool],
        groups: Sequence[str] = (),
        transactional_id: str | None = None,
    ) -> ClusterState:
        """Return the state of topics, groups and a transactional id.

        Arguments:
            topics: the names of topics.
            selects: returns whether other existing topics are needed, too, because of a pattern.
            groups: names of groups.
            transactional_id: the transactional id.

        Raises `KafkaError` if the brokers no longer answer.
        """
        admin = self._client()
        names = tuple(admin.list_topics(include_internal=False))
        wanted = sorted({*topics, *(name for name in names if selects(name))})
        described = admin.describe_topics(wanted) if wanted else []
        found = [each for each in described if each["error_code"] not in (_NOT_AUTHORIZED, _UNKNOWN_TOPIC)]
        denied = frozenset(each["topic"] for each in described if each["error_code"] == _NOT_AUTHORIZED)
        configs = self._topic_configs([each["topic"] for each in found])
        states = {each["topic"]: _topic(each, configs.get(each["topic"], {})) for each in found}
        partitions = [TopicPartition(each.name, one) for each in states.values() for one in each.partitions]
        from kafka.admin import OffsetSpec

        return ClusterState(
            topics=states,
            denied=denied,
            all_names=names,
            broker=self._broker_configs(),
            starts=self._offsets(partitions, OffsetSpec.EARLIEST),
            ends=self._offsets(partitions, OffsetSpec.LATEST),
            newest_ms=self._newest(partitions),
            groups={each: self._group(each) for each in groups},
            transactional_id_denied=transactional_id is not None and self._is_denied(transactional_id),
        )

    def offsets_at(self, partitions: Collection[TopicPartition], time_ms: int) -> dict[TopicPartition, int]:
        """Return the offset of the first record at or after a time in each partition that has one."""
        return self._offsets(partitions, time_ms)

    def _client(self) -> KafkaAdminClient:
        assert self._admin is not None, "the context is not entered"
        return self._admin

    def _topic_configs(self, topics: Sequence[str]) -> dict[str, dict[str, str]]:
        from kafka.admin import ConfigResource, ConfigResourceType

        wanted = [ConfigResource(ConfigResourceType.TOPIC, each, list(_TOPIC_CONFIGS)) for each in topics]
        return self._configs_of(wanted) if wanted else {}

    def _broker_configs(self) -> dict[str, str]:
        from kafka.admin import ConfigResource, ConfigResourceType

        try:
            brokers = self._client().describe_cluster()["brokers"]
        except KafkaError:
            return {}
        names = [str(each["node_id"]) for each in brokers[:1]]
        found = self._configs_of(
            [ConfigResource(ConfigResourceType.BROKER, each, list(_BROKER_CONFIGS)) for each in names]
        )
        return next(iter(found.values()), {})

    def _configs_of(self, resources: Sequence[Any]) -> dict[str, dict[str, str]]:
        """Return the configs of resources, by name of the resource; those that this client may not see are left out."""
        try:
            responses = self._client().describe_configs(resources, raise_errors=False)
        except KafkaError:
            return {}
        found: dict[str, dict[str, str]] = {}
        for response in list(responses):
            for each in response.results:
                values = {one["name"]: one["value"] for one in each["configs"] if one["value"] is not None}
                if each["error_code"] == 0:
                    found[each["resource_name"]] = values
        return found

    def _offsets(self, partitions: Collection[TopicPartition], spec: int) -> dict[TopicPartition, int]:
        found = self._listed(partitions, spec)
        return {each: told.offset for each, told in found.items() if told.offset >= 0}

    def _newest(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        from kafka.admin import OffsetSpec

        found = self._listed(partitions, OffsetSpec.MAX_TIMESTAMP)
        return {each: told.timestamp for each, told in found.items() if told.offset >= 0 and told.timestamp > 0}

    def _listed(self, partitions: Collection[TopicPartition], spec: int) -> dict[TopicPartition, Any]:
        if not partitions:
            return {}
        try:
            found = self._client().list_partition_offsets(dict.fromkeys(partitions, spec), raise_errors=False)
        except UnsupportedVersionError:
            return {}
        answers: dict[TopicPartition, Any] = dict(found)
        return {each: told for each, told in answers.items() if not isinstance(told, Exception)}

    def _group(self, name: str) -> frozenset[str] | None:
        try:
            (described,) = self._client().describe_consumer_groups([name], include_authorized_operations=True)
        except KafkaError as error:
            return frozenset() if isinstance(error, GroupAuthorizationFailedError) else None
        operations: Any = described.authorized_operations
        return None if operations is None else frozenset(operations)

    def _is_denied(self, transactional_id: str) -> bool:
        try:
            found = self._client().describe_transactions([transactional_id], raise_errors=False)
        except KafkaError:
            return False
        return isinstance(found.get(transactional_id), TransactionalIdAuthorizationFailedError)


def _topic(described: Mapping[str, Any], configs: Mapping[str, str]) -> TopicState:
    operations = described["authorized_operations"]
    return TopicState(
        described["topic"],
        tuple(each["partition_index"] for each in described["partitions"]),
        None if operations is None else frozenset(operations),
        configs,
    )
