"""What the log says of offsets that a partition does not have (any more)."""

from __future__ import annotations

import asyncio

import pytest

from kafka.consumer.position.truncation import OutOfRangeLog
from kafka.structs import TopicPartition
from unit.virtual_loop import simulate

TP = TopicPartition("t", 3)


def test_the_range_that_is_left_out_is_in_the_line(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        said = OutOfRangeLog()
        said.begin(TP, 10)
        said.found(TP, 25)
        said.found(TP, 30)  # a position that was looked up for another reason

    simulate(scenario)
    assert [record.getMessage() for record in caplog.records] == [
        "partition 3 of topic 't' has no offset 10: reading continues at 25; offsets 10 to 24 are skipped"
    ]


def test_truncated_and_trimmed_logs_are_distinguished(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        said = OutOfRangeLog()
        said.begin(TP, 50)
        said.found(TP, 0)

    simulate(scenario)
    assert "has no offset 50: reading continues at 0; records from there on may have been read before" in caplog.text


def test_one_line_in_thirty_seconds(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        said = OutOfRangeLog()
        for _ in range(100):
            said.begin(TP, 50)
            said.found(TP, 0)
            await asyncio.sleep(0.35)

    simulate(scenario)
    assert len(caplog.records) == 2
