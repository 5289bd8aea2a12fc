"""A client's report about itself: the result of `health()`, and a table for notebooks. Neither sends a request."""

import asyncio
import math
import os
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kafka._addresses import format_address
from kafka.cluster.current_failures import CurrentFailures
from kafka.cluster.protocols import ClusterAccess
from kafka.config import ConnectionOptions
from kafka.errors import ForkedClientError
from kafka.health import Failure, Health, HealthState
from kafka.structs import TopicPartition

STALLED_S = 10.0
"""Seconds past the usual limit after which a missing response counts as a fault."""

_OFTEN = 2
"""Number of consecutive failures that indicate more than a leader change."""


class Observed(NamedTuple):
    """Observations that a kind of client adds to the report.

    Arguments:
        waiting_since: loop time, in seconds, since which the client has been waiting without a result; None if it is
            not waiting.
        limit_s: usual maximum wait in seconds.
        waits_for: what the client is waiting for.
        degraded: whether there is another problem.
        fatal: why the client cannot continue; None if it can.
        membership, lag: as in `Health`.
    """

    waiting_since: float | None = None
    limit_s: float = STALLED_S
    waits_for: tuple[str, ...] = ()
    degraded: bool = False
    fatal: Exception | None = None
    membership: str | None = None
    lag: Mapping[TopicPartition, int] = {}


class ClientHealth:
    """The part of the report that all clients share.

    Any thread may read the report, even in a forked child; no method blocks.

    Arguments:
        client_id: the client's name.
        loop: the loop that the client runs on.
        current_failures: the operations that currently fail.
        cluster: the client's connections.
    """

    def __init__(
        self,
        client_id: str | None,
        loop: asyncio.AbstractEventLoop,
        current_failures: CurrentFailures,
        cluster: ClusterAccess,
    ) -> None:
        self._client_id = client_id or ""
        self._loop = loop
        self._current_failures = current_failures
        self._cluster = cluster
        self._pid = os.getpid()
        self._loop_error: Exception | None = None

    def loop_failed(self, error: Exception) -> None:
        """Record that the loop has failed."""
        self._loop_error = error

    def report(self, seen: Observed, closed: bool) -> Health:
        """Return the client's current health.

        Arguments:
            seen: observations by the client itself.
            closed: whether the client is closed or closing.
        """
        current_failures, now = self._current_failures, self._loop.time()
        fatal = self._cannot_run() or seen.fatal
        failing = current_failures.failing()
        waited = None if seen.waiting_since is None else max(0.0, now - seen.waiting_since)
        state = HealthState.HEALTHY
        if closed:
            state = HealthState.CLOSED
        elif fatal is not None:
            state = HealthState.FAILED
        elif self._cluster.metadata_renewed_at == -math.inf:
            state = HealthState.STARTING
        elif (
            seen.degraded
            or (waited is not None and waited > seen.limit_s)
            or any(each.in_a_row >= _OFTEN for each in failing)
        ):
            state = HealthState.DEGRADED
        over = closed or fatal is not None
        return Health(
            state,
            self._client_id,
            None if over else waited,
            () if over else seen.waits_for,
            () if over else failing,
            current_failures.last() if fatal is None else Failure("", type(fatal).__name__, str(fatal), 0.0),
            () if over else self._cluster.connected_brokers,
            seen.membership,
            seen.lag,
        )

    def _cannot_run(self) -> Exception | None:
        if os.getpid() != self._pid:
            return ForkedClientError(
                "this client was created before the process forked: create a new one in this process"
            )
        if self._loop_error is not None:
            return self._loop_error
        return RuntimeError("the event loop of this client is closed") if self._loop.is_closed() else None


def not_started(client_id: str | None) -> Health:
    """Return the health of a client that has not been started."""
    return Health(HealthState.STARTING, client_id or "")


def client_html(
    kind: str, health: Health, options: ConnectionOptions, more: Iterable[tuple[str, object]] = (), below: str = ""
) -> str:
    """Return an HTML table of a client's health, without options that may be secret.

    Arguments:
        kind: the name of the client's class.
        health: the result of the client's `health()`.
        options: the client's connection options.
        more: additional rows, as pairs of name and value.
        below: HTML to append below the table.
    """
    from kafka.display import html_tables
    from kafka.display.html_tables import Html

    servers = [format_address(*each) for each in options.bootstrap_servers]
    pairs = (
        ("state", health.state.value),
        ("client id", health.client_id),
        ("bootstrap servers", ", ".join(servers)),
        ("connected brokers", ", ".join(map(str, health.connected_brokers))),
        *more,
        ("waits for", "; ".join(health.waits_for)),
        ("fails", "; ".join(map(_told, health.failing))),
        ("last error", "" if health.last_error is None else _told(health.last_error)),
    )
    return html_tables.titled(kind, html_tables.facts(pairs), Html(below))


def _told(failure: Failure) -> str:
    what = f"{failure.what}: " if failure.what else ""
    return f"{what}{failure.error}: {failure.text}"
