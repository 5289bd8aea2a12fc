"""Methods for the cluster (brokers, features and the metadata quorum), and for sending any request."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any
from uuid import UUID

from kafka.admin import arguments
from kafka.admin import cluster as _cluster
from kafka.admin._async import AsyncAdminCalls
from kafka.admin.admin_requests import unchanged
from kafka.admin.cluster import ApiKey, BrokerVersionData, RaftVoterEndpoint, UpdateFeatureType, directory_id
from kafka.errors import IllegalArgumentError
from kafka.wire import Request


class AsyncClusterCalls(AsyncAdminCalls):
    """Methods for the cluster, and for sending any request."""

    async def describe_cluster(self, include_fenced_brokers: bool = False) -> dict[str, Any]:
        """Describe the cluster: its id, its controller and its brokers.

        Arguments:
            include_fenced_brokers: include fenced brokers, which serve no clients (KIP-1073, Kafka 4.0).

        Returns a dict with ``cluster_id``, ``controller_id``, ``brokers`` (``node_id``, ``host``, ``port``, ``rack``,
        ``is_fenced``) and ``authorized_operations`` (names of the operations that this client may perform on the
        cluster; None: unknown).

        Like Java's `Admin.describeCluster`.
        """
        return await self._run(_cluster.describe_cluster(self._requests, include_fenced_brokers))

    async def describe_features(self, send_request_to_controller: bool = False) -> dict[str, dict[str, Any]]:
        """Describe the supported and finalized features of the cluster (KIP-584).

        Arguments:
            send_request_to_controller: send the request to the controller instead of any broker.

        Returns a dict for each feature, with ``supported`` and ``finalized`` (pairs of the lowest and highest level)
        and ``finalized_epoch``.

        Like Java's `Admin.describeFeatures`. Requires Kafka 2.7.
        """
        return await self._run(_cluster.describe_features(self._requests, send_request_to_controller))

    async def update_features(
        self,
        feature_updates: Mapping[str, int | tuple[UpdateFeatureType | str | int, int]],
        validate_only: bool = False,
        timeout_ms: float | None = 60_000,
    ) -> dict[str, str]:
        """Change the levels of features (Kafka 3.3).

        Arguments:
            feature_updates: feature to its level, or to a pair of an `UpdateFeatureType` (or its name) and a level;
                level 0 disables the feature.
            validate_only: only check whether the change would succeed.
            timeout_ms: how long the controller may take; None: ``request_timeout_ms``.

        Returns "OK" or an error message for each feature.

        Like Java's `Admin.updateFeatures`. Requires Kafka 3.3. The embedded broker does not support it.
        """
        updates = {}
        for feature, given in arguments.mapping("feature_updates", feature_updates).items():
            kind, level = given if isinstance(given, tuple) else (UpdateFeatureType.UPGRADE, given)
            updates[arguments.name("feature_updates", feature)] = (
                arguments.member("feature_updates", UpdateFeatureType, kind),
                arguments.number("feature_updates", level),
            )
        limit = arguments.timeout(timeout_ms)
        return await self._run(_cluster.update_features(self._requests, updates, validate_only, limit))

    async def api_versions(self) -> dict[int, tuple[int, int]]:
        """Return the lowest and highest version of each API that a broker supports.

        Keys are API keys, as enum members if they have a name.
        """
        found = await self._run(_cluster.api_versions(self._requests, None))
        names = {int(key): key for key in ApiKey}
        return {names.get(key, key): versions for key, versions in found.items()}

    async def get_broker_version_data(self, broker_id: int) -> BrokerVersionData:
        """Return the API versions that one broker supports.

        Arguments:
            broker_id: the broker's ``node.id``.
        """
        node_id = arguments.number("broker_id", broker_id)
        return BrokerVersionData(await self._run(_cluster.api_versions(self._requests, node_id)))

    async def send_request(self, request: Request[Any], node_id: int | None = None) -> Any:
        """Send any request defined in `kafka.wire` to a broker, and return the response.

        Arguments:
            request: the request.
            node_id: the broker's ``node.id``; None: any broker.
        """
        (wanted,) = arguments.instances("request", Request, [request])
        return await self._run(self._requests.any_broker(wanted, node_id))

    async def send_requests(
        self,
        requests_and_node_ids: Iterable[tuple[Request[Any], int | None]],
        response_fn: Callable[[Any], Any] = unchanged,
    ) -> list[Any]:
        """Send several requests, one after the other, and return the responses.

        Arguments:
            requests_and_node_ids: pairs of a request and a broker's ``node.id``, as for `send_request`.
            response_fn: converts each response; by default, the responses are returned as they are.
        """
        return [response_fn(await self.send_request(*each)) for each in requests_and_node_ids]


class AsyncQuorumCalls(AsyncAdminCalls):
    """Methods for the nodes of a KRaft cluster."""

    async def describe_metadata_quorum(self) -> dict[str, Any]:
        """Describe the metadata quorum of a KRaft cluster.

        Returns a dict with ``topics``, whose only partition has the leader, voters and observers, and ``nodes``
        (Kafka 3.9).

        Like Java's `Admin.describeMetadataQuorum`. Requires Kafka 3.3. The embedded broker does not support it.
        """
        return await self._run(_cluster.describe_metadata_quorum(self._requests))

    async def add_raft_voter(
        self,
        voter_id: int,
        voter_directory_id: UUID | str,
        endpoints: Iterable[RaftVoterEndpoint | tuple[str, str, int]],
        cluster_id: str | None = None,
        timeout_ms: float | None = None,
    ) -> None:
        """Add a controller to the voters of the metadata quorum (KIP-853, Kafka 3.9).

        Arguments:
            voter_id: the controller's ``node.id``.
            voter_directory_id: id of the controller's metadata log directory, as Kafka prints it or as `uuid.UUID`.
            endpoints: name, host and port of each of the controller's listeners.
            cluster_id: the expected cluster id, which the controllers check; None: the id is not checked.
            timeout_ms: how long the controllers may take; None: ``request_timeout_ms``.

        Like Java's `Admin.addRaftVoter`. Requires Kafka 3.9. The embedded broker does not support it.
        """
        where = []
        for each in arguments.elements("endpoints", endpoints):
            if not isinstance(each, tuple) or len(each) != 3:
                raise IllegalArgumentError(f"endpoints: expected a listener, a host and a port, got {each!r:.80}")
            listener, host = (arguments.name("endpoints", one) for one in each[:2])
            where.append(RaftVoterEndpoint(listener, host, arguments.number("endpoints", each[2])))
        voter, directory = (
            arguments.number("voter_id", voter_id),
            directory_id("voter_directory_id", voter_directory_id),
        )
        limit = arguments.timeout(timeout_ms)
        await self._run(_cluster.add_raft_voter(self._requests, voter, directory, where, cluster_id, limit))

    async def remove_raft_voter(
        self,
        voter_id: int,
        voter_directory_id: UUID | str,
        cluster_id: str | None = None,
        timeout_ms: float | None = None,
    ) -> None:
        """Remove a controller from the voters of the metadata quorum (KIP-853, Kafka 3.9).

        Arguments:
            voter_id: the controller's ``node.id``.
            voter_directory_id: id of the controller's metadata log directory, as Kafka prints it or as `uuid.UUID`.
            cluster_id: the expected cluster id, which the controllers check; None: the id is not checked.
            timeout_ms: how long the controllers may take; None: ``request_timeout_ms``.

        Like Java's `Admin.removeRaftVoter`. Requires Kafka 3.9. The embedded broker does not support it.
        """
        voter, directory = (
            arguments.number("voter_id", voter_id),
            directory_id("voter_directory_id", voter_directory_id),
        )
        limit = arguments.timeout(timeout_ms)
        await self._run(_cluster.remove_raft_voter(self._requests, voter, directory, cluster_id, limit))

    async def unregister_broker(self, broker_id: int, timeout_ms: float | None = None) -> None:
        """Unregister a broker that has been permanently removed (KRaft).

        Arguments:
            broker_id: the broker's ``node.id``.
            timeout_ms: how long the cluster may take; None: ``request_timeout_ms``.

        Raises `BrokerIdNotRegisteredError` for an unknown id.

        Like Java's `Admin.unregisterBroker`. Requires Kafka 3.0. The embedded broker does not support it.
        """
        broker, limit = arguments.number("broker_id", broker_id), arguments.timeout(timeout_ms)
        await self._run(_cluster.unregister_broker(self._requests, broker, limit))

    async def unregister_controller(self, controller_id: int, timeout_ms: float | None = None) -> None:
        """Unregister a controller that has been permanently removed (Kafka 4.4).

        Arguments:
            controller_id: the controller's ``node.id``.
            timeout_ms: how long the cluster may take; None: ``request_timeout_ms``.

        Like Java's `Admin.unregisterController`. Requires Kafka 4.4. The embedded broker does not support it.
        """
        controller, limit = arguments.number("controller_id", controller_id), arguments.timeout(timeout_ms)
        await self._run(_cluster.unregister_controller(self._requests, controller, limit))

    async def client_instance_id(self, timeout_ms: float | None = None) -> UUID:
        """Return the id that the brokers assigned to this client for its metrics (KIP-714, Kafka 3.7).

        The id never changes.

        Arguments:
            timeout_ms: how long to wait for the id; None: ``request_timeout_ms``.

        Raises `UnsupportedVersionError` if no broker accepts client metrics, `KafkaTimeoutError` on a timeout, and
        `IllegalStateError` if ``enable_metrics_push`` is False.

        Like Java's `Admin.clientInstanceId`. Requires Kafka 3.7.
        """
        limit = self._requests.limit_ms(arguments.timeout(timeout_ms))
        return await self._run(self._requests.telemetry.client_instance_id(limit))
