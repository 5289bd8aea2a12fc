"""Which topics' metadata a consumer keeps fresh, and what it does about those that are missing."""

import asyncio
import logging
from collections.abc import Callable
from typing import Protocol

from kafka.cluster import ClusterMetadata
from kafka.consumer.subscription.subscription_state import SubscriptionState
from kafka.errors import InvalidTopicError, TopicAuthorizationFailedError

log = logging.getLogger(__name__)

_FOR_THE_CALLER = (TopicAuthorizationFailedError, InvalidTopicError)
"""Errors of a topic that do not pass by themselves."""
_RETRY_S = 1.0
"""How long a topic that is missing is left alone: it may be created any time."""


class WatchClient(Protocol):
    """The part of `kafka.cluster.ClusterClient` that this stands on."""

    @property
    def metadata(self) -> ClusterMetadata:
        """The newest snapshot of the cluster."""

    def watch_topics(self, topics: set[str] | None) -> None:
        """Keep the metadata of these topics."""

    def request_refresh(self) -> None:
        """Fetch a new snapshot soon."""


class TopicWatch:
    """Runs on the loop.

    Arguments:
        client: holds the metadata.
        subscription: what the consumer wants.
        exclude_internal: whether a pattern leaves out internal topics.
        failed: called with errors that do not pass by themselves, once each.
    """

    def __init__(
        self,
        client: WatchClient,
        subscription: SubscriptionState,
        exclude_internal: bool,
        failed: Callable[[Exception], None],
    ) -> None:
        self._client = client
        self._subscription = subscription
        self._exclude_internal = exclude_internal
        self._failed = failed
        self._group: frozenset[str] = frozenset()
        self._told: dict[str, type[Exception]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False

    def close(self) -> None:
        """Stop."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()

    def watch_group(self, topics: frozenset[str]) -> None:
        """This consumer leads its group: keep the topics of all members fresh."""
        self._group = topics
        self._watch()

    def update(self) -> None:
        """The consumer wants other topics."""
        if self._closed:
            return
        if not self._subscription.is_automatic:
            self._group = frozenset()
        self._told.clear()
        self._watch()
        if self._subscription.pattern is not None:
            self._match(self._client.metadata)
            self._client.request_refresh()
        elif self._missing(self._client.metadata):
            self._client.request_refresh()

    def metadata_changed(self, metadata: ClusterMetadata) -> bool:
        """Look at new metadata; whether a pattern matches other topics now."""
        changed = self._subscription.pattern is not None and self._match(metadata)
        for topic, error in metadata.topic_errors.items():
            if issubclass(error, _FOR_THE_CALLER) and topic in self._own() and self._told.get(topic) is not error:
                self._told[topic] = error
                self._failed(error({topic}))
        if self._missing(metadata) and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_RETRY_S, self._again)
        return changed

    def _again(self) -> None:
        self._timer = None
        if not self._closed and self._missing(self._client.metadata):
            self._client.request_refresh()

    def _match(self, metadata: ClusterMetadata) -> bool:
        return self._subscription.match(metadata.topics(self._exclude_internal))

    def _own(self) -> frozenset[str]:
        return self._subscription.topics | self._subscription.assigned_topics()

    def _missing(self, metadata: ClusterMetadata) -> bool:
        """Whether a topic is not known, or a partition that is assigned has no leader."""
        if any(metadata.partitions_for_topic(topic) is None for topic in self._own()):
            return True
        assigned = self._subscription.assigned_partitions()
        return any(metadata.leader_for_partition(tp) is None for tp in assigned)

    def _watch(self) -> None:
        if self._subscription.pattern is not None:
            self._client.watch_topics(None)
        else:
            self._client.watch_topics(set(self._own() | self._group))
