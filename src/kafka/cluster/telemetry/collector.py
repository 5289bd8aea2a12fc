"""Collects the metrics that a broker subscribed to, under their KIP-714 names, and the deltas between pushes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from kafka.cluster.telemetry.otlp import Measured, encode
from kafka.cluster.telemetry.subscription import Subscription
from kafka.metrics.client_metrics import ClientMetrics, Point


class Identity(NamedTuple):
    """A client's name and labels in telemetry.

    Arguments:
        kind: prefix of the client's metric names: "producer", "consumer" or "admin-client".
        prefix: prefix of the client's metric groups, which `kind` replaces.
        labels: returns labels for the client as a whole, such as ``group_id``; empty ones and None are omitted.
    """

    kind: str
    prefix: str
    labels: Callable[[], Mapping[str, str | None]] = dict


_DOMAIN = "org.apache.kafka"
_NOT_SENT = "client_id"
"""A tag that is not sent, because brokers know its value from the request."""
_MANY = 1_000
"""Number of values that take about ten milliseconds to collect."""
_Key = tuple[str, tuple[tuple[str, str], ...]]


class Collected(NamedTuple):
    """Metrics to push.

    Arguments:
        data: the metrics, encoded by `kafka.cluster.telemetry.otlp`.
        left_out: number of metrics that did not fit.
        sums: the values of the sums, by name and attributes.
        at_ns: time at which the values were collected, in nanoseconds.
    """

    data: bytes
    left_out: int
    sums: dict[_Key, float]
    at_ns: int


class MetricsCollector:
    """Collects a client's metrics. Used on the loop, except `collect`, which any thread may call.

    Arguments:
        metrics: the client's metrics.
        identity: the client's name and labels.
        now_ns: the wall clock in nanoseconds.
        began_ns: time at which the client was created.
    """

    def __init__(self, metrics: ClientMetrics, identity: Identity, now_ns: Callable[[], int], began_ns: int) -> None:
        self._metrics = metrics
        self._identity = identity
        self._now_ns = now_ns
        self._began_ns = began_ns
        self._pushed: dict[_Key, tuple[float, int]] = {}

    def collect(
        self, subscription: Subscription, of_program: Iterable[tuple[Point, bool]], max_bytes: int
    ) -> Collected:
        """Return the current values of the wanted metrics that fit; values for single brokers and topics come last.

        Arguments:
            of_program: values of metrics that the program has registered, each with a flag that is true for a sum.
        """
        now_ns, sums = self._now_ns(), {}
        names: dict[tuple[str, str], str] = {}

        def wanted(group: str, name: str) -> bool:
            full_name = names.get((group, name))
            if full_name is None:
                full_name = names[group, name] = _full_name(self._renamed(group), name)
            return subscription.wants(full_name)

        ours = self._metrics.points(wanted)
        measured = []
        for name, point, is_sum in (
            *((names[each.group, each.name], each, each.name.endswith("-total")) for each in ours),
            *((_full_name(each.group, each.name), each, is_sum) for each, is_sum in of_program),
        ):
            if not math.isfinite(point.value) or not subscription.wants(name):
                continue
            attributes = _attributes(point.tags)
            value, since_ns = point.value, self._began_ns
            if is_sum:
                key = name, tuple(sorted(attributes.items()))
                sums[key] = value
                if subscription.delta:
                    value, since_ns = self._since_pushed(key, value)
            measured.append((Measured(name, attributes, value, is_sum, since_ns), key if is_sum else None))
        labels = {name: text for name, text in self._identity.labels().items() if text}
        encoded = encode([each for each, _ in measured], labels, now_ns, subscription.delta, max_bytes)
        for _, left_out in measured[encoded.taken :]:
            if left_out is not None:
                del sums[left_out]
        return Collected(encoded.data, len(measured) - encoded.taken, sums, now_ns)

    def is_slow(self) -> bool:
        """Return whether there are too many values to collect on the loop."""
        return self._metrics.count() > _MANY

    def pushed(self, collected: Collected) -> None:
        """Record that a broker has received the values, so that the next deltas are relative to them."""
        self._pushed.update((key, (value, collected.at_ns)) for key, value in collected.sums.items())

    def reset(self) -> None:
        """Start over, because the broker has switched between deltas and totals."""
        self._pushed.clear()

    def _since_pushed(self, key: _Key, value: float) -> tuple[float, int]:
        last, since_ns = self._pushed.get(key, (0.0, self._began_ns))
        return (value - last, since_ns) if value >= last else (value, since_ns)

    def _renamed(self, group: str) -> str:
        kind, prefix, _ = self._identity
        return kind + group.removeprefix(prefix) if group.startswith(prefix) else group


def _full_name(group: str, name: str) -> str:
    return f"{_DOMAIN}.{group.removesuffix('-metrics')}.{name}".replace("-", ".").lower()


def _attributes(tags: Mapping[str, str]) -> dict[str, str]:
    written = {"node-id" if name == "node" else name: value for name, value in tags.items()}
    named = {name.replace("-", "_").lower(): value for name, value in written.items()}
    return {name: value for name, value in named.items() if name != _NOT_SENT}
