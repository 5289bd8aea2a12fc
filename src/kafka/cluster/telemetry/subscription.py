"""A broker's subscription to client metrics, and how the client reacts to refusals."""

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
"""Push interval in seconds if no broker has specified one."""
_SHORTEST_S = 0.1
"""Minimum push interval in seconds; brokers do not let administrators set a shorter one."""
_EVERYTHING = "*"
_AT_ONCE = (UnknownSubscriptionIdError, UnsupportedCompressionTypeError)
"""Errors indicating that the subscription has changed and must be requested again without a pause."""
_FOR_GOOD = (InvalidRequestError, InvalidRecordError, UnsupportedVersionError)
"""Errors indicating that brokers will never understand this client's requests."""


class Subscription(NamedTuple):
    """The subscription that a broker returned.

    Arguments:
        client_instance_id: the id that the broker assigned to the client, also known to other brokers.
        subscription_id: identifies the subscription, and is sent with each push.
        compression: the codecs that the broker accepts, the preferred one first.
        interval_s: interval between pushes in seconds.
        max_bytes: maximum size of a push in bytes.
        delta: whether sums are pushed as deltas since the last push, instead of totals since the client's start.
        prefixes: prefixes of the names of wanted metrics; "*" matches all.
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
        """Convert a response without an error."""
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
        """Return whether a metric is wanted: whether its name begins with a prefix, or "*" is among the prefixes."""
        return _EVERYTHING in self.prefixes or name.startswith(self.prefixes)


def pause_after(error: Exception, subscription: Subscription | None, *, asked: bool) -> float | None:
    """Return the pause in seconds before the subscription is requested again; None if it never is.

    Follows Java's client, except after a lost connection: this client then asks another broker, whereas Java's stops
    permanently.

    Arguments:
        asked: whether the request for the subscription has failed, as opposed to a push.
    """
    if isinstance(error, _FOR_GOOD):
        return None
    if isinstance(error, _AT_ONCE) and not asked:
        return 0.0
    return DEFAULT_INTERVAL_S if subscription is None else subscription.interval_s


def _known(accepted: Sequence[int]) -> tuple[Compression, ...]:
    codecs = {int(each): each for each in Compression}
    return tuple(codecs[each] for each in accepted if each in codecs)
