"""The headers of the records that pipelines write, and the position of a record in its source topic.

Each record from a query that processes rows one by one has the header `SOURCE`, so that an audit can find the input
record. A dead letter has all of these headers, after those of the original record, and the headers of Kafka Connect's
dead letter queues (KIP-298). The first of the added headers is `PIPELINE`. Headers of these names before the last
`PIPELINE` belong to the original record.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

PIPELINE = "kafka.pipeline"
"""Name of the pipeline."""
RULE = "kafka.rule"
"""Name of a rule that the row fails; repeated for each rule."""
CAUSE = "kafka.cause"
"""Why the record was rejected, as text."""
SOURCE = "kafka.source"
"""Position of the input record, as in `Position`."""
ATTEMPT = "kafka.attempt"
"""How often the record has been rejected: 1 for a new dead letter, and one more after each replay."""
TIMESTAMP = "kafka.timestamp"
"""Timestamp of the input record, in ms since 1970. The timestamp of a dead letter itself is the time at which it was
written: with an old timestamp, Kafka would soon delete it, and it rejects timestamps in the future.
"""

OWN = (PIPELINE, RULE, CAUSE, SOURCE, ATTEMPT, TIMESTAMP)
CONNECT_PREFIX = "__connect.errors."


@dataclasses.dataclass(frozen=True, slots=True, order=True)
class Position:
    """The position of an input record.

    Arguments:
        topic: the topic from which the pipeline read the record.
        partition: its partition.
        offset: its offset.
        topic_id: the id of the topic, in base64 as in Kafka's tools; empty if unknown.
    """

    topic: str
    partition: int
    offset: int
    topic_id: str = dataclasses.field(default="", compare=False)

    def __str__(self) -> str:
        text = f"{self.topic}/{self.partition}/{self.offset}"
        return f"{text}/{self.topic_id}" if self.topic_id else text


def parse_position(text: str) -> Position:
    """Parse the value of the header `SOURCE`: ``TOPIC/PARTITION/OFFSET`` or ``TOPIC/PARTITION/OFFSET/TOPIC_ID``.

    Raises `ValueError`.
    """
    parts = text.split("/", 3)
    if len(parts) < 3 or not (parts[1].isdecimal() and parts[2].isdecimal()):
        raise ValueError(f"expected TOPIC/PARTITION/OFFSET, got {text!r}")
    return Position(parts[0], int(parts[1]), int(parts[2]), parts[3] if len(parts) > 3 else "")


def added_headers(headers: Iterable[tuple[str, bytes | None]]) -> list[tuple[str, bytes | None]]:
    """Return the headers of a dead letter that the pipeline has added: the last `PIPELINE`, and those after it.

    Returns all headers if none is `PIPELINE`.
    """
    given = list(headers)
    at = [index for index, (name, value) in enumerate(given) if name == PIPELINE and value is not None]
    return given[at[-1] :] if at else given


def position_of(headers: Iterable[tuple[str, bytes | None]]) -> Position | None:
    """Return the position in the headers of a record: the last one, which the pipeline has added.

    Returns None if they contain none, or an invalid one.
    """
    for name, value in reversed(list(headers)):
        if name == SOURCE and value is not None:
            try:
                return parse_position(value.decode())
            except ValueError:
                return None
    return None
