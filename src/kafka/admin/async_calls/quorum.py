"""The nodes of the cluster, and the quorum of its controllers."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from kafka.admin import arguments
from kafka.admin import features as _features
from kafka.admin import quorum as _quorum
from kafka.admin.async_calls.base import AsyncAdminCalls
from kafka.admin.quorum import RaftVoterEndpoint, directory_id
from kafka.errors import IllegalArgumentError


class AsyncQuorumCalls(AsyncAdminCalls):
    """What is done with the nodes of a cluster (KRaft)."""

    async def describe_metadata_quorum(self) -> dict[str, Any]:
        """The quorum of the controllers (KRaft): ``topics``, whose one partition has the leader, voters and observers,
        and ``nodes`` (Kafka 3.9).
        """
        return await self._run(_features.describe_metadata_quorum(self._requests))

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
            voter_directory_id: of the controller's metadata log directory, as Kafka writes it or as `uuid.UUID`.
            endpoints: where it listens: name of the listener, host and port.
            cluster_id: refused if it is another cluster's; None: not checked.
            timeout_ms: how long the controllers may take; None: ``request_timeout_ms``.
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
        await self._run(_quorum.add_raft_voter(self._requests, voter, directory, where, cluster_id, limit))

    async def remove_raft_voter(
        self,
        voter_id: int,
        voter_directory_id: UUID | str,
        cluster_id: str | None = None,
        timeout_ms: float | None = None,
    ) -> None:
        """Remove a controller from the voters of the metadata quorum (KIP-853, Kafka 3.9); see `add_raft_voter`.

        Arguments:
            voter_id: the controller's ``node.id``.
            voter_directory_id: of the controller's metadata log directory, as Kafka writes it or as `uuid.UUID`.
            cluster_id: refused if it is another cluster's; None: not checked.
            timeout_ms: how long the controllers may take; None: ``request_timeout_ms``.
        """
        voter, directory = (
            arguments.number("voter_id", voter_id),
            directory_id("voter_directory_id", voter_directory_id),
        )
        limit = arguments.timeout(timeout_ms)
        await self._run(_quorum.remove_raft_voter(self._requests, voter, directory, cluster_id, limit))

    async def unregister_broker(self, broker_id: int, timeout_ms: float | None = None) -> None:
        """Forget a broker that is gone for good (KRaft); `BrokerIdNotRegisteredError` if there is none.

        Arguments:
            broker_id: its ``node.id``.
            timeout_ms: how long the cluster may take; None: ``request_timeout_ms``.
        """
        broker, limit = arguments.number("broker_id", broker_id), arguments.timeout(timeout_ms)
        await self._run(_quorum.unregister_broker(self._requests, broker, limit))

    async def unregister_controller(self, controller_id: int, timeout_ms: float | None = None) -> None:
        """Forget a controller that is gone for good (Kafka 4.4).

        Arguments:
            controller_id: its ``node.id``.
            timeout_ms: how long the cluster may take; None: ``request_timeout_ms``.
        """
        controller, limit = arguments.number("controller_id", controller_id), arguments.timeout(timeout_ms)
        await self._run(_quorum.unregister_controller(self._requests, controller, limit))

    async def client_instance_id(self, timeout_ms: float | None = None) -> UUID:
        """The id that brokers have given this client for its metrics, the same for its life (KIP-714, Kafka 3.7).

        Arguments:
            timeout_ms: how long to wait for it; None: ``request_timeout_ms``.

        Raises `UnsupportedVersionError` where no broker takes clients' metrics, `KafkaTimeoutError`,
        `IllegalStateError` with ``enable_metrics_push=False``.
        """
        limit = self._requests.limit_ms(arguments.timeout(timeout_ms))
        return await self._run(self._requests.telemetry.client_instance_id(limit))
