"""What the producer needs of the cluster; `kafka.cluster.ClusterClient` has it, and so does the fake of the tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from kafka.cluster.metadata import ClusterMetadata
from kafka.structs import TopicPartition


class Cluster(Protocol):
    """The part of `kafka.cluster.ClusterClient` that a producer uses; see there for what the methods do."""

    metadata: ClusterMetadata

    async def start(self) -> None: ...
    async def close(self) -> None: ...
    def watch_topics(self, topics: set[str] | None) -> None: ...
    def on_metadata(self, callback: Callable[[ClusterMetadata], object]) -> Callable[[], None]: ...
    async def refresh_metadata(self, topics: Iterable[str] | None = None) -> ClusterMetadata: ...
    def request_refresh(self, topics: Iterable[str] | None = None) -> object: ...
    def note_leader(self, tp: TopicPartition, leader: int, leader_epoch: int) -> None: ...
    async def connection(self, node_id: int, channel: str = "") -> Any: ...
    async def any_connection(self) -> Any: ...
    def ready_connection(self, node_id: int, channel: str = "") -> Any: ...
    def api_version(self, node_id: int, request: Any, max_version: int | None = None) -> int | None: ...
    async def send(
        self,
        node_id: int,
        request: Any,
        *,
        timeout_ms: float | None = None,
        min_version: int = 0,
        max_version: int | None = None,
        channel: str = "",
    ) -> Any: ...
    async def send_any(
        self,
        request: Any,
        *,
        timeout_ms: float | None = None,
        min_version: int = 0,
        max_version: int | None = None,
    ) -> Any: ...
