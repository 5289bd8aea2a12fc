"""What `committed()` returns is the number, and what was committed with it."""

from __future__ import annotations

import copy
import pickle

import pytest

from kafka.consumer.commit.commit_future import CommittedOffset
from kafka.structs import OffsetAndMetadata


def test_an_epoch_that_is_not_known_is_minus_1_and_no_metadata_are_empty_ones() -> None:
    unknown = CommittedOffset(OffsetAndMetadata(5, "", None))
    assert unknown == OffsetAndMetadata(5, "", -1)
    assert unknown == OffsetAndMetadata(5, "", None)
    known = CommittedOffset(OffsetAndMetadata(5, "", -1))
    assert known == OffsetAndMetadata(5, "", None)
    assert unknown != OffsetAndMetadata(5, "", -2)


@pytest.mark.parametrize("other", [(6, "m", 2), (5, "n", 2), (5, "m", 3), (5, "", 2), (5, "m", None)])
def test_each_field_counts(other: tuple[int, str, int | None]) -> None:
    committed = CommittedOffset(OffsetAndMetadata(5, "m", 2))
    assert committed == OffsetAndMetadata(5, "m", 2)
    assert committed != OffsetAndMetadata(*other)
    assert not committed == OffsetAndMetadata(*other)  # noqa: SIM201  # both ways of comparing


def test_it_compares_with_numbers_and_with_nothing_else() -> None:
    committed = CommittedOffset(OffsetAndMetadata(5, "m", 2))
    assert committed == 5
    assert committed != 6
    assert committed != "5"
    assert committed in {5}
    assert list(committed) == [5, "m", 2]


def test_offset_0_is_true_as_it_is_no_absence() -> None:
    assert CommittedOffset(OffsetAndMetadata(0, "", None))


def test_copies_have_the_same_fields() -> None:
    committed = CommittedOffset(OffsetAndMetadata(5, "m", 2))
    for made in (copy.copy(committed), pickle.loads(pickle.dumps(committed))):
        assert (made, made.offset, made.metadata, made.leader_epoch) == (5, 5, "m", 2)
