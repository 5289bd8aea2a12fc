"""Offsets of a stream as Spark's checkpoint keeps them, in the layout of Spark's own connector. Pure.

The layout is ``{"topic":{"0":42}}``, so that a checkpoint moves between that connector and this one. A stream's very
first offsets are looked up when the query is new, and Spark does not keep them: it asks again after a crash, when
``latest`` means something else. So they travel in the end offsets of batch 0, under a key that no topic can have.
"""

from collections.abc import Mapping
from typing import Any

from kafka.errors import KafkaConfigurationError
from kafka.structs import TopicPartition

Layout = dict[str, Any]
Offsets = dict[TopicPartition, int]

_INITIAL = "initial offsets"
"""Not a legal name of a topic, as it has a blank. True marks initial offsets; a layout is theirs, kept in an end."""


def to_layout(offsets: Mapping[TopicPartition, int]) -> Layout:
    """Offsets as a checkpoint keeps them; equal offsets give equal text."""
    layout: Layout = {}
    for topic, partition in sorted(offsets):
        layout.setdefault(topic, {})[str(partition)] = offsets[TopicPartition(topic, partition)]
    return layout


def from_layout(layout: Mapping[str, Any]) -> Offsets:
    """The offsets of a checkpoint; raises `KafkaConfigurationError` if it is that of another source."""
    offsets: Offsets = {}
    for topic, partitions in layout.items():
        if topic == _INITIAL:
            continue
        if not isinstance(partitions, dict):
            raise _foreign(layout)
        for partition, offset in partitions.items():
            if not partition.isdecimal() or not isinstance(offset, int):
                raise _foreign(layout)
            offsets[TopicPartition(topic, int(partition))] = offset
    return offsets


def _foreign(layout: Mapping[str, Any]) -> KafkaConfigurationError:
    return KafkaConfigurationError(
        'the checkpoint holds offsets that are not those of a Kafka source: expected {"topic":{"0":42}}, not '
        f"{dict(layout)!r}; use another checkpointLocation"
    )


def mark_initial(offsets: Mapping[TopicPartition, int]) -> Layout:
    """The layout of a new query's first offsets."""
    return {**to_layout(offsets), _INITIAL: True}


def is_initial(layout: Mapping[str, Any]) -> bool:
    """Whether these are a new query's first offsets."""
    return layout.get(_INITIAL) is True


def carry_initial(start: Mapping[str, Any], end: Mapping[TopicPartition, int]) -> Layout:
    """The end of the batch that begins at ``start``, with ``start`` in it if that is the first of all."""
    layout = to_layout(end)
    if is_initial(start):
        layout[_INITIAL] = to_layout(from_layout(start))
    return layout


def true_start(start: Mapping[str, Any], end: Mapping[str, Any]) -> Offsets:
    """Where the batch that ends at ``end`` begins: what ``end`` carries, else ``start``."""
    carried = end.get(_INITIAL)
    return from_layout(carried if isinstance(carried, dict) else start)
