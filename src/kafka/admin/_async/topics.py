"""Methods for topics."""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from kafka.admin import arguments
from kafka.admin import topics as _topics
from kafka.admin._async import AsyncAdminCalls
from kafka.admin.results import CreatePartitionsResult, CreateTopicsResult, DeleteTopicsResult
from kafka.admin.topics import NewPartitions, NewTopics
from kafka.admin.topics import new_partitions as wanted_partitions
from kafka.admin.topics import new_topics as wanted_topics
from kafka.errors import IllegalArgumentError


class AsyncTopicCalls(AsyncAdminCalls):
    """Methods for topics."""

    async def create_topics(
        self,
        new_topics: NewTopics,
        timeout_ms: float | None = None,
        validate_only: bool = False,
        raise_errors: bool = True,
        wait_for_metadata: bool = False,
    ) -> CreateTopicsResult:
        """Create topics.

        Arguments:
            new_topics: `NewTopic` objects; names; or a mapping of names to dicts of ``num_partitions``,
                ``replication_factor``, ``assignments`` and ``configs``, all optional; see `NewTopic`.
            timeout_ms: how long the cluster may take to create the topics on all brokers; None: ``request_timeout_ms``.
            validate_only: only check whether the topics could be created.
            raise_errors: raise the first error; other topics may have been created. False leaves errors in the result.
            wait_for_metadata: afterwards, call `wait_for_topics` for the created topics.

        Like Java's `Admin.createTopics`.
        """
        if validate_only and wait_for_metadata:
            raise IllegalArgumentError("wait_for_metadata: no topic is created if validate_only is True")
        wanted = wanted_topics(new_topics)
        limit = arguments.timeout(timeout_ms)
        result = await self._run(_topics.create_topics(self._requests, wanted, limit, validate_only, raise_errors))
        if wait_for_metadata:
            await self.wait_for_topics([each["name"] for each in result["topics"] if not each["error_code"]])
        return result

    async def wait_for_topics(self, topic_names: Iterable[str], timeout_ms: float = 10_000) -> None:
        """Wait until the brokers know the topics and each partition has a leader.

        Arguments:
            topic_names: the topics by name.
            timeout_ms: time limit in milliseconds.

        Raises `KafkaTimeoutError`.
        """
        names, limit = arguments.names("topic_names", topic_names), arguments.timeout(timeout_ms)
        await self._run(_topics.wait_for_topics(self._requests, names, limit or 0))

    async def delete_topics(
        self, topics: Iterable[str | UUID], timeout_ms: float | None = None, raise_errors: bool = True
    ) -> DeleteTopicsResult:
        """Delete topics by name, or by id as `uuid.UUID` (Kafka 2.8).

        Arguments:
            topics: names or ids.
            timeout_ms: how long the cluster may take; None: ``request_timeout_ms``.
            raise_errors: raise the first error; other topics may have been deleted. False leaves errors in the result.

        Like Java's `Admin.deleteTopics`.
        """
        wanted, limit = arguments.names_or_ids("topics", topics), arguments.timeout(timeout_ms)
        return await self._run(_topics.delete_topics(self._requests, wanted, limit, raise_errors))

    async def list_topics(self, include_internal: bool = True) -> list[str]:
        """List the names of all topics.

        Arguments:
            include_internal: include Kafka's internal topics, such as "__consumer_offsets".

        Like Java's `Admin.listTopics`.
        """
        return await self._run(_topics.list_topics(self._requests, include_internal))

    async def describe_topics(self, topics: Iterable[str | UUID] | None = None) -> list[dict[str, Any]]:
        """Describe topics by name, or by id as `uuid.UUID` (Kafka 2.8).

        Arguments:
            topics: names or ids; None: all topics.

        Returns a list of dicts with ``topic`` (also as ``name``), ``error_code``, ``is_internal``, ``topic_id``,
        ``authorized_operations`` (names of the operations that this client may perform; None: unknown) and
        ``partitions``: dicts with ``partition``, ``leader``, ``leader_epoch``, ``replicas``, ``isr``,
        ``offline_replicas`` and ``error_code``. A topic that does not exist has an error code and no partitions.

        Like Java's `Admin.describeTopics`.
        """
        return await self._run(
            _topics.describe_topics(
                self._requests, None if topics is None else arguments.names_or_ids("topics", topics)
            )
        )

    async def create_partitions(
        self,
        topic_partitions: Mapping[str, NewPartitions | int | Mapping[str, Any]],
        timeout_ms: float | None = None,
        validate_only: bool = False,
        raise_errors: bool = True,
    ) -> CreatePartitionsResult:
        """Add partitions to topics.

        Arguments:
            topic_partitions: a mapping of topic name to a `NewPartitions`, to the new total number of partitions, or to
                a dict with that number (``count``) and the brokers for each new partition (``assignments``).
            timeout_ms: how long the cluster may take; None: ``request_timeout_ms``.
            validate_only: only check whether the change would succeed.
            raise_errors: raise the first error; False leaves errors in the result.

        Like Java's `Admin.createPartitions`. Requires Kafka 1.0.
        """
        wanted = wanted_partitions(topic_partitions)
        limit = arguments.timeout(timeout_ms)
        return await self._run(_topics.create_partitions(self._requests, wanted, limit, validate_only, raise_errors))
