"""The synchronous admin client."""

import contextlib
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, ClassVar, NoReturn, TypeVar, Unpack

from kafka.admin import arguments
from kafka.admin import configs as _configs
from kafka.admin import groups as _groups
from kafka.admin import records as _records
from kafka.admin import topics as _topics
from kafka.admin.config_resource import ConfigResource
from kafka.admin.new_partitions import NewPartitions
from kafka.admin.new_topic import NewTopic
from kafka.admin.requests import AdminRequests
from kafka.admin.results import AlterConfigsResult, CreateTopicsResult, DeleteTopicsResult, DescribeConfigsResult
from kafka.cluster import ClusterClient
from kafka.config import AdminConfigs, option_table, parse_admin, with_options
from kafka.errors import BrokerResponseError, IllegalStateError, KafkaError
from kafka.net import LoopThread
from kafka.structs import GroupInformation, OffsetAndMetadata, TopicPartition

T = TypeVar("T")
_CLOSE_TIMEOUT_S = 5.0


@with_options("admin")
class KafkaAdminClient:
    """Administers a cluster; safe to use from several threads.

    Each method blocks until the cluster has answered. All raise what is wrong with the request, such as
    `TopicAlreadyExistsError`; `IllegalArgumentError` for an argument that is none; `KafkaTimeoutError` and
    `KafkaConnectionError` when the cluster does not answer in time; `UnsupportedVersionError` when the brokers are too
    old; `ForkedClientError` in a forked child.

    Arguments: client options by keyword, see below.
    Raises `NoBrokersAvailable`, naming what each bootstrap server answered, and `KafkaConfigurationError`.
    """

    DEFAULT_CONFIG: ClassVar[dict[str, Any]] = {
        name: row.default for name, row in option_table().items() if "admin" in row.clients
    }

    def __init__(self, **configs: Unpack[AdminConfigs]) -> None:
        self._closed = True  # so that __del__ works on one that could not be made
        parsed = parse_admin(configs)
        self.config = {**self.DEFAULT_CONFIG, **configs}
        self._loop_thread = LoopThread.shared()
        self._cluster = ClusterClient(parsed.connection, parsed.security)
        self._requests = AdminRequests(self._cluster, parsed.connection)
        try:
            self._loop_thread.run(self._cluster.start())
        except BaseException:
            self._loop_thread.spawn(self._cluster.close())
            raise
        self._closed = False

    # Topics

    def create_topics(
        self, new_topics: Sequence[NewTopic], timeout_ms: float | None = None, validate_only: bool = False
    ) -> CreateTopicsResult:
        """Create topics.

        Arguments:
            timeout_ms: how long the cluster may take until all brokers know the topics; None: ``request_timeout_ms``.
            validate_only: only check whether they could be created.

        Raises the error of the first topic that failed; others may have been created.
        """
        wanted = arguments.instances("new_topics", NewTopic, new_topics)
        limit = arguments.timeout(timeout_ms)
        return self._run(_topics.create_topics(self._requests, wanted, limit, validate_only))

    def delete_topics(self, topics: Iterable[str], timeout_ms: float | None = None) -> DeleteTopicsResult:
        """Delete topics by name. Raises the error of the first that failed; others may be gone."""
        return self._run(
            _topics.delete_topics(self._requests, arguments.names("topics", topics), arguments.timeout(timeout_ms))
        )

    def list_topics(self) -> list[str]:
        """The names of all topics, internal ones included."""
        return self._run(_topics.list_topics(self._requests))

    def describe_topics(self, topics: Iterable[str] | None = None) -> list[dict[str, Any]]:
        """Describe topics, None: all.

        Each is a dict of ``topic`` (also as ``name``), ``error_code``, ``is_internal``, ``topic_id`` and
        ``partitions``: dicts of ``partition``, ``leader``, ``leader_epoch``, ``replicas``, ``isr``,
        ``offline_replicas``, ``error_code``. A topic that does not exist has an error code and no partitions.
        """
        return self._run(
            _topics.describe_topics(self._requests, None if topics is None else arguments.names("topics", topics))
        )

    def create_partitions(
        self,
        topic_partitions: Mapping[str, NewPartitions],
        timeout_ms: float | None = None,
        validate_only: bool = False,
    ) -> CreateTopicsResult:
        """Add partitions to topics: topic name to a `NewPartitions`."""
        wanted = arguments.mapping("topic_partitions", topic_partitions)
        arguments.names("topic_partitions", wanted)
        arguments.instances("topic_partitions", NewPartitions, wanted.values())
        limit = arguments.timeout(timeout_ms)
        return self._run(_topics.create_partitions(self._requests, wanted, limit, validate_only))

    def describe_cluster(self) -> dict[str, Any]:
        """A dict of ``cluster_id``, ``controller_id`` and ``brokers`` (``node_id``, ``host``, ``port``, ``rack``)."""
        return self._run(_topics.describe_cluster(self._requests))

    # Configurations

    def describe_configs(
        self, config_resources: Iterable[ConfigResource], include_synonyms: bool = False
    ) -> list[DescribeConfigsResult]:
        """Describe configurations: one result for all topics and the like, and one for each broker named.

        Arguments:
            include_synonyms: also tell which other settings a value may come from.
        """
        resources = arguments.instances("config_resources", ConfigResource, config_resources)
        return self._run(_configs.describe_configs(self._requests, resources, include_synonyms))

    def alter_configs(
        self,
        config_resources: Iterable[ConfigResource],
        validate_only: bool = False,
        incremental: bool = False,
    ) -> AlterConfigsResult:
        """Alter configurations.

        Arguments:
            validate_only: only check whether it could be done.
            incremental: False replaces the whole configuration of each resource: a setting that is not given falls
                back to its default. True changes only those given (KIP-339, Kafka 2.3): None deletes one, a pair of
                an `AlterConfigOp` and a value does what that says.
        """
        resources = arguments.instances("config_resources", ConfigResource, config_resources)
        return self._run(_configs.alter_configs(self._requests, resources, validate_only, incremental))

    # Groups

    def list_consumer_groups(self, broker_ids: Iterable[int] | None = None) -> list[tuple[str, str]]:
        """Group ids with their protocol types, of the groups that these brokers coordinate; None: of all groups."""
        ids = None if broker_ids is None else arguments.numbers("broker_ids", broker_ids)
        return self._run(_groups.list_consumer_groups(self._requests, ids))

    def describe_consumer_groups(
        self,
        group_ids: Iterable[str],
        group_coordinator_id: int | None = None,
        include_authorized_operations: bool = False,
    ) -> list[GroupInformation]:
        """Describe groups with their members, subscriptions and assignments.

        Arguments:
            group_coordinator_id: the broker that coordinates them, if known; None looks it up.
            include_authorized_operations: also tell what this client may do with them.

        A group that does not exist is in state "Dead", or raises `GroupIdNotFoundError` on Kafka 4.0 and later.
        """
        ids = arguments.names("group_ids", group_ids)
        return self._run(
            _groups.describe_consumer_groups(self._requests, ids, group_coordinator_id, include_authorized_operations)
        )

    def delete_consumer_groups(
        self, group_ids: Iterable[str], group_coordinator_id: int | None = None
    ) -> list[tuple[str, type[BrokerResponseError]]]:
        """Delete groups that have no members: pairs of the group id and an error class, `NoError` for success."""
        ids = arguments.names("group_ids", group_ids)
        return self._run(_groups.delete_consumer_groups(self._requests, ids, group_coordinator_id))

    def list_consumer_group_offsets(
        self,
        group_id: str,
        group_coordinator_id: int | None = None,
        partitions: Iterable[TopicPartition] | None = None,
    ) -> dict[TopicPartition, OffsetAndMetadata]:
        """What a group has committed, for these partitions; None: for all that it has committed for.

        A partition that was named but has no committed offset has offset -1.
        """
        wanted = None if partitions is None else arguments.partitions("partitions", partitions)
        group_id = arguments.name("group_id", group_id)
        return self._run(_groups.list_consumer_group_offsets(self._requests, group_id, group_coordinator_id, wanted))

    # Records

    def delete_records(
        self,
        records_to_delete: Mapping[TopicPartition, int],
        timeout_ms: float | None = None,
        partition_leader_id: int | None = None,
    ) -> dict[TopicPartition, dict[str, Any]]:
        """Delete all records before an offset (-1: all) of each partition.

        Arguments:
            partition_leader_id: the broker that leads all these partitions, if known; None looks it up.

        Gives a dict with ``low_watermark``, the first offset that is left, for each partition.
        """
        what = "records_to_delete"
        offsets = {
            arguments.partition(what, tp): arguments.number(what, offset)
            for tp, offset in arguments.mapping(what, records_to_delete).items()
        }
        limit = arguments.timeout(timeout_ms)
        return self._run(_records.delete_records(self._requests, offsets, limit, partition_leader_id))

    # Life

    def close(self) -> None:
        """Close the connections. Does nothing the second time."""
        if self._closed:
            return
        with contextlib.suppress(KafkaError):  # a fork or the end of the process has closed them already
            closing = self._loop_thread.spawn(self._cluster.close())
            self._closed = True  # an interrupt from here on ends the wait, and the connections are closed all the same
            if not self._loop_thread.in_loop_thread:  # a finalizer may be run there, which must not stop the loop
                closing.result(_CLOSE_TIMEOUT_S)
        self._closed = True

    def __enter__(self) -> "KafkaAdminClient":
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if not getattr(self, "_closed", True):
            with contextlib.suppress(KafkaError, RuntimeError):
                self._loop_thread.spawn(self._cluster.close())

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"{type(self).__name__} objects own connections, so they cannot be pickled or copied: make one where it is "
            "needed, for example in each process"
        )

    def _run(self, operation: Coroutine[Any, Any, T]) -> T:
        if self._closed:
            operation.close()
            raise IllegalStateError("the admin client is closed")
        return self._loop_thread.run(operation)
