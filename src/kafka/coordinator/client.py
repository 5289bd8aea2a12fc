"""What this package needs of a cluster: the seam that tests put a scripted coordinator behind."""

from collections.abc import Iterable
from typing import Any, Literal, Protocol

from kafka.cluster import ClusterMetadata

Kind = Literal["group", "transaction"]
GROUP: Literal["group"] = "group"
"""The kind of coordinator that groups have."""


class CoordinatorClient(Protocol):
    """The part of `kafka.cluster.ClusterClient` that group membership stands on."""

    @property
    def metadata(self) -> ClusterMetadata:
        """The newest snapshot of the cluster."""

    async def refresh_metadata(self, topics: Iterable[str] | None = None) -> ClusterMetadata:
        """Fetch a new snapshot."""

    async def coordinator(self, kind: Kind, key: str) -> int:
        """The node that coordinates a group, looked up if it is not known."""

    async def send_coordinator(
        self,
        kind: Kind,
        key: str,
        request: Any,
        *,
        timeout_ms: float | None = None,
        min_version: int = 0,
        max_version: int | None = None,
    ) -> Any:
        """Send to the coordinator of a group, looking it up first if need be: one try."""

    def forget_coordinator(self, kind: Kind, key: str) -> None:
        """The coordinator has moved: look it up again next time."""

    def api_version(self, node_id: int, request_cls: Any) -> int | None:
        """The highest version of a request that the node and this client share; None before they have talked."""
