"""The interfaces through which consumers, producers, group members and admin operations use the cluster, as protocols.

`kafka.cluster.ClusterClient` implements all of them, and so does the fake in the tests (`tests/fakes/cluster.py`). The
same contract tests run on both (`tests/unit/cluster/test_contract.py`). Use the smallest protocol that suffices:

| protocol | users |
|---|---|
| `MetadataAccess` | code that reads or refreshes the metadata |
| `BrokerRequests` | code that sends occasional requests: lookups, admin operations |
| `CoordinatorRequests` | group membership, offsets, transactions |
| `BrokerConnections` | the hot paths, fetching and producing, which keep a connection |
| `ClusterAccess` | the owner, which starts and closes it |

`ClusterClient` documents the methods. Everything runs on one event loop; any thread may read ``metadata``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from kafka.cluster.metadata_snapshot import ClusterMetadata
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    from uuid import UUID

    from kafka.net import Answered, ApiVersions
    from kafka.wire import Request, Response
    from kafka.wire.api.metadata import MetadataResponse

T = TypeVar("T")
R = TypeVar("R", bound="Response")

CoordinatorKind = Literal["group", "transaction"]


class MetadataAccess(Protocol):
    """Reads and refreshes the metadata."""

    @property
    def metadata(self) -> ClusterMetadata: ...
    def watch_topics(self, topics: set[str] | None, *, look_first: bool = False) -> None: ...
    def on_metadata(self, callback: Callable[[ClusterMetadata], object]) -> Callable[[], None]: ...
    async def refresh_metadata(self, topics: Iterable[str] | None = None) -> ClusterMetadata: ...
    def request_refresh(self, topics: Iterable[str] | None = None) -> object: ...
    def note_leader(self, tp: TopicPartition, leader: int, leader_epoch: int) -> None: ...


class BrokerRequests(MetadataAccess, Protocol):
    """Sends single requests; each call is one attempt."""

    async def send(
        self,
        node_id: int,
        request: Request[R],
        *,
        timeout_ms: float | None = None,
        min_version: int = 0,
        max_version: int | None = None,
        channel: str = "",
    ) -> R: ...

    async def send_any(
        self,
        request: Request[R],
        *,
        timeout_ms: float | None = None,
        min_version: int = 0,
        max_version: int | None = None,
    ) -> R: ...

    async def partition_leader(self, tp: TopicPartition, timeout_ms: float) -> int: ...
    async def read_metadata(
        self, topics: set[str] | set[str | UUID] | None, *, authorized_operations: bool = False
    ) -> MetadataResponse: ...
    def api_version(self, node_id: int, request: type[Request[Any]], max_version: int | None = None) -> int | None: ...
    def feature_level(self, feature: str) -> int: ...


class CoordinatorRequests(BrokerRequests, Protocol):
    """Sends requests to the coordinator for a group or a transactional id."""

    async def coordinator(self, kind: CoordinatorKind, key: str, timeout_ms: float | None = None) -> int: ...
    def forget_coordinator(self, kind: CoordinatorKind, key: str) -> None: ...

    async def send_coordinator(
        self,
        kind: CoordinatorKind,
        key: str,
        request: Request[R],
        *,
        timeout_ms: float | None = None,
        min_version: int = 0,
        max_version: int | None = None,
        channel: str = "coordinator",
    ) -> R: ...


class BrokerConnection(Protocol):
    """The part of `kafka.net.Connection` that callers of `BrokerConnections` use."""

    @property
    def api_versions(self) -> ApiVersions: ...
    @property
    def receiving(self) -> bool: ...
    @property
    def closed(self) -> bool: ...
    @property
    def in_flight(self) -> int: ...

    async def send(self, request: Request[R], version: int | None = None, timeout_ms: float | None = None) -> R: ...

    def post_for(
        self,
        reply: Answered[R],
        request: Request[R],
        version: int | None = None,
        timeout_ms: float | None = None,
    ) -> None: ...


class BrokerConnections(BrokerRequests, Protocol):
    """Returns connections to brokers."""

    async def connection(self, node_id: int, channel: str = "") -> BrokerConnection: ...
    def ready_connection(self, node_id: int, channel: str = "") -> BrokerConnection | None: ...
    async def any_connection(self) -> BrokerConnection: ...


class ClusterAccess(BrokerConnections, CoordinatorRequests, Protocol):
    """The complete interface."""

    @property
    def connected_brokers(self) -> tuple[int, ...]: ...
    @property
    def metadata_renewed_at(self) -> float: ...
    @property
    def release(self) -> tuple[int, ...] | None: ...
    async def start(self, *, in_background: bool = False) -> None: ...
    async def close(self) -> None: ...
    async def controller(self) -> int: ...
    async def retry(self, what: str, operation: Callable[[], Awaitable[T]], timeout_ms: float | None) -> T: ...
