"""Keeps the metadata of the consumer's topics up to date, and warns of missing topics and partitions."""

import asyncio
import logging
from collections.abc import Callable
from typing import NamedTuple

from kafka.cluster import LogLimiter, MetadataAccess
from kafka.cluster.metadata_snapshot import ClusterMetadata
from kafka.consumer.subscription.created_topics import CreatedTopics
from kafka.consumer.subscription.subscription_state import SubscriptionState
from kafka.errors import InvalidTopicError, TopicAuthorizationFailedError, UnknownTopicOrPartitionError
from kafka.structs import TopicPartition

log = logging.getLogger(__name__)

_FOR_THE_CALLER = (TopicAuthorizationFailedError, InvalidTopicError)
"""Permanent errors for a topic, which must be reported to the caller."""
_PATTERN = ""
"""The key that stands for the pattern among the topics that caused warnings."""
_RETRY_S = 1.0
"""How long to wait before a missing topic is looked up again, because it may be created at any time."""


_ABSENT, _PARTITION, _LEADER = _KINDS = (" absent", " partition", " leader")
"""What may be missing. Each is appended to a topic name as a key; topic names contain no spaces."""


class _Problem(NamedTuple):
    """The reason why partitions of a topic cannot be read.

    Arguments:
        kind: one of `_KINDS`. Repeated problems of the same kind are rarely logged.
        text: the log message.
    """

    kind: str
    text: str


class TopicWatch:
    """Repeatedly requests metadata for missing topics, and warns about them at once and then rarely. Runs on the loop.

    Arguments:
        client: provides the metadata.
        subscription: the topics that the consumer wants.
        exclude_internal: whether a pattern ignores internal topics.
        failed: called with each permanent error, once.
        created: warns of topics that brokers create on request; None: requests do not create topics.
    """

    def __init__(
        self,
        client: MetadataAccess,
        subscription: SubscriptionState,
        exclude_internal: bool,
        failed: Callable[[Exception], None],
        created: CreatedTopics | None = None,
    ) -> None:
        self._client = client
        self._subscription = subscription
        self._exclude_internal = exclude_internal
        self._failed = failed
        self._created = created
        self._group: frozenset[str] = frozenset()
        self._reported: dict[str, type[Exception]] = {}
        self._missing: set[str] = set()
        self._found: set[str] = set()
        self._never_found: set[str] = set()
        self._warnings = LogLimiter(log)
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False

    def close(self) -> None:
        """Stop requesting metadata."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        if self._created is not None:
            self._created.close()

    def watch_group(self, topics: frozenset[str]) -> None:
        """Watch the topics of all members, because this consumer leads its group."""
        self._group = topics
        self._watch()

    def update(self) -> None:
        """Look up the consumer's topics after they changed."""
        if self._closed:
            return
        if not self._subscription.is_automatic:
            self._group = frozenset()
        self._reported.clear()
        self._watch()
        metadata = self._client.metadata
        if self._subscription.pattern is not None:
            self._match(metadata)
            self._client.request_refresh()
        elif self._problems(metadata):
            self._client.request_refresh()

    def metadata_changed(self, metadata: ClusterMetadata) -> bool:
        """Examine new metadata. Returns whether the topics that match a pattern have changed."""
        changed = self._subscription.pattern is not None and self._match(metadata)
        for topic, error in metadata.topic_errors.items():
            if issubclass(error, _FOR_THE_CALLER) and topic in self._own() and self._reported.get(topic) is not error:
                self._reported[topic] = error
                self._failed(error({topic}))
        self._look_for_missing(metadata)
        if self._created is not None and self._subscription.pattern is None:
            self._look_for_created(metadata, self._created)
        return changed

    def _look_for_missing(self, metadata: ClusterMetadata) -> None:
        problems = self._problems(metadata)
        if problems and self._timer is None and not self._closed:
            self._timer = asyncio.get_running_loop().call_later(_RETRY_S, self._again)
        pattern = self._subscription.pattern
        if pattern is not None and not self._subscription.topics:
            text = f"no topic matches the pattern {pattern.pattern!r}; waiting for one to be created"
            problems[_PATTERN] = _Problem(_ABSENT, text)
        for topic, (kind, text) in problems.items():
            if metadata.topic_errors.get(topic) in _FOR_THE_CALLER:  # these errors are raised, not logged
                continue
            if not self._is_being_created(topic, metadata):
                self._warnings.warning(topic + kind, text)
        for topic in self._missing - problems.keys():
            if sum(self._warnings.forget(topic + kind) for kind in _KINDS):  # sum(), unlike any(), forgets all kinds
                log.info("%s", f"topic {topic!r} can be read now" if topic else "topics match the pattern now")
        self._missing = set(problems)

    def _is_being_created(self, topic: str, metadata: ClusterMetadata) -> bool:
        """Return whether this is the first response without a topic that the next request may create."""
        is_missing = metadata.topic_errors.get(topic) is UnknownTopicOrPartitionError
        may_create = self._created is not None and self._subscription.pattern is None
        return is_missing and may_create and topic not in self._never_found | self._found

    def _look_for_created(self, metadata: ClusterMetadata, created: CreatedTopics) -> None:
        """Report topics that did not exist when they were first looked up, and exist now."""
        for topic in self._own() - self._found:
            if metadata.partitions_for_topic(topic) is not None:
                self._found.add(topic)
                if topic in self._never_found and not self._closed:
                    created.report(topic)
            elif metadata.topic_errors.get(topic) is UnknownTopicOrPartitionError:
                self._never_found.add(topic)

    def _again(self) -> None:
        self._timer = None
        if not self._closed and self._problems(self._client.metadata):
            self._client.request_refresh()

    def _match(self, metadata: ClusterMetadata) -> bool:
        return self._subscription.match(metadata.topics(self._exclude_internal))

    def _own(self) -> frozenset[str]:
        return self._subscription.topics | self._subscription.assigned_topics()

    def _problems(self, metadata: ClusterMetadata) -> dict[str, _Problem]:
        """Return the topics that cannot be read completely, with the reasons."""
        assigned: dict[str, list[TopicPartition]] = {topic: [] for topic in self._subscription.topics}
        for tp in self._subscription.assigned_partitions():
            assigned.setdefault(tp.topic, []).append(tp)
        found = ((topic, _problem(topic, partitions, metadata)) for topic, partitions in assigned.items())
        return {topic: problem for topic, problem in found if problem}

    def _watch(self) -> None:
        if self._subscription.pattern is not None:
            self._client.watch_topics(None)
        else:
            self._client.watch_topics(set(self._own() | self._group), look_first=self._created is not None)


def _problem(topic: str, partitions: list[TopicPartition], metadata: ClusterMetadata) -> _Problem | None:
    """Return the reason why partitions of a topic cannot be read; None if all can be read."""
    known = metadata.partitions_for_topic(topic)
    if known is None:
        error = metadata.topic_errors.get(topic, UnknownTopicOrPartitionError)
        if error is UnknownTopicOrPartitionError:
            return _Problem(_ABSENT, f"topic {topic!r} does not exist; waiting for it to be created")
        return _Problem(_ABSENT, f"topic {topic!r} cannot be read yet: {error.description}")
    missing = [tp.partition for tp in partitions if tp.partition not in known]
    if missing:
        return _Problem(
            _PARTITION,
            f"topic {topic!r} has {len(known)} partition{'s' if len(known) != 1 else ''}, and none with the number "
            f"{_listed(missing)}; waiting for it",
        )
    leaderless = [tp.partition for tp in partitions if metadata.leader_for_partition(tp) is None]
    if leaderless:
        return _Problem(_LEADER, f"no leader at the moment: topic {topic!r}, partition {_listed(leaderless)}")
    return None


def _listed(numbers: list[int]) -> str:
    shown = ", ".join(map(str, sorted(numbers)[:5]))
    return shown if len(numbers) <= 5 else f"{shown} and {len(numbers) - 5} more"
