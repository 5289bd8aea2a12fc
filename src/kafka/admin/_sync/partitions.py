# Written by scripts/twins.py from kafka/admin/_async/partitions.py: change that file, not this one.
"""Methods for partitions: records, offsets, replicas and leaders."""

from collections.abc import Iterable, Mapping
from typing import Any

from kafka.admin import arguments
from kafka.admin import cluster as _cluster
from kafka.admin import partitions as _partitions
from kafka.admin._sync import AdminCalls
from kafka.admin.partitions import IsolationLevel
from kafka.admin.results import ElectLeadersResult
from kafka.errors import BrokerResponseError, IllegalArgumentError
from kafka.structs import OffsetAndTimestamp, TopicPartition


class PartitionCalls(AdminCalls):
    """Methods for partitions."""

    def delete_records(
        self,
        records_to_delete: Mapping[TopicPartition, int],
        timeout_ms: float | None = None,
        partition_leader_id: int | None = None,
        raise_errors: bool = True,
    ) -> dict[TopicPartition, dict[str, Any]]:
        """Delete the records of each partition before an offset.

        Arguments:
            records_to_delete: a mapping of partition to the first offset to keep; -1 deletes all records.
            timeout_ms: how long the brokers may take; None: ``request_timeout_ms``.
            partition_leader_id: the broker that leads all these partitions, if known; None looks it up.
            raise_errors: raise the first error; if False, the result contains a `KafkaError` for each partition that
                failed.

        Returns a dict with ``low_watermark``, the first remaining offset, for each partition. If a partition does not
        exist, raises `UnknownTopicOrPartitionError` without retrying.

        Like Java's `Admin.deleteRecords`. Requires Kafka 0.11.
        """
        what = "records_to_delete"
        offsets = {
            arguments.partition(what, tp): arguments.number(what, offset)
            for tp, offset in arguments.mapping(what, records_to_delete).items()
        }
        limit = arguments.timeout(timeout_ms)
        leader_id = partition_leader_id
        return self._run(_partitions.delete_records(self._requests, offsets, limit, leader_id, raise_errors))

    def list_partition_offsets(
        self,
        topic_partition_specs: Mapping[TopicPartition, int],
        isolation_level: IsolationLevel | str | int = IsolationLevel.READ_UNCOMMITTED,
        timeout_ms: float | None = None,
        raise_errors: bool = True,
    ) -> dict[TopicPartition, OffsetAndTimestamp]:
        """Find the first or last offset of partitions, or the offset for a timestamp.

        Arguments:
            topic_partition_specs: a mapping of partition to an `OffsetSpec`, or to a time in milliseconds since 1970. A
                time selects the offset of the first record at or after that time, or -1 if there is no such record.
            isolation_level: with READ_COMMITTED, `OffsetSpec.LATEST` finds the last stable offset.
            timeout_ms: time limit in milliseconds; None: ``request_timeout_ms``.
            raise_errors: raise the first error; if False, the result contains a `KafkaError` for each partition that
                failed.

        Like Java's `Admin.listOffsets`.
        """
        what = "topic_partition_specs"
        specs = {
            arguments.partition(what, tp): _partitions.time_or_spec(what, spec)
            for tp, spec in arguments.mapping(what, topic_partition_specs).items()
        }
        level = arguments.member("isolation_level", IsolationLevel, isolation_level)
        limit = arguments.timeout(timeout_ms)
        return self._run(_partitions.list_partition_offsets(self._requests, specs, level, limit, raise_errors))

    def describe_topic_partitions(
        self, topics: Iterable[str], response_partition_limit: int = 2000, cursor: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Describe one page of partitions, including their eligible leader replicas (KIP-966).

        Arguments:
            topics: the topics by name.
            response_partition_limit: maximum number of partitions per page; brokers may return fewer.
            cursor: the ``next_cursor`` of the previous page: a dict with ``topic_name`` and ``partition_index``.

        Returns a dict with ``topics`` and ``next_cursor``, which is None after the last page.

        Like Java's `Admin.describeTopics`. Requires Kafka 3.8.
        """
        start = None
        if cursor is not None:
            given = arguments.mapping("cursor", cursor)
            start = arguments.partition("cursor", (given.get("topic_name"), given.get("partition_index")))
        names = arguments.names("topics", topics)
        limit = arguments.number("response_partition_limit", response_partition_limit)
        return self._run(_cluster.describe_topic_partitions(self._requests, names, limit, start))

    def elect_leaders(
        self,
        election_type: int,
        topic_partitions: Mapping[str, Iterable[int]] | Iterable[str] | None = None,
        timeout_ms: float | None = None,
        raise_errors: bool = True,
    ) -> ElectLeadersResult:
        """Elect the leaders of partitions (KIP-460).

        Arguments:
            election_type: 0 elects the preferred replica; 1 elects any live replica, even one that lacks records.
            topic_partitions: partitions by topic, or topics; None: all partitions.
            timeout_ms: how long the controller may take; None: ``request_timeout_ms``.
            raise_errors: raise the first error. `ElectionNotNeededError` is not raised.

        Returns an `ElectLeadersResult`, a dict with an error code and message for each partition.

        Like Java's `Admin.electLeaders`. Requires Kafka 2.2. The embedded broker does not support it.
        """
        kind = arguments.number("election_type", election_type)
        if kind not in (0, 1):
            raise IllegalArgumentError(f"election_type: expected 0 (preferred) or 1 (unclean), got {kind}")
        wanted, limit = self._indexes(topic_partitions), arguments.timeout(timeout_ms)
        return self._run(_partitions.elect_leaders(self._requests, kind, wanted, limit, raise_errors))

    def perform_leader_election(
        self,
        election_type: int,
        topic_partitions: Mapping[str, Iterable[int]] | None = None,
        timeout_ms: float | None = None,
    ) -> ElectLeadersResult:
        """Elect the leaders of partitions. This is the name of `elect_leaders` in kafka-python 2.x.

        Arguments:
            election_type: 0 elects the preferred replica; 1 elects any live replica, even one that lacks records.
            topic_partitions: partitions by topic; None: all partitions.
            timeout_ms: how long the controller may take; None: ``request_timeout_ms``.

        Returns the same as `elect_leaders`, and raises the first error.

        Like Java's `Admin.electLeaders`. Requires Kafka 2.2. The embedded broker does not support it.
        """
        return self.elect_leaders(election_type, topic_partitions, timeout_ms)

    def alter_partition_reassignments(
        self, reassignments: Mapping[TopicPartition, Iterable[int] | None], timeout_ms: float | None = None
    ) -> dict[TopicPartition, type[BrokerResponseError] | None]:
        """Move partitions to other brokers (KIP-455), or cancel moves in progress.

        Arguments:
            reassignments: a mapping of partition to the ids of its new brokers, the preferred leader first, or to None,
                which cancels the move.
            timeout_ms: how long the controller may take to start the moves; None: ``request_timeout_ms``.

        Returns an error class for each partition, or None for success.

        Like Java's `Admin.alterPartitionReassignments`. Requires Kafka 2.4. The embedded broker does not support it.
        """
        wanted = {
            arguments.partition("reassignments", tp): None if to is None else arguments.numbers("reassignments", to)
            for tp, to in arguments.mapping("reassignments", reassignments).items()
        }
        for tp, to in wanted.items():
            if to is not None and not to:
                raise IllegalArgumentError(f"reassignments: expected brokers for {tp}, or None to end a move")
        limit = arguments.timeout(timeout_ms)
        return self._run(_partitions.alter_partition_reassignments(self._requests, wanted, limit))

    def list_partition_reassignments(
        self,
        topic_partitions: Mapping[str, Iterable[int]] | Iterable[TopicPartition] | None = None,
        timeout_ms: float | None = None,
    ) -> dict[TopicPartition, dict[str, Any]]:
        """List the partition reassignments in progress.

        Arguments:
            topic_partitions: partitions by topic, or `TopicPartition` objects; None: all.
            timeout_ms: how long the controller may take; None: ``request_timeout_ms``.

        Returns a dict with ``replicas``, ``adding_replicas`` and ``removing_replicas`` for each partition.

        Like Java's `Admin.listPartitionReassignments`. Requires Kafka 2.4. The embedded broker does not support it.
        """
        wanted, limit = arguments.indexes("topic_partitions", topic_partitions), arguments.timeout(timeout_ms)
        return self._run(_partitions.list_partition_reassignments(self._requests, wanted, limit))

    def _indexes(self, given: Any) -> dict[str, list[int]] | None:
        """Return partition numbers by topic; a topic name stands for all its partitions."""
        if given is None or isinstance(given, Mapping):
            return arguments.indexes("topic_partitions", given)
        return self._run(_cluster.all_partitions(self._requests, arguments.names("topic_partitions", given)))
