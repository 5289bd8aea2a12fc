"""What is given to commits and look-ups, at its bounds."""

from __future__ import annotations

from typing import Any

import pytest

from kafka.coordinator.offset_arguments import check_offsets, check_partition, whole_number
from kafka.errors import IllegalArgumentError
from kafka.structs import OffsetAndMetadata, TopicPartition

TP = TopicPartition("t", 0)


@pytest.mark.parametrize(("number", "expected"), [(-1, None), (0, 0), (7, 7), (9, 9), (10, None), (1.0, None)])
def test_a_whole_number_must_be_within_both_bounds(number: Any, expected: int | None) -> None:
    assert whole_number(number, 0, 9) == expected


@pytest.mark.parametrize("number", [0, 2**31 - 1])
def test_a_valid_partition_is_returned_unchanged(number: int) -> None:
    partition = TopicPartition("t", number)
    assert check_partition(partition) is partition


@pytest.mark.parametrize("given", [("t", 0), TopicPartition("t", True)])
def test_tuples_equal_to_a_partition_are_converted(given: Any) -> None:
    checked = check_partition(given)
    assert type(checked) is TopicPartition
    assert type(checked.partition) is int
    assert checked == TopicPartition("t", int(given[1]))


@pytest.mark.parametrize("text", ["m" * (2**15 - 1), "é" * (2**14 - 1)])
def test_metadata_of_a_commit_have_as_many_bytes_as_any_broker_reads(text: str) -> None:
    (taken,) = check_offsets({TP: OffsetAndMetadata(0, text)}).values()
    assert taken.metadata == text
    with pytest.raises(IllegalArgumentError, match="32767 are allowed"):
        check_offsets({TP: OffsetAndMetadata(0, text + "mm")})


@pytest.mark.parametrize("offset", [0, 2**63 - 1])
@pytest.mark.parametrize("epoch", [None, 0, 2**31 - 1])
def test_offsets_and_epochs_reach_to_their_bounds(offset: int, epoch: int | None) -> None:
    (taken,) = check_offsets({TP: OffsetAndMetadata(offset, "", epoch)}).values()
    assert (taken.offset, taken.leader_epoch) == (offset, epoch)
