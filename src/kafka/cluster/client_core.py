"""`ClientCore`: the parts that producers, consumers, share consumers and admin clients share on their loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from kafka._loop_services import loop_random
from kafka.cluster.backoff import Backoff
from kafka.cluster.client_health import ClientHealth
from kafka.cluster.cluster_client import ClusterClient
from kafka.cluster.current_failures import CurrentFailures
from kafka.cluster.protocols import ClusterAccess
from kafka.cluster.telemetry.client_telemetry import Telemetry
from kafka.cluster.telemetry.collector import Identity
from kafka.config import ConnectionOptions, SecurityOptions
from kafka.metrics.client_metrics import ClientMetrics
from kafka.net.statistics import NetworkTraffic


class ClientCore:
    """One client's cluster, retries, health and telemetry. Created in any thread; its coroutines run on the loop.

    The core of each kind of client creates a `ClientCore`, and builds its own parts from the attributes.

    Arguments:
        connection, security: the client's options.
        loop: the event loop that the client runs on.
        traffic: counts the bytes and requests of the client's connections.
        metrics: all of the client's metrics, which telemetry pushes to brokers (KIP-714).
        identity: the client's name and labels in telemetry.
        submit: runs a user function, such as one that computes a metric, where user code may run.
        cluster: the cluster client to use; None: connect according to the options.

    Attributes:
        cluster: metadata, and connections to brokers.
        current_failures: operations that currently fail and are retried.
        backoff: the pauses between retries, according to the options.
        health: creates the reports of `health()`.
        telemetry: pushes metrics to brokers that subscribe to them.
    """

    def __init__(
        self,
        connection: ConnectionOptions,
        security: SecurityOptions,
        loop: asyncio.AbstractEventLoop,
        traffic: NetworkTraffic,
        metrics: ClientMetrics,
        identity: Identity,
        submit: Callable[[Callable[[], object]], object],
        cluster: ClusterAccess | None = None,
    ) -> None:
        self.current_failures = CurrentFailures(loop.time, client_id=connection.client_id)
        if cluster is None:
            cluster = ClusterClient(connection, security, traffic=traffic, current_failures=self.current_failures)
        self.cluster: ClusterAccess = cluster
        self.backoff = Backoff(
            connection.retry_backoff_ms, connection.retry_backoff_max_ms, loop_random(loop), self.current_failures
        )
        self.health = ClientHealth(connection.client_id, loop, self.current_failures, cluster)
        self.telemetry = Telemetry(connection, cluster, metrics, identity, loop, submit)

    async def start(self, *, in_background: bool = False) -> None:
        """Find the cluster, and start pushing metrics.

        Arguments:
            in_background: return immediately; the search continues on the loop. See `ClusterClient.start`.

        Raises `NoBrokersAvailable` and similar errors, unless ``in_background`` is set.
        """
        await self.cluster.start(in_background=in_background)
        self.telemetry.start()

    async def close(self, timeout_s: float | None = None) -> None:
        """Push metrics one last time, and close all connections.

        Arguments:
            timeout_s: maximum duration of the last push in seconds; None: `client_telemetry.LAST_PUSH_S`.
        """
        try:
            await self.telemetry.close(timeout_s)
        finally:
            await self.cluster.close()
