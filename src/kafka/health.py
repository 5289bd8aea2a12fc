"""The state of a client as an application sees it: the result of `health()`."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kafka.structs import TopicPartition


class HealthState(enum.Enum):
    """A client's state in one word: `Health.state`. It is what the client has noticed; no request is sent for it."""

    STARTING = "starting"
    """The client has not reached the cluster yet, or was not started."""
    HEALTHY = "healthy"
    """Nothing fails, and the client makes progress."""
    DEGRADED = "degraded"
    """Requests keep failing or expected data does not arrive; the client keeps trying."""
    FAILED = "failed"
    """The client cannot recover: create a new one, or follow the error's advice."""
    CLOSED = "closed"
    """The client is closed or is closing."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed operation.

    Arguments:
        what: the operation that failed; "" if unknown.
        error: the name of the error's class.
        text: the error message.
        seconds_ago: seconds since it last failed.
        in_a_row: number of failures since it last succeeded.
    """

    what: str
    error: str
    text: str
    seconds_ago: float
    in_a_row: int = 1


def meanwhile(failing: Sequence[Failure]) -> str:
    """Describe the newest current failure, to be appended to a message as its probable cause.

    Arguments:
        failing: see `Health`; if it is empty, the result is "".
    """
    if not failing:
        return ""
    newest = min(failing, key=lambda each: each.seconds_ago)
    return f"; meanwhile {newest.what} failed: {newest.text}"


@dataclass(frozen=True, slots=True)
class Health:
    """The state of a client at one moment. The object is true if `state` is HEALTHY.

    Arguments:
        state: summary of the other fields.
        client_id: the client's name.
        seconds_since_progress: for a consumer, the age of the oldest unanswered fetch; for a producer, the time since
            the last acknowledgement or, if shorter, the age of the oldest unacknowledged batch; None if the client is
            not waiting for anything.
        waits_for: descriptions of what the client is waiting for.
        failing: operations that currently fail and are being retried.
        last_error: the most recent error, even if it has been resolved.
        connected_brokers: ids of the brokers to which a connection is open.
        membership: state of the group membership, such as ``STABLE``; None without a group.
        lag: by partition, the number of records after the position. Contains only partitions whose position and end
            offset are known from fetch responses; no additional requests are sent.
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
        """Sum of the known lags; None if none is known."""
        return sum(self.lag.values()) if self.lag else None

    def __bool__(self) -> bool:
        return self.state is HealthState.HEALTHY

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dict for `json.dumps`; partitions are named ``topic-partition``."""
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
