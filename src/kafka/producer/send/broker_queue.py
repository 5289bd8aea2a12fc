"""The queue of one broker: what is ready for it, and how many requests are under way."""

from __future__ import annotations

import asyncio

from kafka.cluster.retry import Attempts
from kafka.producer.batch.queues import PartitionQueue


class BrokerQueue:
    """One broker, as the sender sees it.

    Arguments:
        node_id: the broker.
        attempts: how tries to connect to it go.
    """

    __slots__ = (
        "attempts",
        "blocked_until",
        "compressing",
        "compressing_for",
        "connecting",
        "in_flight",
        "node_id",
        "ready",
    )

    def __init__(self, node_id: int, attempts: Attempts) -> None:
        self.node_id = node_id
        self.attempts = attempts
        """Of connecting to it; they begin anew when one has succeeded."""
        self.ready: dict[PartitionQueue, None] = {}
        """Queues that have something to send to this broker now, longest waiting first."""
        self.in_flight = 0
        self.compressing: asyncio.Task[None] | None = None
        """Compresses what is sent next; the order of batches stays as it is because nothing is sent meanwhile."""
        self.compressing_for: frozenset[PartitionQueue] = frozenset()
        """The queues whose next batches may be among what is being compressed."""
        self.connecting: asyncio.Task[None] | None = None
        self.blocked_until = 0.0
        """Neither to be connected to nor sent to before this time of the loop."""
