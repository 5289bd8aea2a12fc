"""Numbers of partitions that stand beside offsets in a checkpoint. Pure.

They are keys without partitions, such as ``"topic leader epochs 0-1:5": {}``: names with blanks, which no topic can
have. Spark's own connector, and earlier versions of this one, read them as nothing.
"""

from collections.abc import Mapping
from typing import Any

from kafka.spark.offsets import Layout
from kafka.structs import TopicPartition


def marked(mark: str, values: Mapping[TopicPartition, int]) -> Layout:
    """A key for each topic, with neighbours of the same value together: "topic MARK 0-3:5,4:6"."""
    topics: dict[str, list[list[int]]] = {}
    for (topic, partition), value in sorted(values.items()):
        runs = topics.setdefault(topic, [])
        if runs and runs[-1][1:] == [partition - 1, value]:
            runs[-1][1] = partition
        else:
            runs.append([partition, partition, value])
    return {f"{topic} {mark} {','.join(map(_text, runs))}": {} for topic, runs in topics.items()}


def _text(run: list[int]) -> str:
    first, last, value = run
    return f"{first}:{value}" if first == last else f"{first}-{last}:{value}"


def found(mark: str, layout: Mapping[str, Any]) -> dict[TopicPartition, int]:
    """The numbers that stand beside offsets under a mark."""
    numbers: dict[TopicPartition, int] = {}
    for topic, is_marked, runs in (key.partition(f" {mark} ") for key in layout):
        for partitions, _, value in (run.partition(":") for run in runs.split(",") if is_marked):
            first, _, last = partitions.partition("-")
            both = range(int(first), int(last or first) + 1)
            numbers |= {TopicPartition(topic, partition): int(value) for partition in both}
    return numbers
