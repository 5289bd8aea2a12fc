"""What topics and partitions a program wants created, in any of the forms of kafka-python."""

from collections.abc import Iterable, Mapping
from typing import Any

from kafka.admin import arguments
from kafka.admin.new_partitions import NewPartitions
from kafka.admin.new_topic import NewTopic
from kafka.errors import IllegalArgumentError

NewTopics = Iterable[NewTopic | str] | Mapping[str, Mapping[str, Any]]

_TOPIC_KEYS = {
    "num_partitions": "num_partitions",
    "replication_factor": "replication_factor",
    "assignments": "replica_assignments",
    "configs": "topic_configs",
}


def new_topics(given: NewTopics | NewTopic) -> list[NewTopic]:
    """`NewTopic` objects from such objects, from names, or from names to dicts of what is wanted."""
    if isinstance(given, Mapping):
        return [_topic(arguments.name("new_topics", name), options) for name, options in given.items()]
    found = [given] if isinstance(given, NewTopic | str) else arguments.elements("new_topics", given)
    topics = [NewTopic(each) if isinstance(each, str) else each for each in found]
    return arguments.instances("new_topics", NewTopic, topics)


def _topic(name: str, options: object) -> NewTopic:
    wanted = arguments.mapping("new_topics", options)
    unknown = set(wanted) - set(_TOPIC_KEYS)
    if unknown:
        raise IllegalArgumentError(f"new_topics: expected {', '.join(_TOPIC_KEYS)} for {name!r}, got {unknown}")
    return NewTopic(name, **{_TOPIC_KEYS[key]: value for key, value in wanted.items()})


def new_partitions(given: Mapping[str, Any]) -> dict[str, NewPartitions]:
    """`NewPartitions` objects by topic, from such objects, from numbers, or from dicts."""
    wanted = arguments.mapping("topic_partitions", given)
    arguments.names("topic_partitions", wanted)
    return {topic: _partitions(topic, each) for topic, each in wanted.items()}


def _partitions(topic: str, given: object) -> NewPartitions:
    if isinstance(given, NewPartitions):
        return given
    if isinstance(given, Mapping):
        if "count" not in given:
            raise IllegalArgumentError(f"topic_partitions: expected a count for {topic!r}, got {given!r:.80}")
        return NewPartitions(arguments.number("topic_partitions", given["count"]), given.get("assignments"))
    if not isinstance(given, int):
        raise IllegalArgumentError(
            f"topic_partitions: expected NewPartitions objects, numbers or dicts, got {type(given).__name__}"
        )
    return NewPartitions(given)
