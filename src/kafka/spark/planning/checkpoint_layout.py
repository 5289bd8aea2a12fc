"""The offsets of a stream in Spark's checkpoint, and the data stored next to them. Pure.

The layout is that of Spark's own connector, ``{"topic":{"0":42}}``, so that a query can be moved between that connector
and this one with its checkpoint. Other keys contain spaces, which topic names cannot contain. Spark's connector and
earlier versions of this one ignore them:

- ``"initial offsets of topic":{"0":40}``: the start of a first batch, stored in the batch's end offset if necessary
  (`stream_plan.first_end`).
- ``"topic id Zm9v...":{}``: the id of a topic, which distinguishes it from a deleted topic of the same name. Brokers
  before Kafka 2.8 do not support ids.
- ``"topic leader epochs 0-1:5":{}``: the leader epochs of the partitions (KIP-320) at the time when the offsets were
  planned. An epoch is at least that of the last record before the offset, and reveals whether a log has lost its end
  and grown again. Brokers before Kafka 2.1 do not support epochs.
- ``"topic cut back 0:31":{}``: if such a log was truncated and the query continues, this is the offset at which the
  micro-batch starts to read the new records. It is stored in the micro-batch's end offset. A replay starts at the same
  offset.
- ``"topic waits up to 0:650":{}`` and ``"planned at 1790000000000":{}``: the backlog after a micro-batch. PySpark
  before 4.2 ends a query with `Trigger.AvailableNow` after one micro-batch, so `run_available` starts more queries for
  the remaining offsets. They must all end where the logs ended when the first micro-batch was planned: here, partition
  0 had offsets up to 650.

Ids and epochs are unknown if the checkpoint does not contain them, for example because Spark's own connector wrote it.
"""

from collections.abc import Mapping
from typing import Any

from kafka.errors import KafkaConfigurationError
from kafka.structs import TopicPartition, is_another_topic

Layout = dict[str, Any]
Offsets = dict[TopicPartition, int]

_INITIAL = "initial offsets"
"""With the value True, this key marks a new query's first offsets. It contains a space, so it is not a topic name. In
checkpoints of version 0.1, the end of a first batch may contain the layout of the first offsets under this key.
"""
_INITIAL_OF = "initial offsets of "
"""First part of the key for a topic's first offsets, followed by the topic's name.

The end offset of the first batch contains the key.
"""
_LOST_OF = "lost records of "
"""First part of the key for a topic's numbers of lost records, followed by the topic's name.

Reports contain the key next to the newest offsets.
"""
_BYTES_OF = "log bytes of "
"""First part of the key for a topic's log sizes, followed by the topic's name.

Reports contain the key next to the newest offsets.
"""


def to_layout(offsets: Mapping[TopicPartition, int]) -> Layout:
    """Return offsets in the layout of a checkpoint. Equal offsets also result in equal text."""
    layout: Layout = {}
    for topic, partition in sorted(offsets):
        layout.setdefault(topic, {})[str(partition)] = offsets[TopicPartition(topic, partition)]
    return layout


def initial_layout(offsets: Mapping[TopicPartition, int]) -> Layout:
    """Return a query's first offsets in the layout for the end offset of its first batch."""
    return {_INITIAL_OF + topic: partitions for topic, partitions in to_layout(offsets).items()}


def from_layout(layout: Mapping[str, Any], *, initial: bool = False) -> Offsets:
    """Return the offsets in a checkpoint. Raises `KafkaConfigurationError` if the checkpoint belongs to another source.

    Arguments:
        layout: the stored offsets.
        initial: whether to return the first offsets that the end of a first batch contains, if any, instead of the end.
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
    """Return a layout's topics with their partitions, or those in the first offsets that the layout contains."""
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
    """Return the newest offsets for a progress report, with the numbers of lost records and the log sizes, if known."""
    return {
        **to_layout(newest),
        **{_LOST_OF + topic: counts for topic, counts in to_layout(lost).items()},
        **{_BYTES_OF + topic: sizes for topic, sizes in to_layout(log_bytes).items()},
    }


def lost_records(layout: Mapping[str, Any]) -> dict[TopicPartition, int]:
    """Return the number of lost records of each partition, from a progress report."""
    return _beside_offsets(layout, _LOST_OF)


def log_bytes(layout: Mapping[str, Any]) -> dict[TopicPartition, int]:
    """Return the size of each partition's log, if the progress report contains it."""
    return _beside_offsets(layout, _BYTES_OF)


def _beside_offsets(layout: Mapping[str, Any], prefix: str) -> dict[TopicPartition, int]:
    return from_layout({key.removeprefix(prefix): found for key, found in layout.items() if key.startswith(prefix)})


def _foreign(layout: Mapping[str, Any]) -> KafkaConfigurationError:
    return KafkaConfigurationError(
        'the checkpoint holds offsets that are not those of a Kafka source: expected {"topic":{"0":42}}, not '
        f"{dict(layout)!r}; use another checkpointLocation"
    )


def mark_initial(offsets: Mapping[TopicPartition, int]) -> Layout:
    """Return the layout of a new query's first offsets."""
    return {**to_layout(offsets), _INITIAL: True}


def is_initial(layout: Mapping[str, Any]) -> bool:
    """Return whether these are a new query's first offsets."""
    return layout.get(_INITIAL) is True


def marked(mark: str, values: Mapping[TopicPartition, int]) -> Layout:
    """Return a key for each topic, with consecutive partitions of the same value combined: "topic MARK 0-3:5,4:6"."""
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
    """Return the numbers stored next to offsets under a mark."""
    numbers: dict[TopicPartition, int] = {}
    for topic, is_marked, runs in (key.partition(f" {mark} ") for key in layout):
        for partitions, _, value in (run.partition(":") for run in runs.split(",") if is_marked):
            first, _, last = partitions.partition("-")
            both = range(int(first), int(last or first) + 1)
            numbers |= {TopicPartition(topic, partition): int(value) for partition in both}
    return numbers


_MARK = " id "


def with_topic_ids(layout: Mapping[str, Any], ids: Mapping[str, str]) -> Layout:
    """Add the known topic ids to the offsets."""
    return {**layout, **{f"{topic}{_MARK}{ids[topic]}": {} for topic in sorted(ids.keys() & layout.keys())}}


def topic_ids(layout: Mapping[str, Any]) -> dict[str, str]:
    """Return the topic ids stored next to offsets, by topic."""
    return {topic: found for topic, mark, found in (key.partition(_MARK) for key in layout) if mark}


def recreated_topics(before: Mapping[str, str], now: Mapping[str, str]) -> set[str]:
    """Return the topics whose id has changed, except those whose old or new id is unknown."""
    return {topic for topic, found in now.items() if is_another_topic(before.get(topic), found)}


Epochs = dict[TopicPartition, int]

_EPOCHS = "leader epochs"
_CUT_BACK = "cut back"


def with_leader_epochs(layout: Mapping[str, Any], epochs: Mapping[TopicPartition, int]) -> Layout:
    """Add the known leader epochs of partitions to the offsets."""
    return {**layout, **marked(_EPOCHS, {each: epoch for each, epoch in epochs.items() if each.topic in layout})}


def leader_epochs(layout: Mapping[str, Any]) -> Epochs:
    """Return the leader epochs stored next to offsets."""
    return found(_EPOCHS, layout)


def with_truncations(layout: Mapping[str, Any], offsets: Mapping[TopicPartition, int]) -> Layout:
    """Add the offsets at which a micro-batch starts in truncated logs to the micro-batch's end offset."""
    return {**layout, **marked(_CUT_BACK, offsets)}


def truncations(layout: Mapping[str, Any]) -> Offsets:
    """Return the offsets at which a micro-batch starts in truncated logs, which are stored in its end offset."""
    return found(_CUT_BACK, layout)


_WAITS = "waits up to"
_PLANNED = "planned at "


def with_backlog(
    layout: Mapping[str, Any], end: Offsets, newest: Mapping[TopicPartition, int], planned_ms: int
) -> Layout:
    """Add the backlog after a micro-batch to the end of the micro-batch.

    Arguments:
        layout: the end.
        end: the offsets in it.
        newest: the offsets up to which the query must read, determined at ``planned_ms``.
    """
    waiting = {each: offset for each, offset in newest.items() if offset > end.get(each, 0)}
    return {**layout, **marked(_WAITS, waiting), f"{_PLANNED}{planned_ms}": {}}


def backlog(layout: Mapping[str, Any]) -> Offsets:
    """Return the ends of the logs that a micro-batch did not read completely."""
    return found(_WAITS, layout)


def planned_ms(layout: Mapping[str, Any]) -> int | None:
    """Return the time when `backlog` was determined, in milliseconds since 1970; None if it has not been determined."""
    return next((int(key.removeprefix(_PLANNED)) for key in layout if key.startswith(_PLANNED)), None)


def goal(begin: Offsets, waiting: Offsets, known: Offsets, newest: Offsets) -> Offsets:
    """Return the offsets up to which the query must read before it looks for newer ones; {} if it has reached them.

    Arguments:
        begin: the start of the next micro-batch, without new partitions.
        waiting: the backlog in the checkpoint.
        known: the same as ``begin``, with new partitions.
        newest: the current ends of the logs, which may have been truncated.
    """
    wanted = {each: min(offset, newest[each]) for each, offset in waiting.items() if each in newest}
    if all(offset <= known[each] for each, offset in wanted.items()):
        return {}
    return {each: max(known[each], wanted.get(each, 0)) for each in begin.keys() | wanted.keys() if each in newest}


class Backlog:
    """Limits a planner's first micro-batch to the backlog in the checkpoint, and adds the backlog to each end."""

    def __init__(self) -> None:
        self._is_first = True
        self._newest: Offsets = {}
        self._planned_ms: int | None = None

    def bound(
        self, start: Mapping[str, Any], begin: Offsets, known: Offsets, end: Offsets, newest: Offsets, now_ms: int
    ) -> Offsets:
        """Return the maximum end of a micro-batch, before limits apply.

        Arguments:
            start: the start of the micro-batch, as in the checkpoint.
            begin: the offsets in ``start``.
            known: the same offsets, including partitions that are new to the query.
            end: the ends of the logs of these partitions.
            newest: the ends of all logs.
            now_ms: the current time in milliseconds since 1970.
        """
        wanted = goal(begin, backlog(start), known, end) if self._is_first else {}
        self._is_first = False
        self._newest = wanted or newest
        self._planned_ms = planned_ms(start) if wanted else now_ms
        return wanted or end

    def beside(self, layout: Layout, end: Offsets) -> Layout:
        """Return the end of the micro-batch, with the remaining backlog if that has been determined."""
        return layout if self._planned_ms is None else with_backlog(layout, end, self._newest, self._planned_ms)
