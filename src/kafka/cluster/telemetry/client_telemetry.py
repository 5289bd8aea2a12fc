"""`Telemetry`: asks a broker which metrics it wants from this client, and pushes them until the client is closed.

Java: ``ClientTelemetryReporter``. A single task is started when a broker supports the APIs; it uses existing
connections and opens none.
"""

from __future__ import annotations

import asyncio
import enum
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING
from uuid import UUID

from kafka._loop_services import loop_random, wall_clock_ns
from kafka.cluster.pool import BOOTSTRAP_NODE
from kafka.cluster.protocols import BrokerConnection, ClusterAccess
from kafka.cluster.telemetry.collector import Identity
from kafka.config import ConnectionOptions
from kafka.errors import IllegalStateError, KafkaError, KafkaTimeoutError, UnsupportedVersionError
from kafka.metrics.client_metrics import ClientMetrics

if TYPE_CHECKING:
    from kafka.cluster.telemetry.registered import RegisteredMetrics
    from kafka.cluster.telemetry.subscription import Subscription
    from kafka.cluster.telemetry.telemetry_requests import Exchange
    from kafka.metrics.kafka_metric import KafkaMetric

log = logging.getLogger(__name__)


class TelemetryState(enum.Enum):
    """The states of a client's telemetry; Java: ``ClientTelemetryState``."""

    SUBSCRIPTION_NEEDED = "the next step is to request a subscription"
    SUBSCRIPTION_IN_PROGRESS = "a subscription has been requested"
    PUSH_NEEDED = "the next step is to push metrics"
    PUSH_IN_PROGRESS = "metrics have been sent"
    TERMINATING_PUSH_IN_PROGRESS = "the client is closing, and the last metrics have been sent"
    DISABLED = "a broker has refused this client permanently: nothing more is sent"
    TERMINATED = "the client is closed"


_S = TelemetryState
TRANSITIONS: dict[TelemetryState, frozenset[TelemetryState]] = {
    _S.SUBSCRIPTION_NEEDED: frozenset({_S.SUBSCRIPTION_IN_PROGRESS, _S.TERMINATED}),
    _S.SUBSCRIPTION_IN_PROGRESS: frozenset({_S.PUSH_NEEDED, _S.SUBSCRIPTION_NEEDED, _S.DISABLED, _S.TERMINATED}),
    _S.PUSH_NEEDED: frozenset({_S.PUSH_IN_PROGRESS, _S.TERMINATING_PUSH_IN_PROGRESS, _S.TERMINATED}),
    _S.PUSH_IN_PROGRESS: frozenset(
        {_S.PUSH_NEEDED, _S.SUBSCRIPTION_NEEDED, _S.DISABLED, _S.TERMINATING_PUSH_IN_PROGRESS, _S.TERMINATED}
    ),
    _S.TERMINATING_PUSH_IN_PROGRESS: frozenset({_S.TERMINATED}),
    _S.DISABLED: frozenset({_S.TERMINATED}),
    _S.TERMINATED: frozenset(),
}


def check_move(before: TelemetryState, after: TelemetryState) -> None:
    """Raise `IllegalStateError` for a transition that the table does not allow."""
    if after not in TRANSITIONS[before]:
        raise IllegalStateError(f"telemetry cannot become {after.name} while it is {before.name}")


LAST_PUSH_S = 1.0
"""Maximum time in seconds that closing a client waits for its last push."""
_GET_SUBSCRIPTIONS, _PUSH = 71, 72
_LOOK_AGAIN_S = 10.0
"""Seconds between checks for a connection to a broker that accepts metrics."""
_SPREAD = 0.5, 1.5
"""Range of the time until the first push, in intervals, so that clients started together push at different times."""


class Telemetry:
    """The telemetry of one client. Used on the loop, except `register` and `unregister`.

    Arguments:
        options: whether telemetry is enabled.
        cluster: the client's connections.
        metrics: the client's metrics.
        identity: the client's name and labels.
        loop: the client's loop.
        submit: runs a function where user code may run.

    Attributes:
        state: the current state.
        subscription: the broker's subscription; None until it is received.
    """

    def __init__(
        self,
        options: ConnectionOptions,
        cluster: ClusterAccess,
        metrics: ClientMetrics,
        identity: Identity,
        loop: asyncio.AbstractEventLoop,
        submit: Callable[[Callable[[], object]], object],
    ) -> None:
        self.state = TelemetryState.SUBSCRIPTION_NEEDED
        self.subscription: Subscription | None = None
        self._enabled = options.enable_metrics_push and options.metrics_enabled
        self._cluster = cluster
        self._metrics = metrics
        self._identity = identity
        self._loop = loop
        self._submit = submit
        self._began_ns = wall_clock_ns(loop)()
        self._changed = asyncio.Event()
        self._node: int | None = None
        self._task: asyncio.Task[None] | None = None
        self._exchange: Exchange | None = None
        self._registered: RegisteredMetrics | None = None
        self._unwatch: Callable[[], None] = lambda: None
        self._due = 0.0
        self._error: Exception | None = None
        self._told: set[str] = set()

    # Called by clients

    def start(self) -> None:
        """Start telemetry while the client searches for the cluster. Nothing is sent unless a broker wants metrics."""
        if self._enabled:
            self._unwatch = self._cluster.on_metadata(lambda _: self._loop.call_soon(self._look))
            self._look()

    async def close(self, limit_s: float | None = None) -> None:
        """Push one last time if a broker has subscribed to metrics, and stop. Does not raise.

        Arguments:
            limit_s: maximum wait in seconds, at most `LAST_PUSH_S`, the default. If no broker is connected, nothing is
                pushed.
        """
        if self.state in (TelemetryState.TERMINATED, TelemetryState.TERMINATING_PUSH_IN_PROGRESS):
            return
        self._unwatch()
        pushes = self.state in (TelemetryState.PUSH_NEEDED, TelemetryState.PUSH_IN_PROGRESS)
        limit_s = LAST_PUSH_S if limit_s is None else min(limit_s, LAST_PUSH_S)
        try:
            if self._task is not None:
                self._task.cancel()
                await asyncio.wait((self._task,))
            connection = self._connection()
            if pushes and connection is not None and limit_s > 0:
                self._move(TelemetryState.TERMINATING_PUSH_IN_PROGRESS)
                async with asyncio.timeout(limit_s):
                    await self._push(connection, terminating=True)
        except Exception as error:
            log.debug("the last push of metrics: %r", error)
        finally:
            self._move(TelemetryState.TERMINATED)

    async def client_instance_id(self, timeout_ms: float) -> UUID:
        """Return the id that a broker assigned to this client; wait for it if necessary.

        Raises `IllegalStateError` if telemetry is disabled or the client is closed, `UnsupportedVersionError` if the
        brokers do not accept metrics, `KafkaTimeoutError`, and permanent errors of a broker.
        """
        if not self._enabled:
            raise IllegalStateError(
                "this client has no instance id: brokers give one to clients that push metrics, and "
                "enable_metrics_push or metrics_enabled is False"
            )
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                await self._find_offer()
                while self.subscription is None:
                    self._check_may_come()
                    await self._changed.wait()
                    self._changed.clear()
        except TimeoutError:
            why = "no broker has answered yet" if self._error is None else f"the last error was: {self._error}"
            raise KafkaTimeoutError(f"no broker has given this client an id within {timeout_ms:g} ms: {why}") from None
        return self.subscription.client_instance_id

    def register(self, metric: KafkaMetric) -> None:
        """Push one of the program's metrics along with the client's (KIP-1076). Thread-safe.

        A metric with the name of one of the client's metrics is ignored. Raises `TypeError` for anything but a
        `KafkaMetric`.
        """
        self._of_program().add(metric)

    def unregister(self, metric: KafkaMetric) -> None:
        """Stop pushing a metric. Thread-safe."""
        self._of_program().remove(metric)

    # Internals

    def _look(self) -> None:
        """Start the task if a connected broker accepts metrics."""
        if self._task is None and self.state is TelemetryState.SUBSCRIPTION_NEEDED and self._connection() is not None:
            self._task = self._loop.create_task(self._run(), name="telemetry")

    def _connection(self) -> BrokerConnection | None:
        """Return an open connection to a broker that accepts metrics, preferably to the same one as before; or None."""
        for node in (self._node, *self._cluster.connected_brokers, BOOTSTRAP_NODE):
            connection = None if node is None else self._cluster.ready_connection(node)
            if connection is not None and _takes_metrics(connection):
                self._node = node
                return connection
        return None

    async def _find_offer(self) -> None:
        """Wait until a broker is connected. Raises `UnsupportedVersionError` if none accepts metrics."""
        if self._task is None and self._connection() is None:
            connection = await self._cluster.retry("looking for a broker", self._cluster.any_connection, None)
            if not _takes_metrics(connection):
                raise UnsupportedVersionError(
                    "the brokers accept no client metrics: that needs Kafka 3.7, and a plug-in there that receives them"
                )
        self._look()

    def _check_may_come(self) -> None:
        if self.state is TelemetryState.TERMINATED:
            raise IllegalStateError("the client is closed")
        error = self._error
        if isinstance(error, KafkaError) and (self.state is TelemetryState.DISABLED or not error.retriable):
            raise error

    async def _run(self) -> None:
        while self.state is not TelemetryState.DISABLED:
            await asyncio.sleep(max(0.0, self._due - self._loop.time()))
            connection = self._connection()
            if connection is None:
                self._due = self._loop.time() + _LOOK_AGAIN_S
                continue
            try:
                if self.state is TelemetryState.SUBSCRIPTION_NEEDED:
                    await self._subscribe(connection)
                else:
                    self._move(TelemetryState.PUSH_IN_PROGRESS)
                    await self._push(connection)
            except Exception as error:
                self._failed(error)

    async def _subscribe(self, connection: BrokerConnection) -> None:
        self._move(TelemetryState.SUBSCRIPTION_IN_PROGRESS)
        subscription = await self._exchanging().subscribe(connection)
        before, self.subscription = self.subscription, subscription
        if before is None:
            log.info("the brokers identify the metrics of this client by the id %s", subscription.client_instance_id)
        if subscription.prefixes:
            self._move(TelemetryState.PUSH_NEEDED)
            self._due = self._loop.time() + subscription.interval_s * loop_random(self._loop).uniform(*_SPREAD)
        else:
            self._move(TelemetryState.SUBSCRIPTION_NEEDED)
            self._due = self._loop.time() + subscription.interval_s

    async def _push(self, connection: BrokerConnection, *, terminating: bool = False) -> None:
        assert self.subscription is not None
        of_program = [] if self._registered is None else await self._registered.read()
        left_out = await self._exchanging().push(connection, of_program, terminating)
        if left_out:
            self._tell(f"{left_out} metrics are left out: the broker accepts no more at a time")
        if not terminating:
            self._move(TelemetryState.PUSH_NEEDED)
            self._due = self._loop.time() + self.subscription.interval_s

    def _failed(self, error: Exception) -> None:
        """Handle a request's error. Lost connections are logged elsewhere, by their owner."""
        from kafka.cluster.telemetry.subscription import pause_after

        pause_s = pause_after(error, self.subscription, asked=self.state is TelemetryState.SUBSCRIPTION_IN_PROGRESS)
        self._error = error
        self._move(TelemetryState.DISABLED if pause_s is None else TelemetryState.SUBSCRIPTION_NEEDED)
        self._due = self._loop.time() + (pause_s or 0.0)
        if pause_s is None:
            self._tell(f"no metrics are pushed any more, as the broker refuses them: {error}")
        elif not isinstance(error, KafkaError):
            self._tell(f"pushing metrics failed unexpectedly: {error!r}", error)
        else:
            log.debug("pushing metrics: %s", error)

    def _tell(self, text: str, error: Exception | None = None) -> None:
        """Log a message once in the lifetime of a client."""
        cause = text.lstrip("0123456789") if error is None else type(error).__name__
        if cause not in self._told:
            self._told.add(cause)
            log.warning("%s", text, exc_info=error)

    def _move(self, state: TelemetryState) -> None:
        check_move(self.state, state)
        self.state = state
        self._changed.set()

    def _exchanging(self) -> Exchange:
        if self._exchange is None:
            from kafka.cluster.telemetry.collector import MetricsCollector
            from kafka.cluster.telemetry.telemetry_requests import Exchange

            collector = MetricsCollector(self._metrics, self._identity, wall_clock_ns(self._loop), self._began_ns)
            self._exchange = Exchange(collector)
        return self._exchange

    def _of_program(self) -> RegisteredMetrics:
        if self._registered is None:
            from kafka.cluster.telemetry.registered import RegisteredMetrics

            self._registered = RegisteredMetrics(self._metrics, self._submit)
        return self._registered


def _takes_metrics(connection: BrokerConnection) -> bool:
    return _GET_SUBSCRIPTIONS in connection.api_versions and _PUSH in connection.api_versions
