"""The `OffsetLookup` for a real cluster, with retries. It uses the public clients."""

import logging
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from kafka.consumer.position.special_timestamps import LATEST
from kafka.errors import (
    KafkaError,
    KafkaTimeoutError,
    NoBrokersAvailable,
    UnknownTopicOrPartitionError,
    UnsupportedVersionError,
    for_code,
)
from kafka.spark.client_cache import admin_configs, make_consumer
from kafka.spark.options.parsing import ReadOptions
from kafka.spark.planning.checkpoint_layout import Epochs, Offsets
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    from kafka import KafkaAdminClient, KafkaConsumer

log = logging.getLogger(__name__)

Answer = TypeVar("Answer")

_NEW_TOPIC_PAUSE_MS = 200
"""Milliseconds before a missing topic is requested again, because not all brokers know a new topic immediately."""
_LEADER_PATIENCE_MS = (2_000, 4_000, 8_000, 16_000, 30_000)
"""Timeouts for successive requests to leaders. After each timeout, partitions that no longer exist are removed."""

_HINT_PATIENCE_MS = 2_000


class ClusterLookup:
    """Queries the cluster for a planner. A context manager that connects when the first query is made.

    The first connection is attempted once, for ``bootstrap_timeout_ms``. After the cluster has answered once, failures
    are retried `fetchOffset.numRetries` times.

    Arguments:
        options: the options of the read.
        consumer: a consumer to use and leave open; None to create one.
    """

    def __init__(self, options: ReadOptions, consumer: "KafkaConsumer | None" = None) -> None:
        self._options = options
        self._lent = consumer
        self._consumer: KafkaConsumer | None = None
        self._admin: KafkaAdminClient | None = None
        self._missing: set[str] = set()
        self._ids: dict[str, str] = {}
        self._epochs: Epochs = {}
        self._reached = False

    def __enter__(self) -> "ClusterLookup":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections; the next query opens new ones."""
        clients, self._consumer, self._admin = (self._consumer, self._admin), None, None
        for client in clients:
            if client is not None:
                client.close()

    def topics(self) -> set[str]:
        """Return the names of all topics that this user may see, except Kafka's internal ones."""
        described = self._ask("list the topics", lambda: self._admins().describe_topics())
        return {topic["topic"] for topic in described if not topic["is_internal"]}

    def partitions(self, topics: Collection[str]) -> dict[str, set[TopicPartition]]:
        """Return the partitions of those topics that exist.

        A topic is considered missing only if a broker returns error 3 (unknown topic). Raises
        `TopicAuthorizationFailedError` and other errors that a broker returns for a topic.
        """
        found: dict[str, set[TopicPartition]] = {}
        for attempt in range(self._options.retries + 1):
            if attempt:
                self._pause(min(self._options.retry_interval_ms, _NEW_TOPIC_PAUSE_MS))
            found = self._ask("describe the topics", partial(self._describe, topics)) if topics else {}
            if set(topics) - found.keys() <= self._missing:
                break
        self._missing.difference_update(found)
        self._missing.update(set(topics) - found.keys())
        return found

    def _describe(self, topics: Collection[str]) -> dict[str, set[TopicPartition]]:
        found: dict[str, set[TopicPartition]] = {}
        for topic in self._admins().describe_topics(list(topics)):
            name, error = topic["topic"], for_code(topic["error_code"])
            if topic["partitions"] or topic["error_code"] == 0:
                self._ids.pop(name, None)
                if topic["topic_id"] is not None:
                    self._ids[name] = topic["topic_id"]
                found[name] = {TopicPartition(name, each["partition"]) for each in topic["partitions"]}
            elif error is not UnknownTopicOrPartitionError:
                raise error(f"topic {name!r}: {error.description}")
        return found

    def topic_ids(self, topics: Collection[str]) -> dict[str, str]:
        """Return the ids of these topics, as last seen by `partitions`; brokers before 2.8 report none."""
        return {topic: self._ids[topic] for topic in topics if topic in self._ids}

    def log_bytes(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """Return the sizes of logs on the brokers' disks, if brokers report them. Does not raise.

        The sizes are hints, so the timeout is short, and brokers that do not respond or that refuse the request are
        omitted.
        """
        from kafka import KafkaAdminClient

        configs = {**admin_configs(self._options.configs), "request_timeout_ms": _HINT_PATIENCE_MS}
        topics: dict[str, list[int]] = {}
        for each in partitions:
            topics.setdefault(each.topic, []).append(each.partition)
        found: dict[TopicPartition, int] = {}
        try:
            with KafkaAdminClient(**configs) as admin:
                for broker in admin.describe_log_dirs(topics, raise_errors=False):
                    for directory in broker["log_dirs"]:
                        _add_sizes(found, directory)
        except KafkaError as error:
            log.debug("the sizes of logs are unknown: %s", error)
        return found

    def earliest(self, partitions: Collection[TopicPartition]) -> Offsets:
        """Return the first offset of each partition that exists."""
        return self._ask_leaders("find the first offsets", partitions, _earliest)

    def latest(self, partitions: Collection[TopicPartition], at_least: Mapping[TopicPartition, int]) -> Offsets:
        """Return the end offset of each partition that exists.

        Requests are retried because a new leader may not know the newest end offset yet.
        """
        offsets: Offsets = {}
        for attempt in range(self._options.retries + 1):
            if attempt:
                self._pause(self._options.retry_interval_ms)
            offsets = self._ask_leaders("find the last offsets", partitions, self._latest)
            if all(offset >= at_least.get(each, 0) for each, offset in offsets.items()):
                break
        return offsets

    def _latest(self, consumer: "KafkaConsumer", partitions: Iterable[TopicPartition], timeout_ms: int) -> Offsets:
        found = consumer._look_up(dict.fromkeys(partitions, LATEST), timeout_ms)
        for each, end in found.items():
            self._epochs.pop(each, None)
            if end.leader_epoch is not None and end.leader_epoch >= 0:
                self._epochs[each] = end.leader_epoch
        return {each: end.offset for each, end in found.items()}

    def leader_epochs(self, partitions: Collection[TopicPartition]) -> Epochs:
        """Return the partitions' leader epochs, from the last responses to `latest`; brokers before 2.1 report none."""
        return {each: self._epochs[each] for each in partitions if each in self._epochs}

    def epoch_ends(self, epochs: Mapping[TopicPartition, int]) -> Offsets:
        """Return the end offset of an epoch in the leader's log; omit partitions whose leader does not know it.

        Brokers before Kafka 2.3 do not answer this request from consumers.
        """

        def ask(consumer: "KafkaConsumer", partitions: Iterable[TopicPartition], timeout_ms: int) -> dict[Any, Any]:
            return consumer._epoch_ends({each: epochs[each] for each in partitions}, timeout_ms)

        try:
            found = self._ask_leaders("look up where leader epochs end", epochs, ask)
        except UnsupportedVersionError as error:
            log.debug("cannot tell whether logs were truncated: %s", error)
            return {}
        return {each: end.offset for each, end in found.items() if end.offset >= 0}

    def at_time(self, times_ms: Mapping[TopicPartition, int]) -> dict[TopicPartition, int | None]:
        """Return the offset of the first record at or after a time (ms since 1970-01-01 UTC); None if there is none."""

        def ask(consumer: "KafkaConsumer", partitions: Iterable[TopicPartition], timeout_ms: int) -> dict[Any, Any]:
            return consumer.offsets_for_times({each: times_ms[each] for each in partitions}, timeout_ms=timeout_ms)

        found = self._ask_leaders("find offsets by time", times_ms, ask)
        return {each: None if answer is None else answer.offset for each, answer in found.items()}

    def _ask_leaders(
        self,
        what: str,
        partitions: Collection[TopicPartition],
        ask: "Callable[[KafkaConsumer, Iterable[TopicPartition], int], dict[TopicPartition, Answer]]",
    ) -> dict[TopicPartition, Answer]:
        """Query the partitions' leaders and return their responses; omit partitions that no longer exist."""
        left = set(partitions)
        error: KafkaError | None = None
        for timeout_ms in _LEADER_PATIENCE_MS:
            if not left:
                return {}
            try:
                return self._ask(what, lambda: ask(self._consumers(), left, timeout_ms), patient=False)  # noqa: B023
            except NoBrokersAvailable:
                raise
            except (KafkaTimeoutError, UnknownTopicOrPartitionError) as raised:
                error = raised
            log.warning("could not %s in %d ms, trying again: %s", what, timeout_ms, error)
            there = self.partitions({each.topic for each in left})
            left.intersection_update(set().union(*there.values()))
        if not left:
            return {}
        assert error is not None
        raise error

    def _ask(self, what: str, question: Callable[[], Answer], patient: bool = True) -> Answer:
        """Query the cluster; retry transient errors `fetchOffset.numRetries` times, on new connections.

        Arguments:
            patient: whether to retry after timeouts, too.
        """
        attempt = 0
        while True:
            if attempt:
                self._pause(self._options.retry_interval_ms)
            try:
                answer = question()
            except KafkaError as error:
                if attempt == self._options.retries or not self._may_pass(error, patient):
                    tries = "once" if not attempt else f"{attempt + 1} times"
                    error.add_note(f"while trying to {what} for Spark, {tries}")
                    raise
                log.warning("could not %s, trying again: %s", what, error)
                self.close()
                attempt += 1
            else:
                self._reached = True
                return answer

    def _may_pass(self, error: KafkaError, patient: bool) -> bool:
        if isinstance(error, NoBrokersAvailable):
            return self._reached
        if isinstance(error, KafkaTimeoutError | UnknownTopicOrPartitionError) and not patient:
            return False
        return error.retriable

    @staticmethod
    def _pause(pause_ms: int) -> None:
        time.sleep(pause_ms / 1_000)

    def _consumers(self) -> "KafkaConsumer":
        if self._lent is not None:
            return self._lent
        if self._consumer is None:
            self._consumer = make_consumer(dict(self._options.configs))
        return self._consumer

    def _admins(self) -> "KafkaAdminClient":
        if self._admin is None:
            from kafka import KafkaAdminClient

            self._admin = KafkaAdminClient(**admin_configs(self._options.configs))
        return self._admin


def _add_sizes(found: dict[TopicPartition, int], directory: Mapping[str, Any]) -> None:
    """Add the sizes of the logs in a broker's directory. The size of a partition is that of its largest replica."""
    for topic in directory["topics"]:
        for each in topic["partitions"]:
            partition = TopicPartition(topic["name"], each["partition_index"])
            found[partition] = max(found.get(partition, 0), each["partition_size"])


def _earliest(consumer: "KafkaConsumer", partitions: Iterable[TopicPartition], timeout_ms: int) -> Offsets:
    return consumer.beginning_offsets(partitions, timeout_ms=timeout_ms)
