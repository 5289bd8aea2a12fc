"""Which metrics a broker wants from a client, and how the client reacts to refusals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from kafka.errors import (
    InvalidRecordError,
    InvalidRequestError,
    UnknownSubscriptionIdError,
    UnsupportedCompressionTypeError,
    UnsupportedVersionError,
)
from kafka.record.batch_types import Compression
from kafka.wire.api.get_telemetry_subscriptions import GetTelemetrySubscriptionsResponse

DEFAULT_INTERVAL_S = 300.0
"""The wait if no broker has specified one."""
_SHORTEST_S = 0.1
"""Shorter than brokers let administrators set it."""
_EVERYTHING = "*"
_AT_ONCE = (UnknownSubscriptionIdError, UnsupportedCompressionTypeError)
"""The subscription has changed: it is asked for again without a pause."""
_FOR_GOOD = (InvalidRequestError, InvalidRecordError, UnsupportedVersionError)
"""What this client sends is not understood, and would not be the next time."""


class Subscription(NamedTuple):
    """What a broker has asked for.

    Arguments:
        client_instance_id: the broker's name for the client, by which others know it as well.
        subscription_id: identifies the subscription, and is sent with each push.
        compression: the codecs that the broker takes, its favourite first.
        interval_s: how far apart pushes are to be, in seconds.
        max_bytes: how large one may be.
        delta: whether sums are counted from one push to the next, instead of from the client's start.
        prefixes: of the names of metrics that are wanted.
    """

    client_instance_id: UUID
    subscription_id: int
    compression: tuple[Compression, ...]
    interval_s: float
    max_bytes: int
    delta: bool
    prefixes: tuple[str, ...]

    @classmethod
    def of(cls, answer: GetTelemetrySubscriptionsResponse) -> Subscription:
        """What an answer without an error says."""
        return cls(
            answer.client_instance_id,
            answer.subscription_id,
            _known(answer.accepted_compression_types),
            max(answer.push_interval_ms / 1000, _SHORTEST_S) if answer.push_interval_ms > 0 else DEFAULT_INTERVAL_S,
            answer.telemetry_max_bytes,
            answer.delta_temporality,
            tuple(answer.requested_metrics),
        )

    def wants(self, name: str) -> bool:
        """Whether a metric is wanted: all are by "*", and those that a prefix is given of."""
        return _EVERYTHING in self.prefixes or name.startswith(self.prefixes)


def pause_after(error: Exception, subscription: Subscription | None, *, asked: bool) -> float | None:
    """How long to wait, in seconds, before the subscription is asked for again; None: it never is.

    As in Java's client, but that after a lost connection another broker is asked: Java's gives up for good.

    Arguments:
        asked: whether that failed, not a push.
    """
    if isinstance(error, _FOR_GOOD):
        return None
    if isinstance(error, _AT_ONCE) and not asked:
        return 0.0
    return DEFAULT_INTERVAL_S if subscription is None else subscription.interval_s


def _known(accepted: Sequence[int]) -> tuple[Compression, ...]:
    codecs = {int(each): each for each in Compression}
    return tuple(codecs[each] for each in accepted if each in codecs)
