"""Asks which broker coordinates a group or a transactional id (FindCoordinator), and remembers the answers."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from kafka.cluster.protocols import CoordinatorKind
from kafka.errors import (
    CoordinatorNotAvailableError,
    KafkaConfigurationError,
    UnsupportedVersionError,
    for_code,
)
from kafka.net import Connection
from kafka.structs import BrokerMetadata
from kafka.wire.api.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse

_KEY_TYPES = {"group": 0, "transaction": 1}
_BATCHED_SINCE = 4


class Coordinators:
    """Looks up coordinators, and remembers them.

    Arguments:
        any_connection: returns an open connection to any broker.
    """

    def __init__(self, any_connection: Callable[[], Awaitable[Connection]]) -> None:
        self._any_connection = any_connection
        self._known: dict[tuple[str, str], int] = {}
        self.nodes: dict[int, BrokerMetadata] = {}

    def known(self, kind: CoordinatorKind, key: str) -> int | None:
        """Return the remembered coordinator, or None."""
        return self._known.get((kind, key))

    def forget(self, kind: CoordinatorKind, key: str) -> None:
        """Look up a coordinator again next time: it has moved, or does not answer."""
        self._known.pop((kind, key), None)

    def forget_node(self, node_id: int) -> None:
        """Forget all coordinators on a broker that does not answer."""
        for each in [each for each, node in self._known.items() if node == node_id]:
            del self._known[each]

    def clear(self) -> None:
        """Forget everything, after the cluster was found again."""
        self._known.clear()
        self.nodes.clear()

    async def find(self, kind: CoordinatorKind, key: str) -> int:
        """Ask once. Raises the error in the broker's answer, and what `Connection.send` raises."""
        connection = await self._any_connection()
        version = connection.api_versions.version_for(FindCoordinatorRequest)
        response = await connection.send(_request(kind, key, version), version)
        answer, error_code, message = _answer(response, version)
        if error_code:
            error = for_code(error_code)
            raise error(f"{message or error.description} (coordinator of {kind} {key!r})")
        if answer.node_id < 0:
            raise CoordinatorNotAvailableError(f"there is no coordinator of {kind} {key!r} at the moment")
        self.nodes[answer.node_id] = BrokerMetadata(answer.node_id, answer.host, answer.port, None)
        self._known[kind, key] = int(answer.node_id)
        return int(answer.node_id)


def _request(kind: CoordinatorKind, key: str, version: int) -> FindCoordinatorRequest:
    if kind not in _KEY_TYPES:
        raise KafkaConfigurationError(f"expected 'group' or 'transaction' as the kind of coordinator, not {kind!r}")
    if version >= _BATCHED_SINCE:
        return FindCoordinatorRequest(key_type=_KEY_TYPES[kind], coordinator_keys=[key])
    if version == 0:
        if kind != "group":
            raise UnsupportedVersionError("the brokers are too old for transactions: those need Kafka 0.11")
        return FindCoordinatorRequest(key=key)
    return FindCoordinatorRequest(key=key, key_type=_KEY_TYPES[kind])


def _answer(response: FindCoordinatorResponse, version: int) -> tuple[Any, int, str | None]:
    """Return the part of a response with node, host and port, and its error code and message."""
    if version < _BATCHED_SINCE:
        return response, response.error_code, response.error_message
    found: Sequence[Any] = response.coordinators
    if not found:
        raise CoordinatorNotAvailableError("the broker answered for no coordinator at all")
    return found[0], found[0].error_code, found[0].error_message
