"""Ids of topics in a stream's checkpoint, which tell a topic that was deleted and made again from the one before. Pure.

They stand beside the offsets as ``{"topic":{"0":42}, "topic id Zm9v...":{}}``: a name with blanks, which no topic can
have, and no partitions. Spark's own connector reads that as nothing, so a checkpoint still moves between both; the one
that it writes has no ids, as have those of brokers before Kafka 2.8, and then nothing is told.
"""

from collections.abc import Mapping
from typing import Any

from kafka.spark.offsets import Layout
from kafka.structs import is_another_topic

_MARK = " id "


def with_topic_ids(layout: Mapping[str, Any], ids: Mapping[str, str]) -> Layout:
    """The offsets with the ids of their topics, as far as those are known."""
    return {**layout, **{f"{topic}{_MARK}{ids[topic]}": {} for topic in sorted(ids.keys() & layout.keys())}}


def topic_ids(layout: Mapping[str, Any]) -> dict[str, str]:
    """The ids that stand beside offsets, by topic."""
    return {topic: found for topic, mark, found in (key.partition(_MARK) for key in layout) if mark}


def made_again(before: Mapping[str, str], now: Mapping[str, str]) -> set[str]:
    """The topics that have another id now; one whose id is not known at both times is not told to be among them."""
    return {topic for topic, found in now.items() if is_another_topic(before.get(topic), found)}
