"""The forms in which topics and partitions were given to the `KafkaConsumer` of 0.9."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from kafka.errors import KafkaConfigurationError
from kafka.legacy.simple.apis import text


class Chosen(NamedTuple):
    """Something to read.

    Attributes:
        topic: the topic.
        partition: its partition; None for all of them.
        offset: where to begin; None if it is not told.
    """

    topic: str
    partition: Any = None
    offset: int | None = None


def chosen_by(given: Any) -> Iterator[Chosen]:
    """Read an argument: a topic's name, a pair or triple, or a dict of either.

    Raises `KafkaConfigurationError` for anything else.
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
            f"Unknown topic type ({key!r}: {value!r}): a dict holds numbers of partitions by topic, or offsets by "
            "(topic, partition)"
        )
