"""What brokers answer to ListOffsets in tests: ends of logs, errors, silence."""

from __future__ import annotations

from typing import Any

from fakes.cluster import SILENCE, Call
from kafka.consumer.position.special_timestamps import EARLIEST, LATEST
from kafka.wire.api.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)


class LogEnds:
    """Answers ListOffsets: 0 for EARLIEST, 100 for LATEST, the time itself otherwise.

    Attributes:
        errors: partition to the codes, or exceptions, that are answered first; a code that is not in a list stays.
        after_all: a time after which there is no record.
        silent: ids of brokers that do not answer.
        asked: node and partitions of each request.
    """

    def __init__(self) -> None:
        self.errors: dict[int, Any] = {}
        self.after_all = 2**62
        self.silent: set[int] = set()
        self.asked: list[tuple[int, list[int]]] = []

    def __call__(self, call: Call) -> Any:
        topic = call.request.topics[0]
        self.asked.append((call.node_id, [each.partition_index for each in topic.partitions]))
        if call.node_id in self.silent:
            return SILENCE
        answers = []
        for asked in topic.partitions:
            error = self.errors.get(asked.partition_index, 0)
            if isinstance(error, list):
                error = error.pop(0) if error else 0
            if isinstance(error, BaseException):
                return error
            offset = {EARLIEST: 0, LATEST: 100}.get(asked.timestamp, asked.timestamp)
            if asked.timestamp > self.after_all:
                offset = -1
            if call.version == 0:
                answers.append(
                    ListOffsetsPartitionResponse(partition_index=asked.partition_index, old_style_offsets=[offset])
                )
                continue
            answers.append(
                ListOffsetsPartitionResponse(
                    partition_index=asked.partition_index,
                    error_code=error,
                    offset=-1 if error else offset,
                    timestamp=-1 if error else offset + 1,
                )
            )
        return ListOffsetsResponse(topics=[ListOffsetsTopicResponse(name=topic.name, partitions=answers)])
