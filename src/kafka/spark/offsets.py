"""Offsets of a stream as Spark's checkpoint keeps them, in the layout of Spark's own connector. Pure.

The layout is ``{"topic":{"0":42}}``, so that a checkpoint moves between that connector and this one. A first batch's
end may carry its beginning (`first_batch` says when), as ``{"initial offsets of topic":{"0":40}}``, which has the shape
of the rest for whoever walks through it.
"""

from collections.abc import Mapping
from typing import Any

from kafka.errors import KafkaConfigurationError
from kafka.structs import TopicPartition

Layout = dict[str, Any]
Offsets = dict[TopicPartition, int]

_INITIAL = "initial offsets"
"""Marks, with True, a new query's first offsets. Not a legal name of a topic, as it has a blank. Checkpoints of 0.1 may
have the layout of the first offsets there, in the end of a first batch."""
_INITIAL_OF = "initial offsets of "
"""Before the name of a topic: its first offsets, in the end of the first batch."""
_LOST_OF = "lost records of "
"""Before the name of a topic: how many of its records the query has lost, beside the newest offsets in a report."""
_BYTES_OF = "log bytes of "
"""Before the name of a topic: how large the logs of its partitions are, in the same place."""


def to_layout(offsets: Mapping[TopicPartition, int]) -> Layout:
    """Offsets as a checkpoint keeps them; equal offsets give equal text."""
    layout: Layout = {}
    for topic, partition in sorted(offsets):
        layout.setdefault(topic, {})[str(partition)] = offsets[TopicPartition(topic, partition)]
    return layout


def initial_layout(offsets: Mapping[TopicPartition, int]) -> Layout:
    """A query's first offsets, as the end of its first batch carries them."""
    return {_INITIAL_OF + topic: partitions for topic, partitions in to_layout(offsets).items()}


def from_layout(layout: Mapping[str, Any], *, initial: bool = False) -> Offsets:
    """The offsets of a checkpoint; raises `KafkaConfigurationError` if it is that of another source.

    Arguments:
        initial: give the first offsets that it carries along, if any, not those that it is about.
    """
    offsets: Offsets = {}
    for key, partitions in _part(layout, initial):
        if not isinstance(partitions, dict):
            raise _foreign(layout)
        for partition, offset in partitions.items():
            if not partition.isdecimal() or not isinstance(offset, int):
                raise _foreign(layout)
            offsets[TopicPartition(key, int(partition))] = offset
    return offsets


def _part(layout: Mapping[str, Any], initial: bool) -> list[tuple[str, Any]]:
    """The topics that a layout is about with their partitions, or those of the first offsets in it."""
    if not initial:
        return [(key, value) for key, value in layout.items() if " " not in key]
    found = [(key.removeprefix(_INITIAL_OF), value) for key, value in layout.items() if key.startswith(_INITIAL_OF)]
    older = layout.get(_INITIAL)
    return found + (list(older.items()) if isinstance(older, dict) else [])


def for_report(
    newest: Mapping[TopicPartition, int],
    lost: Mapping[TopicPartition, int],
    log_bytes: Mapping[TopicPartition, int],
) -> Layout:
    """The newest offsets for a progress report, beside them records that were lost and sizes of logs, if any."""
    return {
        **to_layout(newest),
        **{_LOST_OF + topic: counts for topic, counts in to_layout(lost).items()},
        **{_BYTES_OF + topic: sizes for topic, sizes in to_layout(log_bytes).items()},
    }


def lost_records(layout: Mapping[str, Any]) -> dict[TopicPartition, int]:
    """How many records of each partition were lost, as a progress report says."""
    return _beside_offsets(layout, _LOST_OF)


def log_bytes(layout: Mapping[str, Any]) -> dict[TopicPartition, int]:
    """How large the log of each partition is, as far as a progress report says."""
    return _beside_offsets(layout, _BYTES_OF)


def _beside_offsets(layout: Mapping[str, Any], prefix: str) -> dict[TopicPartition, int]:
    return from_layout({key.removeprefix(prefix): found for key, found in layout.items() if key.startswith(prefix)})


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
