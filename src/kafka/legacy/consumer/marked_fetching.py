"""How the `KafkaConsumer` of 0.9 fetches messages."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from kafka.errors import (
    FailedPayloadsError,
    KafkaConfigurationError,
    KafkaUnavailableError,
    NotLeaderForPartitionError,
    OffsetOutOfRangeError,
    RequestTimedOutError,
    check_error,
)
from kafka.legacy.payloads import FetchRequestPayload, KafkaMessage

log = logging.getLogger("kafka.consumer.kafka")

Place = tuple[str, int]


class OffsetsStruct(NamedTuple):
    """By (topic, partition): the next offset to fetch, high watermark, committed offset, and offset marked as done."""

    fetch: dict[Place, int]
    highwater: dict[Place, int | None]
    commit: dict[Place, int | None]
    task_done: dict[Place, int | None]


class MarkedFetching:
    """The part of the consumer that fetches the chosen partitions."""

    _client: Any
    _config: dict[str, Any]
    _offsets: OffsetsStruct
    _topics: list[Place]

    def _reset_offset(self, place: Place) -> int:
        raise NotImplementedError

    def fetch_messages(self) -> Iterator[KafkaMessage]:
        """Fetch once from all partitions, and yield the messages, with values converted by ``deserializer_class``.

        Errors of a deserializer are raised, and the message is returned again later. Raises `KafkaConfigurationError`
        if no partitions are chosen, and broker errors that are not temporary.
        """
        if not self._topics:
            raise KafkaConfigurationError("No topics or partitions configured")
        self._topics = [*self._topics[1:], self._topics[0]]  # rotates the topics, for fairness
        size, fetch = self._config["fetch_message_max_bytes"], self._offsets.fetch
        answers = self._client.send_fetch_request(
            [FetchRequestPayload(*place, fetch[place], size) for place in self._topics],
            max_wait_time=self._config["fetch_wait_max_ms"],
            min_bytes=self._config["fetch_min_bytes"],
            fail_on_error=False,
        )
        for answer in answers:
            if self._is_good(answer):
                yield from self._messages_of(answer)

    def _is_good(self, answer: Any) -> bool:
        """Return whether a response contains messages; otherwise handle or raise its error."""
        if isinstance(answer, FailedPayloadsError):
            log.warning("FailedPayloadsError attempting to fetch data: %s", answer)
            self._refresh_metadata()
            return False
        place = (answer.topic, answer.partition)
        try:
            check_error(answer)
        except OffsetOutOfRangeError:
            log.warning("OffsetOutOfRange: %s-%d, offset %d", *place, self._offsets.fetch[place])
            self._offsets.fetch[place] = self._reset_offset(place)
        except NotLeaderForPartitionError:
            log.warning("NotLeaderForPartitionError for %s-%d: metadata may be out of date", *place)
            self._refresh_metadata()
        except RequestTimedOutError:
            log.warning("RequestTimedOutError for %s-%d", *place)
        else:
            return True
        return False

    def _messages_of(self, answer: Any) -> Iterator[KafkaMessage]:
        place = (answer.topic, answer.partition)
        fetch = self._offsets.fetch
        self._offsets.highwater[place] = answer.highwaterMark
        for offset, message in answer.messages:
            if offset >= fetch[place]:
                value = self._config["deserializer_class"](message.value)
                fetch[place] = offset + 1
                yield KafkaMessage(*place, offset, message.key, value)
        fetch[place] = max(fetch[place], getattr(answer.messages, "next_offset", 0))

    def _refresh_metadata(self) -> None:
        """Wait for ``refresh_leader_backoff_ms``, give or take a tenth, and refresh the metadata."""
        time.sleep(self._config["refresh_leader_backoff_ms"] / 1000 * random.uniform(0.9, 1.1))
        try:
            self._client.load_metadata_for_topics()
        except KafkaUnavailableError as error:
            log.warning("Unable to refresh topic metadata: %s", error)
