"""`AIOKafkaAdminClient`."""

from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any, Literal, NamedTuple, Self, Unpack

from kafka.admin import AsyncKafkaAdminClient, ConfigResource, NewPartitions, NewTopic
from kafka.admin.results import (
    AlterConfigsResult,
    CreatePartitionsResult,
    CreateTopicsResult,
    DeleteTopicsResult,
    DescribeConfigsResult,
)
from kafka.aio.options import AIOAdminConfigs, admin_options, start
from kafka.health import Health
from kafka.structs import GroupInformation, OffsetAndMetadata, TopicPartition


class RecordsToDelete(NamedTuple):
    """The records to delete from a partition.

    Arguments:
        before_offset: the first offset to keep; -1 deletes all records.
    """

    before_offset: int


class DescribedGroup(NamedTuple):
    """An entry in the result of `describe_consumer_groups`."""

    groups: list[GroupInformation]


class _Admin(AsyncKafkaAdminClient):
    """Adds the methods that `AIOKafkaAdminClient` needs."""

    async def coordinator(self, kind: Literal["group", "transaction"], key: str) -> int:
        """Return the id of the broker that coordinates a group or a transactional id."""
        limit_ms = self._parsed.connection.request_timeout_ms
        return await self._run(self._requests.cluster.coordinator(kind, key, limit_ms))

    def html(self, kind: str) -> str:
        """Return the client's health as HTML, for notebooks.

        Arguments:
            kind: the class name to display for the client.
        """
        return self._shown_as(kind)


class AIOKafkaAdminClient:
    """aiokafka's admin client. Results have the fields and lists of tuples that aiokafka's protocol responses have.

    Arguments:
        configs: see `AIOAdminConfigs`.
    """

    def __init__(self, **configs: Unpack[AIOAdminConfigs]) -> None:
        self._options = admin_options(configs)
        self._admin = _Admin(**self._options)

    async def start(self) -> None:
        """Connect to the cluster. Raises `KafkaConnectionError`."""
        await start(self._admin.start(), self._options)

    async def close(self) -> None:
        """Close the connections. Closing a closed client has no effect."""
        await self._admin.close()

    def health(self) -> Health:
        """Return the client's state; see `Health`. Any thread may call this; it neither waits nor raises."""
        return self._admin.health()

    def _repr_html_(self) -> str:
        """Return the client's health as HTML, for notebooks. Any thread may call this; it sends no request."""
        return self._admin.html(type(self).__name__)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def create_topics(
        self, new_topics: list[NewTopic], timeout_ms: int | None = None, validate_only: bool = False
    ) -> CreateTopicsResult:
        """Create topics. The result's ``topic_errors`` are tuples of topic name, error code and error message."""
        return await self._admin.create_topics(new_topics, timeout_ms, validate_only, raise_errors=False)

    async def delete_topics(self, topics: list[str], timeout_ms: int | None = None) -> DeleteTopicsResult:
        """Delete topics. The result's ``topic_error_codes`` are pairs of topic name and error code."""
        return await self._admin.delete_topics(topics, timeout_ms, raise_errors=False)

    async def create_partitions(
        self,
        topic_partitions: Mapping[str, NewPartitions],
        timeout_ms: int | None = None,
        validate_only: bool = False,
    ) -> CreatePartitionsResult:
        """Add partitions to topics. The result's ``topic_errors`` are tuples of name, error code and error message."""
        return await self._admin.create_partitions(topic_partitions, timeout_ms, validate_only, raise_errors=False)

    async def list_topics(self) -> list[str]:
        """Return the names of all topics."""
        return await self._admin.list_topics()

    async def describe_topics(self, topics: list[str] | None = None) -> list[dict[str, Any]]:
        """Describe the topics, or all topics if ``topics`` is None. See `AsyncKafkaAdminClient.describe_topics`."""
        return await self._admin.describe_topics(topics)

    async def describe_cluster(self) -> dict[str, Any]:
        """Describe the cluster: its brokers, controller and id."""
        return await self._admin.describe_cluster()

    async def describe_configs(
        self, config_resources: list[ConfigResource], include_synonyms: bool = False
    ) -> list[DescribeConfigsResult]:
        """Return the settings of topics and brokers, in responses whose ``resources`` are tuples.

        The tuple for a resource contains its error code, error message, type, name and settings. The tuple for a
        setting contains its name, its value, whether it is read-only, its source, whether it is sensitive, and its
        synonyms.
        """
        return list(await self._admin.describe_configs(config_resources, include_synonyms, raise_errors=False))

    async def alter_configs(self, config_resources: list[ConfigResource]) -> list[AlterConfigsResult]:
        """Alter the given settings; all others keep their values."""
        return [await self._admin.alter_configs(config_resources, raise_errors=False)]

    async def delete_records(
        self, records_to_delete: Mapping[TopicPartition, RecordsToDelete], timeout_ms: int | None = None
    ) -> dict[TopicPartition, int]:
        """Delete records; return the first remaining offset of each partition."""
        offsets = {tp: each.before_offset for tp, each in records_to_delete.items()}
        found = await self._admin.delete_records(offsets, timeout_ms)
        return {tp: each["low_watermark"] for tp, each in found.items()}

    async def list_consumer_groups(self, broker_ids: list[int] | None = None) -> list[tuple[Any, ...]]:
        """Return the name and protocol type of each group."""
        return [tuple(each)[:2] for each in await self._admin.list_consumer_groups(broker_ids)]

    async def describe_consumer_groups(
        self,
        group_ids: list[str],
        group_coordinator_id: int | None = None,
        include_authorized_operations: bool = False,
    ) -> list[DescribedGroup]:
        """Describe groups. Returns one result for each group."""
        found = await self._admin.describe_consumer_groups(
            group_ids, group_coordinator_id, include_authorized_operations
        )
        return [DescribedGroup([each]) for each in found]

    async def list_consumer_group_offsets(
        self,
        group_id: str,
        group_coordinator_id: int | None = None,
        partitions: Iterable[TopicPartition] | None = None,
    ) -> dict[TopicPartition, OffsetAndMetadata]:
        """Return the committed offsets of a group."""
        return await self._admin.list_consumer_group_offsets(group_id, group_coordinator_id, partitions)

    async def find_coordinator(self, group_id: str, coordinator_type: int = 0) -> int:
        """Return the id of the broker that coordinates a group (type 0) or a transactional id (1)."""
        return await self._admin.coordinator("transaction" if coordinator_type else "group", group_id)
