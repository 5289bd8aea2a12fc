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
from kafka.structs import GroupInformation, OffsetAndMetadata, TopicPartition


class RecordsToDelete(NamedTuple):
    """The records of a partition that are to go.

    Arguments:
        before_offset: the first one that stays; -1: none does.
    """

    before_offset: int


class DescribedGroup(NamedTuple):
    """An answer to `describe_consumer_groups`."""

    groups: list[GroupInformation]


class _Admin(AsyncKafkaAdminClient):
    """The admin client below, with a call more."""

    async def coordinator(self, kind: Literal["group", "transaction"], key: str) -> int:
        """The id of the broker that coordinates a group or a transactional id."""
        limit_ms = self._parsed.connection.request_timeout_ms
        return await self._run(self._requests.cluster.coordinator(kind, key, limit_ms))

    def html(self, kind: str) -> str:
        """What a notebook shows of the client.

        Arguments:
            kind: what it is called there.
        """
        return self._shown_as(kind)


class AIOKafkaAdminClient:
    """aiokafka's admin client; responses have the fields, and the lists of tuples, of its protocol's responses.

    Arguments:
        configs: see `AIOAdminConfigs`.
    """

    def __init__(self, **configs: Unpack[AIOAdminConfigs]) -> None:
        self._options = admin_options(configs)
        self._admin = _Admin(**self._options)

    async def start(self) -> None:
        """Find the cluster; raises `KafkaConnectionError`."""
        await start(self._admin.start(), self._options)

    async def close(self) -> None:
        """Close the connections. Does nothing the second time."""
        await self._admin.close()

    def _repr_html_(self) -> str:
        """What a notebook shows of the client: its health. In any thread; asks no broker."""
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
        """Create topics; ``topic_errors`` of the answer are name, error code and message of each."""
        return await self._admin.create_topics(new_topics, timeout_ms, validate_only, raise_errors=False)

    async def delete_topics(self, topics: list[str], timeout_ms: int | None = None) -> DeleteTopicsResult:
        """Delete topics; ``topic_error_codes`` of the answer are name and error code of each."""
        return await self._admin.delete_topics(topics, timeout_ms, raise_errors=False)

    async def create_partitions(
        self,
        topic_partitions: Mapping[str, NewPartitions],
        timeout_ms: int | None = None,
        validate_only: bool = False,
    ) -> CreatePartitionsResult:
        """Add partitions; ``topic_errors`` of the answer are name, error code and message of each topic."""
        return await self._admin.create_partitions(topic_partitions, timeout_ms, validate_only, raise_errors=False)

    async def list_topics(self) -> list[str]:
        """The names of all topics."""
        return await self._admin.list_topics()

    async def describe_topics(self, topics: list[str] | None = None) -> list[dict[str, Any]]:
        """Describe topics; None: all. See `AsyncKafkaAdminClient.describe_topics`."""
        return await self._admin.describe_topics(topics)

    async def describe_cluster(self) -> dict[str, Any]:
        """Brokers, controller and id of the cluster."""
        return await self._admin.describe_cluster()

    async def describe_configs(
        self, config_resources: list[ConfigResource], include_synonyms: bool = False
    ) -> list[DescribeConfigsResult]:
        """Return the settings of topics and brokers, in responses whose ``resources`` are tuples.

        A resource is error code and message, type, name, and settings: name, value, whether it is read only, its
        source, whether it is sensitive, its synonyms.
        """
        return list(await self._admin.describe_configs(config_resources, include_synonyms, raise_errors=False))

    async def alter_configs(self, config_resources: list[ConfigResource]) -> list[AlterConfigsResult]:
        """Change only the given settings."""
        return [await self._admin.alter_configs(config_resources, raise_errors=False)]

    async def delete_records(
        self, records_to_delete: Mapping[TopicPartition, RecordsToDelete], timeout_ms: int | None = None
    ) -> dict[TopicPartition, int]:
        """Delete records; return the first remaining offset of each partition."""
        offsets = {tp: each.before_offset for tp, each in records_to_delete.items()}
        found = await self._admin.delete_records(offsets, timeout_ms)
        return {tp: each["low_watermark"] for tp, each in found.items()}

    async def list_consumer_groups(self, broker_ids: list[int] | None = None) -> list[tuple[Any, ...]]:
        """Name and type of protocol of each group."""
        return [tuple(each)[:2] for each in await self._admin.list_consumer_groups(broker_ids)]

    async def describe_consumer_groups(
        self,
        group_ids: list[str],
        group_coordinator_id: int | None = None,
        include_authorized_operations: bool = False,
    ) -> list[DescribedGroup]:
        """Describe groups, each in an answer of its own."""
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
        """What a group has committed."""
        return await self._admin.list_consumer_group_offsets(group_id, group_coordinator_id, partitions)

    async def find_coordinator(self, group_id: str, coordinator_type: int = 0) -> int:
        """The id of the broker that coordinates a group (type 0) or a transactional id (1)."""
        return await self._admin.coordinator("transaction" if coordinator_type else "group", group_id)
