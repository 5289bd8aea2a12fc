"""The cluster: brokers, log directories, features, the quorum; and any request at all."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kafka.admin import arguments
from kafka.admin import cluster as _cluster
from kafka.admin import features as _features
from kafka.admin import log_dirs as _log_dirs
from kafka.admin.async_calls.base import AsyncAdminCalls
from kafka.admin.features import ApiKey, BrokerVersionData, UpdateFeatureType
from kafka.admin.requests import unchanged
from kafka.admin.results import LogDirsResult
from kafka.errors import BrokerResponseError, IllegalArgumentError
from kafka.structs import TopicPartitionReplica
from kafka.wire import Request


class AsyncClusterCalls(AsyncAdminCalls):
    """What is done with the cluster."""

    async def describe_cluster(self) -> dict[str, Any]:
        """A dict of ``cluster_id``, ``controller_id``, ``brokers`` (``node_id``, ``host``, ``port``, ``rack``) and
        ``authorized_operations`` (the names of what this client may do with the cluster; None: not told).
        """
        return await self._run(_cluster.describe_cluster(self._requests))

    async def describe_log_dirs(
        self,
        topic_partitions: Mapping[str, Iterable[int]] | Iterable[str] | None = None,
        brokers: Iterable[int] | None = None,
    ) -> LogDirsResult:
        """What is in the log directories of brokers, None: of all.

        Arguments:
            topic_partitions: partitions by topic; topics; None: all.
        """
        nodes = None if brokers is None else arguments.numbers("brokers", brokers)
        if topic_partitions is None or isinstance(topic_partitions, Mapping):
            wanted = arguments.indexes("topic_partitions", topic_partitions)
        else:
            names = arguments.names("topic_partitions", topic_partitions)
            wanted = await self._run(_cluster.all_partitions(self._requests, names))
        return await self._run(_log_dirs.describe_log_dirs(self._requests, wanted, nodes))

    async def alter_replica_log_dirs(
        self, replica_assignments: Mapping[TopicPartitionReplica, str]
    ) -> dict[TopicPartitionReplica, type[BrokerResponseError]]:
        """Move replicas to other directories, absolute paths, of their brokers (KIP-113).

        Gives an error class for each, `NoError` for success.
        """
        what = "replica_assignments"
        wanted = {}
        for given, path in arguments.mapping(what, replica_assignments).items():
            if not isinstance(given, tuple) or len(given) != 3:
                raise IllegalArgumentError(f"{what}: expected a TopicPartitionReplica, got {given!r:.80}")
            topic, partition, broker_id = given
            replica = TopicPartitionReplica(
                arguments.name(what, topic), arguments.number(what, partition), arguments.number(what, broker_id)
            )
            wanted[replica] = arguments.name(what, path)
        return await self._run(_log_dirs.alter_replica_log_dirs(self._requests, wanted))

    async def describe_metadata_quorum(self) -> dict[str, Any]:
        """The quorum of the controllers (KRaft): ``topics``, whose one partition has the leader, voters and observers,
        and ``nodes`` (Kafka 3.9).
        """
        return await self._run(_features.describe_metadata_quorum(self._requests))

    async def describe_features(self, send_request_to_controller: bool = False) -> dict[str, dict[str, Any]]:
        """The features of the cluster (KIP-584): ``supported``, ``finalized`` (lowest and highest level each) and
        ``finalized_epoch`` by name.
        """
        return await self._run(_features.describe_features(self._requests, send_request_to_controller))

    async def update_features(
        self,
        feature_updates: Mapping[str, int | tuple[UpdateFeatureType | str | int, int]],
        validate_only: bool = False,
        timeout_ms: float | None = 60_000,
    ) -> dict[str, str]:
        """Change the level of features (Kafka 3.3): "OK" or what went wrong for each.

        Arguments:
            feature_updates: a level, or a pair of an `UpdateFeatureType`, or its name, and a level; 0 switches it off.
        """
        updates = {}
        for feature, given in arguments.mapping("feature_updates", feature_updates).items():
            kind, level = given if isinstance(given, tuple) else (UpdateFeatureType.UPGRADE, given)
            updates[arguments.name("feature_updates", feature)] = (
                arguments.member("feature_updates", UpdateFeatureType, kind),
                arguments.number("feature_updates", level),
            )
        limit = arguments.timeout(timeout_ms)
        return await self._run(_features.update_features(self._requests, updates, validate_only, limit))

    async def api_versions(self) -> dict[int, tuple[int, int]]:
        """The versions that a broker serves, lowest and highest: by key, as a member of an enum where it has a name."""
        found = await self._run(_features.api_versions(self._requests, None))
        names = {int(key): key for key in ApiKey}
        return {names.get(key, key): versions for key, versions in found.items()}

    async def get_broker_version_data(self, broker_id: int) -> BrokerVersionData:
        """The versions that one broker serves."""
        node_id = arguments.number("broker_id", broker_id)
        return BrokerVersionData(await self._run(_features.api_versions(self._requests, node_id)))

    async def send_request(self, request: Request[Any], node_id: int | None = None) -> Any:
        """Send any request of `kafka.wire` to a broker (None: to any), and give the response."""
        (wanted,) = arguments.instances("request", Request, [request])
        return await self._run(self._requests.any_broker(wanted, node_id))

    async def send_requests(
        self,
        requests_and_node_ids: Iterable[tuple[Request[Any], int | None]],
        response_fn: Callable[[Any], Any] = unchanged,
    ) -> list[Any]:
        """As `send_request`, for each pair of a request and a broker; ``response_fn`` makes what is given."""
        return [response_fn(await self.send_request(*each)) for each in requests_and_node_ids]
