"""Leader epochs in a stream's checkpoint (KIP-320), which tell a log that lost its end and grew again. Pure.

They stand beside the offsets (`marks`) as ``{"topic":{"0":42,"1":7}, "topic leader epochs 0-1:5":{}}``: the epoch of
the partition's leader when the offset was planned, which is at least that of the last record before it. Checkpoints
without epochs, as those of Spark's own connector and of brokers before Kafka 2.1, tell nothing.

Where a log was cut back and the query goes on, the end of that micro-batch also says from where what came instead is
read, ``"topic cut back 0:31"``: a replay begins there, too.
"""

from collections.abc import Mapping
from typing import Any

from kafka.spark.marks import found, marked
from kafka.spark.offsets import Layout, Offsets
from kafka.structs import TopicPartition

Epochs = dict[TopicPartition, int]

_EPOCHS = "leader epochs"
_CUT_BACK = "cut back"


def with_leader_epochs(layout: Mapping[str, Any], epochs: Mapping[TopicPartition, int]) -> Layout:
    """The offsets with the leader epochs of their partitions, as far as those are known."""
    return {**layout, **marked(_EPOCHS, {each: epoch for each, epoch in epochs.items() if each.topic in layout})}


def leader_epochs(layout: Mapping[str, Any]) -> Epochs:
    """The epochs that stand beside offsets."""
    return found(_EPOCHS, layout)


def with_cut_back(layout: Mapping[str, Any], offsets: Mapping[TopicPartition, int]) -> Layout:
    """The end of a micro-batch that begins at other offsets than the one before has ended at."""
    return {**layout, **marked(_CUT_BACK, offsets)}


def cut_back(layout: Mapping[str, Any]) -> Offsets:
    """Where a micro-batch begins in the partitions whose logs were cut back, of its end."""
    return found(_CUT_BACK, layout)
