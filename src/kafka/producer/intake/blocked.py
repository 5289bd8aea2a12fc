"""Why a record cannot be taken right now; the faces wait as their kind allows, and try again."""

from __future__ import annotations

from kafka.producer.intake.checks import PreparedRecord


class Blocked(Exception):  # not an error: it never leaves the producer
    """The record has to wait."""


class NeedsTopic(Blocked):
    """The topic is not known yet, or not the partition that was asked for."""

    def __init__(self, topic: str, partition: int | None) -> None:
        self.topic = topic
        self.partition = partition


class PartitionGone(Blocked):
    """The topic was made again since the partition was chosen: the choice has to be made again too."""


class NeedsMemory(Blocked):
    """All of `buffer_memory` is taken.

    Arguments:
        amount: bytes that have to be free.
        record: the record that waits.
    """

    def __init__(self, amount: int, record: PreparedRecord) -> None:
        self.amount = amount
        self.record = record
