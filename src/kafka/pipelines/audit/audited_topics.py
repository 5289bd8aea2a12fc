"""Checks that the topics of a pipeline exist, before an audit starts Spark.

A misspelt topic would otherwise end the audit only after the session has started. Change here what an audit requires of
the cluster.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from kafka.config.option import nearest
from kafka.errors import IllegalArgumentError, UnknownTopicOrPartitionError
from kafka.pipelines.client_configs import client_configs
from kafka.pipelines.declaration import Declaration
from kafka.pipelines.source_rows import by_topic
from kafka.structs import TopicPartition


def check_topics(declaration: Declaration, partitions: Sequence[TopicPartition] = ()) -> None:
    """Check that the topics of the sources and of the sink exist, and that the pipeline reads some partitions.

    Arguments:
        declaration: the pipeline.
        partitions: the partitions of the sources to audit.

    Raises `UnknownTopicOrPartitionError` for a topic or partition that does not exist, `IllegalArgumentError` for a
    partition that the pipeline does not read, and other `KafkaError`s if the cluster does not respond.
    """
    from kafka import KafkaAdminClient

    with KafkaAdminClient(**client_configs(declaration, "admin")) as admin:
        known = admin.list_topics()
        for key, topic in _named(declaration):
            if topic not in known:
                raise UnknownTopicOrPartitionError(f"{key}: there is no topic {topic!r}{nearest(topic, sorted(known))}")
        chosen = sorted({tp.topic for tp in partitions})
        for topic in chosen:
            _check_read(declaration, topic, known)
        there = {each["name"]: len(each["partitions"]) for each in admin.describe_topics(chosen)} if chosen else {}
    for tp in partitions:
        if tp.partition >= there[tp.topic]:
            has = "only partition 0" if there[tp.topic] == 1 else f"the partitions 0 to {there[tp.topic] - 1}"
            raise UnknownTopicOrPartitionError(f"topic {tp.topic!r} has {has}, but not {tp.partition}")


def _named(declaration: Declaration) -> Iterator[tuple[str, str]]:
    """Yield the key and the name of each topic that the pipeline needs; topics of patterns are left out."""
    for name, source in declaration.all_sources.items():
        for topic in source.topics or (source.topic,):
            if topic is not None:
                yield ("source" if len(declaration.all_sources) == 1 else f"sources.{name}"), topic
    if declaration.topic_sink is not None:
        yield "sink", declaration.topic_sink.topic


def _check_read(declaration: Declaration, topic: str, known: Collection[str]) -> None:
    """Raise `IllegalArgumentError` unless a source of the pipeline reads a topic that exists."""
    sources = declaration.all_sources
    if topic in known and by_topic(sources, topic) is not None:
        return
    read = sorted(each for each in known if by_topic(sources, each) is not None)
    hint = nearest(topic, read) or f"; it reads {', '.join(read)}"
    raise IllegalArgumentError(f"pipeline {declaration.pipeline} does not read topic {topic!r}{hint}")
