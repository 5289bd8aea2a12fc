"""The planner's view of the cluster, over the public clients: `OffsetLookup` with retries."""

import logging
import re
import time
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, TypeVar

from kafka.config import option_table
from kafka.errors import KafkaError
from kafka.spark.cache import make_consumer
from kafka.spark.offsets import Offsets
from kafka.spark.options import ReadOptions
from kafka.spark.values import Matching, Partitions, Selection, Topics
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    from kafka import KafkaAdminClient, KafkaConsumer

log = logging.getLogger(__name__)

Answer = TypeVar("Answer")


class ClusterLookup:
    """Answers a planner's questions; connects at the first one. A context manager.

    Arguments:
        options: of the read.
    """

    def __init__(self, options: ReadOptions) -> None:
        self._options = options
        self._consumer: KafkaConsumer | None = None
        self._admin: KafkaAdminClient | None = None
        self._missing: set[str] = set()

    def __enter__(self) -> "ClusterLookup":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the connections; the next question makes new ones."""
        clients, self._consumer, self._admin = (self._consumer, self._admin), None, None
        for client in clients:
            if client is not None:
                client.close()

    def partitions(self, selection: Selection) -> set[TopicPartition]:
        """Those of the selected partitions that exist now."""
        if isinstance(selection, Matching):
            pattern = re.compile(selection.pattern)
            names = self._ask("list the topics", lambda: self._admins().list_topics())
            return self._describe([name for name in names if pattern.fullmatch(name)])
        if isinstance(selection, Topics):
            return self._describe_named(selection.names)
        assert isinstance(selection, Partitions)
        there = self._describe_named(sorted({each.topic for each in selection.partitions}))
        return there.intersection(selection.partitions)

    def _describe_named(self, names: Collection[str]) -> set[TopicPartition]:
        """Partitions of topics that should be there: a new topic is not known to every broker at once."""
        found: set[TopicPartition] = set()
        for attempt in range(self._options.retries + 1):
            if attempt:
                self._pause()
            found = self._describe(names)
            missing = set(names) - {each.topic for each in found}
            if missing <= self._missing:
                break
        self._missing = set(names) - {each.topic for each in found}
        return found

    def _describe(self, names: Collection[str]) -> set[TopicPartition]:
        if not names:
            return set()
        topics = self._ask("describe the topics", lambda: self._admins().describe_topics(list(names)))
        return {
            TopicPartition(topic["topic"], partition["partition"])
            for topic in topics
            if topic["error_code"] == 0
            for partition in topic["partitions"]
        }

    def earliest(self, partitions: Collection[TopicPartition]) -> Offsets:
        """The first offset of each."""
        if not partitions:
            return {}
        return self._ask("find the first offsets", lambda: self._consumers().beginning_offsets(list(partitions)))

    def latest(self, partitions: Collection[TopicPartition], at_least: Mapping[TopicPartition, int]) -> Offsets:
        """The offset after the last of each: a leader that has just changed may not know the newest yet."""
        offsets: Offsets = {}
        for attempt in range(self._options.retries + 1 if partitions else 0):
            if attempt:
                self._pause()
            offsets = self._ask("find the last offsets", lambda: self._consumers().end_offsets(list(partitions)))
            if all(offset >= at_least.get(each, 0) for each, offset in offsets.items()):
                break
        return offsets

    def at_time(self, times_ms: Mapping[TopicPartition, int]) -> dict[TopicPartition, int | None]:
        """The first offset at or after a time (ms since 1970-01-01 UTC); None: there is no such record."""
        if not times_ms:
            return {}
        found = self._ask("find offsets by time", lambda: self._consumers().offsets_for_times(dict(times_ms)))
        return {each: None if answer is None else answer.offset for each, answer in found.items()}

    def _ask(self, what: str, question: Callable[[], Answer]) -> Answer:
        """The answer; errors that may pass are tried again as `fetchOffset.numRetries` says, on new connections."""
        for attempt in range(self._options.retries + 1):
            if attempt:
                self._pause()
            try:
                return question()
            except KafkaError as error:
                if attempt == self._options.retries or not error.retriable:
                    error.add_note(f"while trying to {what} for Spark, {attempt + 1} times")
                    raise
                log.warning("could not %s, trying again: %s", what, error)
                self.close()
        raise AssertionError("the last attempt returns or raises")

    def _pause(self) -> None:
        time.sleep(self._options.retry_interval_ms / 1_000)

    def _consumers(self) -> "KafkaConsumer":
        if self._consumer is None:
            self._consumer = make_consumer(dict(self._options.configs))
        return self._consumer

    def _admins(self) -> "KafkaAdminClient":
        if self._admin is None:
            from kafka import KafkaAdminClient

            table = option_table()
            configs = {name: value for name, value in self._options.configs if "admin" in table[name].clients}
            self._admin = KafkaAdminClient(**configs)
        return self._admin
