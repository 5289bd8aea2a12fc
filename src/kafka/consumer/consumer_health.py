"""What a consumer adds to its health: whether answers to fetches come, its membership, and its lag."""

from kafka.cluster.client_health import STALLED_S, ClientHealth, Observed
from kafka.config import FetchOptions
from kafka.consumer.fetch.failure_log import place
from kafka.consumer.fetch.fetcher import Fetcher
from kafka.consumer.handover.partition_state import PartitionState, current_lag
from kafka.consumer.subscription.subscription_state import SubscriptionState
from kafka.coordinator.membership import Membership
from kafka.health import Health
from kafka.structs import TopicPartition

_UNUSUAL = 3
"""How many failures of a partition in a row are more than a leader that moves."""

_NAMED = 5
"""So many partitions are named at most."""


class ConsumerHealth:
    """See the module; reads other parts of the consumer, in any thread.

    Arguments:
        common: what all clients have.
        options: how long a broker may wait for records, and up to which end they are read.
    """

    def __init__(
        self,
        common: ClientHealth,
        options: FetchOptions,
        subscription: SubscriptionState,
        fetcher: Fetcher,
        membership: Membership,
    ) -> None:
        self._common = common
        self._read_committed = options.isolation_level == "read_committed"
        self._limit_s = STALLED_S + options.fetch_max_wait_ms / 1000
        self._subscription = subscription
        self._fetcher = fetcher
        self._membership = membership

    def report(self, closed: bool) -> Health:
        """How the consumer is now."""
        standing = self._membership.standing()
        states = self._subscription.states()
        since = self._fetcher.waiting_since()
        waits_for = [] if standing is None or not standing.waits_for else [standing.waits_for]
        without = [place(state.tp) for state in states if state.position is None and not state.paused]
        if without:
            more = ", ..." if len(without) > _NAMED else ""
            waits_for.append(f"the position of {', '.join(without[:_NAMED])}{more}")
        if since is not None:
            waits_for.append("records")
        seen = Observed(
            since,
            self._limit_s,
            tuple(waits_for),
            bool(standing is not None and standing.is_lost)
            or any(each.fetching.failures >= _UNUSUAL for each in states),
            None if standing is None else standing.fatal,
            None if standing is None else standing.name,
            self._lag(states),
        )
        return self._common.report(seen, closed)

    def _lag(self, states: list[PartitionState]) -> dict[TopicPartition, int]:
        """How far the positions are behind the ends that fetches have told."""
        known = {state.tp: current_lag(state, self._read_committed) for state in states}
        return {tp: lag for tp, lag in known.items() if lag is not None}
