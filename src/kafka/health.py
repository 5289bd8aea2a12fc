"""How a client is, as seen from outside: what `health()` gives."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kafka.structs import TopicPartition


class HealthState(enum.Enum):
    """How a client is."""

    STARTING = "starting"
    """It has not found the cluster yet, or was not started."""
    HEALTHY = "healthy"
    """Nothing fails, and what it waits for arrives."""
    DEGRADED = "degraded"
    """Something keeps failing or does not arrive; the client keeps trying."""
    FAILED = "failed"
    """It cannot recover: create a new client, or do what the error says."""
    CLOSED = "closed"
    """It is closed, or being closed."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Something that went wrong.

    Arguments:
        what: what the client tried; "" where that is not known.
        error: the name of the error's class.
        text: what the error says.
        seconds_ago: when it happened the last time.
        in_a_row: how often it has failed since it last worked.
    """

    what: str
    error: str
    text: str
    seconds_ago: float
    in_a_row: int = 1


def meanwhile(failing: Sequence[Failure]) -> str:
    """The newest of what fails at present, as the end of a sentence: likely the reason for a silence.

    Arguments:
        failing: see `Health`; "" is returned where nothing fails.
    """
    if not failing:
        return ""
    newest = min(failing, key=lambda each: each.seconds_ago)
    return f"; meanwhile {newest.what} failed: {newest.text}"


@dataclass(frozen=True, slots=True)
class Health:
    """How a client is at one moment. True where `state` is HEALTHY.

    Arguments:
        state: all in one word.
        client_id: the client's name.
        seconds_since_progress: how long what is waited for has not come: of a consumer the oldest unanswered wish for
            records, of a producer the last acknowledgement or, if that is later, the oldest unacknowledged batch; None
            where nothing is waited for.
        waits_for: what the client waits for, in words.
        failing: what fails at present, and is tried again.
        last_error: the newest error of all, also one that has passed.
        connected_brokers: the ids of the brokers that a connection is open to.
        membership: where a member of a group stands, such as ``STABLE``; None without a group.
        lag: how many records are behind the position of a partition, where both that and the end are known from what
            was fetched. Nothing is asked for this.
    """

    state: HealthState
    client_id: str
    seconds_since_progress: float | None = None
    waits_for: tuple[str, ...] = ()
    failing: tuple[Failure, ...] = ()
    last_error: Failure | None = None
    connected_brokers: tuple[int, ...] = ()
    membership: str | None = None
    lag: Mapping[TopicPartition, int] = field(default_factory=dict)

    @property
    def total_lag(self) -> int | None:
        """The sum of what is known of the lag; None where nothing is."""
        return sum(self.lag.values()) if self.lag else None

    def __bool__(self) -> bool:
        return self.state is HealthState.HEALTHY

    def to_dict(self) -> dict[str, Any]:
        """The same for `json.dumps`; partitions are named ``topic-partition``."""
        return {
            "state": self.state.value,
            "client_id": self.client_id,
            "seconds_since_progress": self.seconds_since_progress,
            "waits_for": list(self.waits_for),
            "failing": [_as_dict(each) for each in self.failing],
            "last_error": None if self.last_error is None else _as_dict(self.last_error),
            "connected_brokers": list(self.connected_brokers),
            "membership": self.membership,
            "lag": {f"{tp.topic}-{tp.partition}": behind for tp, behind in self.lag.items()},
            "total_lag": self.total_lag,
        }


def _as_dict(failure: Failure) -> dict[str, Any]:
    return {name: getattr(failure, name) for name in ("what", "error", "text", "seconds_ago", "in_a_row")}
