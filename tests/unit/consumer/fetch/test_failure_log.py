"""What is logged of a partition that cannot be fetched."""

from __future__ import annotations

import logging

import pytest

from kafka.consumer.buffer.partition_state import PartitionState
from kafka.consumer.fetch.response_handler import FailureLog
from kafka.errors import NotLeaderForPartitionError
from kafka.structs import TopicPartition


def lines(caplog: pytest.LogCaptureFixture, failures: int) -> list[tuple[int, str]]:
    """What so many failures in a row, and an answer after them, leave in the log."""
    caplog.set_level(logging.INFO)
    state, log = PartitionState(TopicPartition("t", 0)), FailureLog(logging.getLogger("test"))
    for number in range(failures):
        state.fetching.failures = number + 1
        log.failed(state, 7, NotLeaderForPartitionError)
    log.succeeded(state)
    assert state.fetching.failures == 0
    return [(record.levelno, record.getMessage()) for record in caplog.records]


async def test_two_failures_are_a_leader_that_moves(caplog: pytest.LogCaptureFixture) -> None:
    told = lines(caplog, 2)
    assert [level for level, _ in told] == [logging.INFO] * 2
    assert told[0][1].startswith("fetching partition 0 of topic 't' at offset 7 failed, trying again: ")


async def test_three_are_worth_a_warning_and_a_line_when_it_works_again(caplog: pytest.LogCaptureFixture) -> None:
    *_, warning, over = lines(caplog, 3)
    assert warning[0] == logging.WARNING
    assert "has failed 3 times" in warning[1]
    assert over == (logging.INFO, "fetching partition 0 of topic 't' works again")
