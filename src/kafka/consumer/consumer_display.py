"""What a notebook shows of a consumer, or a share consumer, besides what it shows of every client."""

from kafka.cluster.client_display import client_html
from kafka.config import ConnectionOptions
from kafka.consumer.handover.partition_state import PartitionState
from kafka.consumer.subscription.subscription_state import SubscriptionState
from kafka.health import Health


def consumer_html(
    kind: str, health: Health, options: ConnectionOptions, group_id: str | None, read: SubscriptionState | None
) -> str:
    """Its health, its group, and the partitions that it reads. In any thread; asks no broker.

    Arguments:
        kind: the consumer's class.
        health: what its `health()` gives.
        options: of its connections.
        group_id: its group; None: it has none.
        read: what it subscribes to; None before the start.
    """
    states = [] if read is None else sorted(read.states(), key=lambda state: state.tp)
    more = (
        ("group", group_id),
        ("member", health.membership),
        ("subscribes to", "" if read is None else _subscribed(read)),
        ("partitions", len(states)),
        ("lag", health.total_lag),
    )
    return client_html(kind, health, options, more, _positions(states) if states else "")


def _subscribed(read: SubscriptionState) -> str:
    pattern, regex = read.pattern, read.regex
    if pattern is not None:
        return f"names that match {pattern.pattern!r}"
    if regex is not None:
        return f"names that match {regex.pattern!r}"
    return ", ".join(sorted(read.topics))


def _positions(states: list[PartitionState]) -> str:
    from kafka.display import tables

    titles = ("topic", "partition", "position", "end", "paused")
    rows = (
        (
            *state.tp,
            None if (position := state.position) is None else position.offset,
            state.fetching.highwater,
            "yes" if state.paused else "",
        )
        for state in states
    )
    return tables.table(titles, rows, len(states))
