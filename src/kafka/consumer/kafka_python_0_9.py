"""Turns a `KafkaConsumer` into kafka-python 0.9's, which joins no group and commits the messages marked as done.

This happens on first use of an option, a form of topics or a method that only 0.9 had; the class is loaded only then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kafka import _old_names

_HOMES = {"KafkaConsumer": "kafka.legacy.consumer.marked_consumer"}
_FORMS = (bytes, tuple, dict)
_OPTIONS = frozenset(
    {
        "auto_commit_enable",
        "auto_commit_interval_messages",
        "default_fetcher_backoff_ms",
        "deserializer_class",
        "fetch_message_max_bytes",
        "fetch_wait_max_ms",
        "metadata_broker_list",
        "num_consumer_fetchers",
        "queued_max_message_chunks",
        "rebalance_backoff_ms",
        "rebalance_max_retries",
        "refresh_leader_backoff_ms",
        "socket_receive_buffer_bytes",
        "socket_timeout_ms",
    }
)


_OPENED = ("_core", "_cursor", "_poll_loop", "_events")


def wants_0_9(topics: tuple[Any, ...], configs: Mapping[str, Any]) -> bool:
    """Return whether the arguments of a constructor are for the 0.9 consumer."""
    return not _OPTIONS.isdisjoint(configs) or any(isinstance(topic, _FORMS) for topic in topics)


def switch_to_0_9(consumer: OldMethods, topics: tuple[Any, ...], configs: dict[str, Any]) -> None:
    """Turn a consumer without open resources into a 0.9 consumer. Raises the same errors as the 0.9 constructor.

    The methods of a user's subclass take precedence.
    """
    present, old = type(consumer), _old_names.of_a_package(__name__, "KafkaConsumer", _HOMES)
    consumer.__class__ = old if issubclass(old, present) else type(present.__name__, (present, old), {})
    for name in _OPENED:
        consumer.__dict__.pop(name, None)
    old._make(consumer, topics, configs)


class OldMethods:
    """The methods that only 0.9 had.

    The first call turns a `KafkaConsumer` into a 0.9 consumer with the same options. The consumer leaves its group and
    continues from its positions.
    """

    _given: tuple[tuple[Any, ...], dict[str, Any]]

    def _in_old_manner(self, name: str, *args: Any, **kwargs: Any) -> Any:
        consumer: Any = self
        topics, configs = self._given
        _old_names.of_a_package(__name__, "KafkaConsumer", _HOMES)._parse(configs)  # checks the options first
        positions = {tuple(tp): consumer.position(tp) for tp in consumer.assignment()}
        consumer.close(autocommit=False)
        switch_to_0_9(consumer, (*topics, positions), configs)
        return getattr(consumer, name)(*args, **kwargs)

    def configure(self, **configs: Any) -> None:
        """Replace all options, as in 0.9.

        Arguments:
            configs: options of 0.9 by name.
        """
        self._in_old_manner("configure", **configs)

    def set_topic_partitions(self, *topics: Any) -> None:
        """Choose the partitions and offsets to read, as in 0.9.

        Arguments:
            topics: topic names; tuples of topic and partition, or of topic, partition and offset; or dicts of these.
        """
        self._in_old_manner("set_topic_partitions", *topics)

    def fetch_messages(self) -> Iterator[Any]:
        """Fetch once and return the messages, as in 0.9."""
        messages: Iterator[Any] = self._in_old_manner("fetch_messages")
        return messages

    def get_partition_offsets(
        self, topic: str | bytes, partition: int, request_time_ms: int, max_num_offsets: int
    ) -> list[int]:
        """Look up a partition's offsets before a time, as in 0.9.

        Arguments:
            topic: the topic.
            partition: the partition number.
            request_time_ms: milliseconds since 1970; -1: the end, -2: the beginning.
            max_num_offsets: maximum number of offsets.
        """
        found: list[int] = self._in_old_manner(
            "get_partition_offsets", topic, partition, request_time_ms, max_num_offsets
        )
        return found

    def offsets(self, group: str | None = None) -> dict[Any, Any]:
        """Return the offsets to fetch next, the committed and done offsets, and the high watermarks, as in 0.9.

        Arguments:
            group: "fetch", "commit", "task_done" or "highwater", to return only that dict; None: a dict of all four by
                these names.
        """
        found: dict[Any, Any] = self._in_old_manner("offsets", group)
        return found

    def task_done(self, message: Any) -> None:
        """Mark a message as done for the next commit, as in 0.9."""
        self._in_old_manner("task_done", message)
