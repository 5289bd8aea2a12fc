"""The driver's decisions, stored as text in a group's offsets, and the names for a `transactionalIdPrefix`. Pure.

The offset is the number of the micro-batch, so that Kafka's own tools show the progress of a query.

A transactional id belongs to one worker process, never to a task. If Spark has abandoned a task that is still running
somewhere, that task uses the id of another process, so it cannot fence the task that replaces it.
"""

import dataclasses
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kafka.producer.transactions import TransactionIdentity

BATCH_WRITE = "a batch write"
"""The query id of writes that do not belong to a query."""
PART_CHARACTERS = 3_500
"""Maximum length of one offset's metadata: brokers accept 4,096 bytes (offset.metadata.max.bytes)."""
DECIDED = "decided"
"""Metadata of the offset of a batch write that has been decided, but may not be completely committed."""
FINISHED = "committed"
"""Metadata of the offset of a batch write that is completely committed."""
_LAYOUT = 1


class IncompleteError(ValueError):
    """Parts of a decision are missing, or belong to another decision."""


@dataclasses.dataclass(frozen=True, slots=True)
class Written:
    """A transaction that contains rows of a batch.

    Arguments:
        transaction: the identity of the transaction.
        partitions: the numbers of the partitions that the transaction has written to, by topic.
    """

    transaction: "TransactionIdentity"
    partitions: Mapping[str, Sequence[int]]

    def __str__(self) -> str:
        listed = ", ".join(f"{topic}-[{ranges(numbers)}]" for topic, numbers in sorted(self.partitions.items()))
        return f"{self.transaction.transactional_id} ({listed})"


@dataclasses.dataclass(frozen=True, slots=True)
class Decision:
    """A committed batch.

    Arguments:
        query: the id of the query; `BATCH_WRITE` if there is none.
        run: the id of the query's run, or of the batch write.
        batch: the number of the micro-batch; 0 for a batch write.
        checkpoint: the location of the query's checkpoint, if the sink knows it; otherwise "".
        rows: number of rows.
        written: the transactions to commit.
    """

    query: str
    run: str
    batch: int
    checkpoint: str
    rows: int
    written: tuple[Written, ...]

    @property
    def topics(self) -> list[str]:
        """The topics that the batch has written to."""
        return sorted({topic for each in self.written for topic in each.partitions})


def to_parts(decision: Decision, prefix: str) -> list[str]:
    """Split a decision into strings that are short enough for the metadata of an offset."""
    topics = decision.topics
    slots = [
        [
            slot_of(prefix, each.transaction.transactional_id),
            *each.transaction[1:],
            {topics.index(topic): ranges(numbers) for topic, numbers in each.partitions.items()},
        ]
        for each in decision.written
    ]
    content = [decision.query, decision.run, decision.batch, decision.checkpoint, decision.rows, topics, slots]
    text = json.dumps(content, separators=(",", ":"))
    parts = [text[at : at + PART_CHARACTERS] for at in range(0, len(text), PART_CHARACTERS)]
    return [f"{_LAYOUT}/{len(parts)}/{part}" for part in parts]


def parts_in(first: str) -> int:
    """Return the total number of parts, as the first part states. Raises `ValueError` if the string is not a part."""
    found = re.match(r"(\d+)/(\d+)/", first)
    if found is None or int(found[1]) != _LAYOUT:
        raise ValueError(f"{first[:40]!r} is not a decision of this version")
    return int(found[2])


def from_parts(parts: Sequence[str], prefix: str) -> Decision:
    """Join the strings from `to_parts` into a decision.

    Raises `IncompleteError` unless the strings are exactly the parts of one decision.
    """
    from kafka.producer.transactions import TransactionIdentity  # slow import, not needed for the names

    count = parts_in(parts[0])
    if len(parts) < count:
        raise IncompleteError(f"only {len(parts)} of its {count} parts exist")
    try:
        if {parts_in(part) for part in parts} != {count}:
            raise ValueError("its parts contain different counts")
        query, run, batch, checkpoint, rows, topics, slots = json.loads("".join(p.split("/", 2)[2] for p in parts))
        written = tuple(
            Written(
                TransactionIdentity(task_id(prefix, slot), producer_id, epoch, version),
                {topics[int(index)]: numbers_in(text) for index, text in partitions.items()},
            )
            for slot, producer_id, epoch, version, partitions in slots
        )
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise IncompleteError(f"its {count} parts do not belong together: {error}") from error
    return Decision(query, run, batch, checkpoint, rows, written)


def ranges(numbers: Iterable[int]) -> str:
    """Format numbers as short text, such as "0-3,7"."""
    texts: list[str] = []
    first = last = -2
    for number in [*sorted(set(numbers)), -2]:
        if number == last + 1:
            last = number
            continue
        if first >= 0:
            texts.append(str(first) if first == last else f"{first}-{last}")
        first = last = number
    return ",".join(texts)


def numbers_in(text: str) -> tuple[int, ...]:
    """Parse the text of `ranges`."""
    numbers: list[int] = []
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        numbers += range(int(first), int(last or first) + 1)
    return tuple(numbers)


def driver_id(prefix: str) -> str:
    """Return the transactional id of the driver, which drivers use to fence each other."""
    return f"{prefix}-driver"


def decision_group(prefix: str, part: int) -> str:
    """Return the group whose offset stores a part of the decision; long decisions need several groups."""
    return f"{prefix}-decision" + (f".{part}" if part else "")


def is_decision(group: str, metadata: str | None) -> bool:
    """Return whether a group's offset stores a decision of this sink, which is a batch number, not a position.

    Groups of batch writes (`batch_group`) remain after the write, because they keep it from being repeated.
    """
    if metadata in (DECIDED, FINISHED):
        return "-batch-" in group
    return re.search(r"-decision(\.\d+)?$", group) is not None and re.match(r"\d+/\d+/", metadata or "") is not None


def batch_group(prefix: str, batch_id: str) -> str:
    """Return the group that records a batch write with a `transactionalBatchId`."""
    return f"{prefix}-batch-{batch_id}"


def task_id(prefix: str, slot: str) -> str:
    """Return the transactional id for a slot, which identifies a worker process and a number within the process."""
    return f"{prefix}-{slot}"


def slot_of(prefix: str, transactional_id: str) -> str | None:
    """Return the slot of a task's transactional id; None if the id has another prefix or does not belong to a task."""
    found = re.fullmatch(re.escape(prefix) + r"-([0-9a-f]{10}\.[0-9]+)", transactional_id)
    return found[1] if found else None
