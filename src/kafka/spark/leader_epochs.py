"""Leader epochs in a stream's checkpoint (KIP-320), which tell a log that lost its end and grew again. Pure.

They stand beside the offsets as ``{"topic":{"0":42,"1":7}, "topic leader epochs 0-1:5":{}}``: the epoch of the
partition's leader when the offset was planned, which is at least that of the last record before it. Like the ids of
topics (`topic_ids`) that is a name with blanks, and no partitions: Spark's own connector, and earlier versions of this
one, read it as nothing. Checkpoints without epochs, as those and brokers before Kafka 2.1 have them, tell nothing.

Where a log was cut back and the query goes on, the end of that micro-batch also says from where what came instead is
read, ``"topic cut back 0:31"``: a replay begins there, too.
"""

from collections.abc import Mapping
from typing import Any

from kafka.spark.offsets import Layout, Offsets
from kafka.structs import TopicPartition

Epochs = dict[TopicPartition, int]

_EPOCHS = " leader epochs "
_CUT_BACK = " cut back "


def with_leader_epochs(layout: Mapping[str, Any], epochs: Mapping[TopicPartition, int]) -> Layout:
    """The offsets with the leader epochs of their partitions, as far as those are known."""
    return {**layout, **_beside(_EPOCHS, {each: epoch for each, epoch in epochs.items() if each.topic in layout})}


def leader_epochs(layout: Mapping[str, Any]) -> Epochs:
    """The epochs that stand beside offsets."""
    return _found(_EPOCHS, layout)


def with_cut_back(layout: Mapping[str, Any], offsets: Mapping[TopicPartition, int]) -> Layout:
    """The end of a micro-batch that begins at other offsets than the one before has ended at."""
    return {**layout, **_beside(_CUT_BACK, offsets)}


def cut_back(layout: Mapping[str, Any]) -> Offsets:
    """Where a micro-batch begins in the partitions whose logs were cut back, of its end."""
    return _found(_CUT_BACK, layout)


def _beside(mark: str, values: Mapping[TopicPartition, int]) -> Layout:
    """A key for each topic, with neighbours of the same value together: "0-3:5,4:6"."""
    topics: dict[str, list[list[int]]] = {}
    for (topic, partition), value in sorted(values.items()):
        runs = topics.setdefault(topic, [])
        if runs and runs[-1][1:] == [partition - 1, value]:
            runs[-1][1] = partition
        else:
            runs.append([partition, partition, value])
    return {topic + mark + ",".join(map(_text, runs)): {} for topic, runs in topics.items()}


def _text(run: list[int]) -> str:
    first, last, value = run
    return f"{first}:{value}" if first == last else f"{first}-{last}:{value}"


def _found(mark: str, layout: Mapping[str, Any]) -> dict[TopicPartition, int]:
    found: dict[TopicPartition, int] = {}
    for topic, marked, runs in (key.partition(mark) for key in layout):
        for partitions, _, value in (run.partition(":") for run in runs.split(",") if marked):
            first, _, last = partitions.partition("-")
            found |= {TopicPartition(topic, number): int(value) for number in range(int(first), int(last or first) + 1)}
    return found
