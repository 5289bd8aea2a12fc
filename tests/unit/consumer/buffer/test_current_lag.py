"""A consumer's lag in a partition, from what the last fetch told."""

from __future__ import annotations

import pytest

from kafka.consumer.buffer.partition_state import FetchPosition, PartitionState, current_lag
from kafka.structs import TopicPartition


@pytest.mark.parametrize(
    ("position", "end", "stable", "read_committed", "lag"),
    [
        (None, 10, 10, False, None),
        (3, None, None, False, None),
        (3, 10, 8, False, 7),
        (3, 10, 8, True, 5),
        (3, 10, -1, True, 7),
        (3, 10, None, True, 7),
        (12, 10, 10, False, 0),
    ],
)
def test_the_lag_is_known_once_position_and_end_are(
    position: int | None, end: int | None, stable: int | None, read_committed: bool, lag: int | None
) -> None:
    state = PartitionState(TopicPartition("t", 0))
    state.go_to(None if position is None else FetchPosition(position, -1))
    state.fetching.highwater, state.fetching.last_stable_offset = end, stable
    assert current_lag(state, read_committed) == lag
