"""`KafkaConsumer` of 0.9: the program marks messages as done, and the consumer commits the marks."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, NamedTuple

from kafka.consumer.kafka_consumer import KafkaConsumer as TodaysConsumer
from kafka.errors import (
    ConsumerTimeout,
    IllegalStateError,
    KafkaConfigurationError,
    OffsetOutOfRangeError,
    UnknownTopicOrPartitionError,
    check_error,
)
from kafka.legacy.consumer.consumer_base import EARLIEST, LATEST
from kafka.legacy.consumer.marked_fetching import MarkedFetching, OffsetsStruct, Place
from kafka.legacy.deprecation import warn_deprecated
from kafka.legacy.payloads import (
    KafkaMessage,
    OffsetCommitRequestPayload,
    OffsetFetchRequestPayload,
    OffsetRequestPayload,
)
from kafka.legacy.simple.apis import text
from kafka.legacy.simple.simple_client import SimpleClient

log = logging.getLogger("kafka.consumer.kafka")


def _as_it_is(message: Any) -> Any:
    return message


DEFAULT_CONSUMER_CONFIG: dict[str, Any] = {
    "client_id": "kafka.consumer.kafka",
    "group_id": None,
    "bootstrap_servers": [],
    "socket_timeout_ms": 30_000,
    "fetch_message_max_bytes": 1024 * 1024,
    "auto_offset_reset": "largest",
    "fetch_min_bytes": 1,
    "fetch_wait_max_ms": 100,
    "refresh_leader_backoff_ms": 200,
    "deserializer_class": _as_it_is,
    "auto_commit_enable": False,
    "auto_commit_interval_ms": 60_000,
    "auto_commit_interval_messages": None,
    "consumer_timeout_ms": -1,
    "socket_receive_buffer_bytes": 64 * 1024,
    "num_consumer_fetchers": 1,
    "default_fetcher_backoff_ms": 1000,
    "queued_max_message_chunks": 10,
    "rebalance_max_retries": 4,
    "rebalance_backoff_ms": 2000,
}
"""Defaults by name; the last six options never had an effect."""

_OPTIONAL = {"metadata_broker_list", *DEFAULT_CONSUMER_CONFIG} - {"auto_offset_reset"}
"""Options for which None selects the default."""

DEPRECATED_CONFIG_KEYS = {"metadata_broker_list": "bootstrap_servers"}

Deserializer = Callable[[Any], Any]


def parse(configs: Mapping[str, Any]) -> dict[str, Any]:
    """Return all options. Raises `KafkaConfigurationError` for an unknown option, or if a required one is missing."""
    given = {name: value for name, value in configs.items() if value is not None or name not in _OPTIONAL}
    for old, new in DEPRECATED_CONFIG_KEYS.items():
        if old in given:
            warn_deprecated(f"{old} is deprecated: use {new}")
            given.setdefault(new, given.pop(old))
            given.pop(old, None)
    unknown = [name for name in given if name not in DEFAULT_CONSUMER_CONFIG]
    if unknown:
        raise KafkaConfigurationError(
            f"Unknown configuration key(s): {unknown}; a consumer of kafka-python 0.9 has the options "
            f"{', '.join(sorted(DEFAULT_CONSUMER_CONFIG))}"
        )
    config = {**DEFAULT_CONSUMER_CONFIG, **given}
    if config["auto_commit_enable"] and not config["group_id"]:
        raise KafkaConfigurationError("auto_commit_enable requires a group_id")
    if not config["bootstrap_servers"]:
        raise KafkaConfigurationError("bootstrap_servers required to configure KafkaConsumer")
    return config


_RESETS = {"largest": LATEST, "latest": LATEST, "smallest": EARLIEST, "earliest": EARLIEST}
_GROUPS = ("fetch", "commit", "task_done", "highwater")


_OF_TODAY = ("_core", "_cursor", "_poll_loop", "_events")


class _Client(SimpleClient):
    """The consumer's client, created without a `DeprecationWarning`."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        timeout_s = config["socket_timeout_ms"] / 1000
        self._open(config["bootstrap_servers"], client_id=config["client_id"], timeout=timeout_s)


class KafkaConsumer(MarkedFetching, TodaysConsumer):
    """The consumer of 0.9. It does not join a group: it reads all partitions of its topics.

    It returns `KafkaMessage`s. The program marks those that it has processed with `task_done`, and `commit` stores the
    marks for ``group_id``, where today's consumers in the group find them too. Methods of today's consumer that this
    class does not have raise `IllegalStateError`.

    Arguments:
        topics: as for `set_topic_partitions`.
        configs: options, as `DEFAULT_CONSUMER_CONFIG` lists them.

    Raises `KafkaConfigurationError`, and `KafkaUnavailableError` if no server answers.
    """

    DEFAULT_CONFIG: ClassVar[dict[str, Any]] = DEFAULT_CONSUMER_CONFIG
    _parse = staticmethod(parse)

    def __init__(self, *topics: Any, **configs: Any) -> None:
        self._make(topics, configs)

    def _make(self, topics: tuple[Any, ...], configs: dict[str, Any]) -> None:
        self.configure(**configs)
        try:
            self.set_topic_partitions(*topics)
        except BaseException:
            self._client.close()
            raise

    def __repr__(self) -> str:
        return f"<KafkaConsumer topics=({', '.join(f'{topic}-{partition}' for topic, partition in self._topics)})>"

    def _repr_html_(self) -> str:
        from kafka.display.html_tables import html

        return html("<pre>{}</pre>", repr(self))

    def configure(self, **configs: Any) -> None:
        """Replace all options, and connect. Call `set_topic_partitions` next."""
        self._config = parse(configs)
        if "_client" in self.__dict__:
            self._client.close()
        self._auto_commit = AutoCommit(self._config)
        self._group: str | None = text(self._config["group_id"])
        self._topics: list[Place] = []
        self._offsets = OffsetsStruct({}, {}, {}, {})
        self._messages: Iterator[KafkaMessage] | None = None
        self._client = _Client(self._config)

    def set_topic_partitions(self, *topics: Any) -> None:
        """Choose the partitions to read, and where to start.

        Arguments:
            topics: a name, for all partitions; ``(topic, partition)``; ``(topic, partition, offset)``;
                ``{topic: partition}``; ``{topic: [partition, ...]}``; ``{(topic, partition): offset}``.

        Partitions without an offset start at the group's committed offset, otherwise according to
        ``auto_offset_reset``.

        Raises `UnknownTopicOrPartitionError`, and `KafkaConfigurationError` for any other form.
        """
        self._topics = []
        self._messages = None
        self._offsets = OffsetsStruct({}, {}, {}, {})
        self._client.load_metadata_for_topics()
        for given in topics:
            for topic, partition, offset in chosen_by(given):
                known = self._client.get_partition_ids_for_topic(topic)
                for each in known if partition is None else [partition]:
                    self._choose(topic, each, offset, known)
        commits = self._committed()
        for place in self._topics:
            self._offsets.commit[place] = commits.get(place)
            self._offsets.highwater[place] = self._offsets.task_done[place] = None
            if place not in self._offsets.fetch:
                begin = commits.get(place)
                self._offsets.fetch[place] = self._reset_offset(place) if begin is None else begin

    def _choose(self, topic: str, partition: Any, offset: int | None, known: list[int]) -> None:
        if not isinstance(partition, int):
            raise KafkaConfigurationError(f"Unknown partition type ({type(partition)}) -- expected int")
        if not known:
            raise UnknownTopicOrPartitionError(f"Topic {topic} not found in broker metadata")
        if partition not in known:
            raise UnknownTopicOrPartitionError(f"Partition {partition} not found in Topic {topic} in broker metadata")
        place = (topic, partition)
        if place not in self._topics:
            self._topics.append(place)
        if offset is not None:
            self._offsets.fetch[place] = offset

    def _committed(self) -> dict[Place, int]:
        """Return the group's stored offsets."""
        if not self._group or not self._topics:
            return {}
        asked = [OffsetFetchRequestPayload(*place) for place in self._topics]
        answers = self._client.send_offset_fetch_request_kafka(self._group, asked)
        return {(each.topic, each.partition): each.offset for each in answers if each.offset >= 0}

    # Reading

    def __iter__(self) -> Any:
        """Iterate over messages; a timeout raises `ConsumerTimeout`."""
        return self

    def __next__(self) -> Any:
        return self.next()

    def next(self) -> KafkaMessage:  # type: ignore[override]  # as 0.9 had it
        """Return the next message.

        Raises `ConsumerTimeout` if none arrives within ``consumer_timeout_ms``; -1 waits forever.
        """
        timeout_ms = self._config["consumer_timeout_ms"]
        deadline = time.monotonic() + timeout_ms / 1000 if timeout_ms >= 0 else None
        while True:
            if self._messages is None:
                self._messages = self.fetch_messages()
            for message in self._messages:
                return message
            self._messages = None
            if deadline is not None and time.monotonic() > deadline:
                raise ConsumerTimeout(f"Consumer timed out after {timeout_ms} ms")

    # Offsets

    def get_partition_offsets(
        self, topic: str | bytes, partition: int, request_time_ms: int, max_num_offsets: int
    ) -> list[int]:
        """Return offsets of a partition before a time, newest first.

        Arguments:
            request_time_ms: the time in milliseconds since 1970; -1 for the end, -2 for the beginning.
            max_num_offsets: maximum number of offsets.
        """
        asked = [OffsetRequestPayload(text(topic), partition, request_time_ms, max_num_offsets)]
        (answer,) = self._client.send_offset_request(asked)
        return list(answer.offsets)

    def _reset_offset(self, place: Place) -> int:
        """Return the offset that ``auto_offset_reset`` selects; raise the current error if it selects none."""
        end = _RESETS.get(self._config["auto_offset_reset"])
        if end is None:
            raise sys.exception() or OffsetOutOfRangeError(
                "Cannot reset partition offsets without a valid auto_offset_reset setting (largest|smallest)"
            )
        offset: int = self.get_partition_offsets(*place, end, 1)[0]
        return offset

    def offsets(self, group: str | None = None) -> dict[Any, Any]:
        """Return a copy of the offsets.

        Arguments:
            group: "fetch", "commit", "task_done" or "highwater"; None: return a dict of all of them by these names.
        """
        if group:
            return dict(getattr(self._offsets, group))
        return {name: self.offsets(name) for name in _GROUPS}

    def task_done(self, message: Any) -> None:
        """Mark a message as done, for the next `commit`. Automatic commits happen here."""
        place = (message.topic, message.partition)
        before, committed = self._offsets.task_done[place], self._offsets.commit[place]
        if before is not None and message.offset != before + 1:
            log.warning("Marking task_done on a non-continuous offset: %d != %d + 1", message.offset, before)
        if committed is not None and message.offset < committed:
            log.warning("Marking task_done on a previously committed offset: %d < %d", message.offset, committed)
        self._offsets.task_done[place] = message.offset
        if self._config["auto_commit_enable"] and self._auto_commit.is_due_after_a_message():
            self.commit()

    def commit(self) -> Any:  # type: ignore[override]  # as 0.9 had it
        """Store the offsets marked by `task_done` for the group.

        Returns True, or False if there is nothing new. Raises `KafkaConfigurationError` without a ``group_id``, and the
        coordinator's first error.
        """
        if not self._group:
            log.warning("Cannot commit without a group_id!")
            raise KafkaConfigurationError("Attempted to commit offsets without a configured consumer group (group_id)")
        done = {place: offset + 1 for place, offset in self._offsets.task_done.items() if offset is not None}
        new = {place: offset for place, offset in done.items() if offset != self._offsets.commit[place]}
        if not new:
            log.info("No new offsets found to commit in group %s", self._group)
            return False
        asked = [OffsetCommitRequestPayload(*place, offset, "") for place, offset in new.items()]
        for answer in self._client.send_offset_commit_request(self._group, asked, fail_on_error=False):
            check_error(answer)
            place = (answer.topic, answer.partition)
            self._offsets.commit[place] = new[place]
        self._auto_commit.begin()
        return True

    def close(self, *_: Any, **__: Any) -> None:
        """Close the connections without a commit."""
        self._client.close()

    def __getattr__(self, name: str) -> Any:
        if name in _OF_TODAY:
            raise IllegalStateError(
                "this KafkaConsumer behaves like that of kafka-python 0.9, because of an option, a form of topics or a "
                "method that only 0.9 had; it does not have the methods of later versions"
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


class AutoCommit:
    """Counts the messages marked as done, and measures the time since the last commit."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        enabled = config["auto_commit_enable"]
        self._messages: int = (enabled and config["auto_commit_interval_messages"]) or 0
        self._seconds: float = ((enabled and config["auto_commit_interval_ms"]) or 0) / 1000
        self.begin()

    def begin(self) -> None:
        """Restart the count and the time."""
        self._count = 0
        self._next = time.monotonic() + self._seconds

    def is_due_after_a_message(self) -> bool:
        """Count a message, and return whether to commit now."""
        self._count += 1
        by_number = 0 < self._messages <= self._count
        return by_number or (self._seconds > 0 and time.monotonic() >= self._next)


class Chosen(NamedTuple):
    """A topic or partition to read.

    Attributes:
        topic: the topic.
        partition: its partition; None: all of them.
        offset: where to start; None: not specified.
    """

    topic: str
    partition: Any = None
    offset: int | None = None


def chosen_by(given: Any) -> Iterator[Chosen]:
    """Parse an argument: a topic's name, a pair or triple, or a dict of either.

    Raises `KafkaConfigurationError` for any other argument.
    """
    if isinstance(given, (str, bytes)):
        yield Chosen(text(given))
    elif isinstance(given, tuple) and len(given) in (2, 3):
        yield Chosen(text(given[0]), *given[1:])
    elif isinstance(given, Mapping):
        for key, value in given.items():
            yield from _of_an_item(key, value)
    else:
        raise KafkaConfigurationError(
            f"Unknown topic type ({type(given)}): a topic is a name, (topic, partition), (topic, partition, offset), "
            "{topic: partition}, {topic: [partitions]} or {(topic, partition): offset}"
        )


def _of_an_item(key: Any, value: Any) -> Iterator[Chosen]:
    if isinstance(key, tuple) and len(key) == 2:
        yield Chosen(text(key[0]), key[1], value)
    elif isinstance(key, (str, bytes)) and isinstance(value, int):
        yield Chosen(text(key), value)
    elif isinstance(key, (str, bytes)) and isinstance(value, (list, tuple)):
        for partition in value:
            yield Chosen(text(key), partition)
    else:
        raise KafkaConfigurationError(
            f"Unknown topic type ({key!r}: {value!r}): a dict contains partitions by topic, or offsets by "
            "(topic, partition)"
        )
