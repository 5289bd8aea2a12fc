"""Rows sorted by what they are assigned to: in their order, and never outside the memory there is."""

from __future__ import annotations

from array import array

import pytest

from kafka.record.partition_rows import fill_round_robin, group_rows, row_numbers


def grouped(assigned: list[int], rows: list[int], groups: int) -> list[list[int]]:
    return [view.tolist() for view in group_rows(array("i", assigned), array("i", rows), groups)]


def test_rows_keep_their_order_within_a_group() -> None:
    assert grouped([1, 0, 1, 2, 0], [0, 1, 2, 3, 4], 4) == [[1, 4], [0, 2], [3], []]
    assert grouped([1, 0, 1, 2, 0], [4, 2, 1, 2], 3) == [[4, 1], [2, 2], []]


def test_empty_groups_get_no_rows() -> None:
    assert grouped([], [], 2) == [[], []]
    assert grouped([], [], 0) == []
    assert grouped([0, 1], [], 2) == [[], []]


@pytest.mark.parametrize("row", [-1, 3, 4, 2**31 - 1, -(2**31)])
def test_a_missing_row_is_refused(row: int) -> None:
    with pytest.raises(ValueError, match=f"Expected 3 rows assigned to one of 2 groups each, row {row} is not"):
        grouped([0, 1, 0], [0, row, 1], 2)


@pytest.mark.parametrize("group", [-1, 2, 3, 2**31 - 1, -(2**31)])
def test_a_missing_group_is_refused(group: int) -> None:
    with pytest.raises(ValueError, match="Expected 3 rows assigned to one of 2 groups each, row 1 is not"):
        grouped([0, group, 0], [0, 1], 2)
    assert grouped([0, group, 0], [0, 2], 2) == [[0, 2], []]


@pytest.mark.parametrize(("start", "filled", "following"), [(0, [0, 7, 1, 2, 0], 1), (2, [2, 7, 0, 1, 2], 0)])
def test_items_without_a_group_get_one_in_turn(start: int, filled: list[int], following: int) -> None:
    assigned = array("i", [-1, 7, -1, -1, -1])
    assert fill_round_robin(assigned, 3, start) == following
    assert list(assigned) == filled


def test_one_group_takes_all() -> None:
    assigned = array("i", [-1, 0, -1])
    assert fill_round_robin(assigned, 1, 0) == 0
    assert list(assigned) == [0, 0, 0]
    assert fill_round_robin(array("i"), 5, 4) == 4


@pytest.mark.parametrize(("groups", "start"), [(0, 0), (-1, 0), (3, -1)])
def test_round_robin_without_groups_is_refused(groups: int, start: int) -> None:
    with pytest.raises(ValueError, match=f"at least one group, got {groups}, beginning with {start}"):
        fill_round_robin(array("i", [-1]), groups, start)


def test_row_numbers_begin_at_zero() -> None:
    assert row_numbers(3).tolist() == [0, 1, 2]
    assert row_numbers(0).tolist() == []
