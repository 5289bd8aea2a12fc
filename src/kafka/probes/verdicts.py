"""`Probes`: decides whether the liveness, readiness and startup probes of a process pass.

The rules are in `_PASSES` and in `Probes.check`; to add a probe, add its row there and its path to `probe_server.py`.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from typing import Any, Final, Literal, Protocol, get_args

from kafka.health import Health, HealthState

ProbeName = Literal["live", "ready", "startup"]
"""The probes of Kubernetes: a process that is not live is restarted; one that is not ready gets no requests, and a
rolling update waits for it; the other two begin once startup has passed."""
PROBES: Final = get_args(ProbeName)

_UNSTARTED, _WELL = HealthState.STARTING, HealthState.HEALTHY
_PASSES: dict[str, frozenset[HealthState]] = {
    "live": frozenset(HealthState) - {HealthState.FAILED},
    "ready": frozenset({_WELL}),
    "startup": frozenset({_WELL, HealthState.DEGRADED}),
}
"""The states of a client with which each probe passes. A broker that is down does not fail the liveness probe, because
clients reconnect and a restart would not help. A closed client does not either, because the process is ending."""


class HasHealth(Protocol):
    """Any client: a producer, consumer, share consumer or admin client, synchronous or for asyncio."""

    def health(self) -> Health:
        """Return the client's health without waiting; any thread may call it."""


@dataclasses.dataclass(frozen=True, slots=True)
class Verdict:
    """The result of a probe. The object is true if the probe passes.

    Arguments:
        probe: "live", "ready" or "startup".
        passed: whether the probe passes.
        reasons: why it does not pass, one sentence each.
        clients: by client id, the state of each client.
        seconds_since_progress: seconds since the last call of `Probes.progressed`; None if no limit was set.
    """

    probe: str
    passed: bool
    reasons: tuple[str, ...]
    clients: dict[str, str]
    seconds_since_progress: float | None = None

    def __bool__(self) -> bool:
        return self.passed

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dict for `json.dumps`. It contains no addresses, topics or settings."""
        return dataclasses.asdict(self) | {"reasons": list(self.reasons)}


class Probes:
    """The probes of a process. Any thread may call any method.

    Arguments:
        clients: the clients whose `health()` is considered.
        stalled_after_s: seconds without a call of `progressed` after which the liveness probe fails; None: no limit.
            Choose more than the longest piece of work, and call `progressed` after each poll, even an empty one.
        ready_while_degraded: whether the readiness probe passes while requests to brokers fail. Set it if the process
            also serves requests that need no broker.

    Raises:
        ValueError: there is no client and no limit, or the limit is not positive.
        TypeError: a client has no method `health`.
    """

    def __init__(
        self, *clients: HasHealth, stalled_after_s: float | None = None, ready_while_degraded: bool = False
    ) -> None:
        if not clients and stalled_after_s is None:
            raise ValueError("expected at least one client or stalled_after_s, got neither: every probe would pass")
        if stalled_after_s is not None and not stalled_after_s > 0:
            raise ValueError(f"expected stalled_after_s above 0 seconds, got {stalled_after_s!r}")
        for each in clients:
            if not callable(getattr(each, "health", None)):
                raise TypeError(f"expected clients with a method health(), got {type(each).__name__}")
        self._clients = clients
        self._limit_s = stalled_after_s
        self._ready_while_degraded = ready_while_degraded
        self._now: Callable[[], float] = time.monotonic
        self._progressed_at = self._now()

    def progressed(self) -> None:
        """Record that the work advances. Costs less than a microsecond, so it may be called for each record."""
        self._progressed_at = self._now()

    def check(self, probe: ProbeName) -> Verdict:
        """Return whether a probe passes, and why it does not.

        Arguments:
            probe: "live", "ready" or "startup".

        Raises:
            ValueError: there is no such probe.
        """
        if probe not in _PASSES:
            raise ValueError(f"expected a probe of {', '.join(map(repr, PROBES))}, got {probe!r}")
        passes = _PASSES[probe]
        if probe == "ready" and self._ready_while_degraded:
            passes |= {HealthState.DEGRADED}
        states: dict[str, str] = {}
        reasons = []
        for number, client in enumerate(self._clients, start=1):
            health = client.health()
            name = health.client_id or type(client).__name__
            states[name if name not in states else f"{name} ({number})"] = health.state.value
            if health.state not in passes:
                reasons.append(_reason(name, health))
        since = None if self._limit_s is None else max(0.0, self._now() - self._progressed_at)
        if probe == "live" and since is not None and self._limit_s is not None and since > self._limit_s:
            reasons.append(f"no progress for {since:.0f} s; the limit is {self._limit_s:g} s")
        return Verdict(probe, not reasons, tuple(reasons), states, since)


def _reason(name: str, health: Health) -> str:
    errors = [each.error for each in health.failing]
    if not errors and health.state is HealthState.FAILED and health.last_error is not None:
        errors = [health.last_error.error]
    return f"{name} is {health.state.value}" + (f": {', '.join(dict.fromkeys(errors))}" if errors else "")
