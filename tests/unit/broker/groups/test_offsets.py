"""The journal of committed offsets: restarts, torn entries, and compaction."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka.broker.error_codes import ErrorCode, RequestFailed
from kafka.broker.groups import group_offsets as journal_module
from kafka.broker.groups.group_offsets import CommittedOffset, OffsetJournal
from unit.broker.grouped import GROUP, GroupCoordinatorHarness


@pytest.fixture
def group(tmp_path: Path) -> GroupCoordinatorHarness:
    return GroupCoordinatorHarness(tmp_path)


def offsets(group: GroupCoordinatorHarness) -> dict[tuple[str, int], int]:
    return {key: one.offset for key, one in group.reopened().groups[GROUP].offsets.items()}


def test_commits_survive_a_crash(group: GroupCoordinatorHarness) -> None:
    group.commit("", -1, 3)
    group.commit("", -1, 8, partition=1)
    group.commit("", -1, 5)
    assert offsets(group) == {("t", 0): 5, ("t", 1): 8}


def test_leader_epoch_and_metadata_are_stored(tmp_path: Path) -> None:
    journal = OffsetJournal(tmp_path / "offsets.log", sync=True)
    assert journal.load() == {}
    told = {("t", 0): CommittedOffset(1, 7, "wörter")}
    journal.commit("g", told)
    journal.close()
    loaded = OffsetJournal(tmp_path / "offsets.log", sync=False).load()
    assert {group: offsets.committed for group, offsets in loaded.items()} == {"g": told}


def test_deleted_offsets_stay_deleted(group: GroupCoordinatorHarness) -> None:
    group.commit("", -1, 3)
    group.commit("", -1, 8, partition=1)
    group.coordinator.delete_offsets(group.coordinator.groups[GROUP], [("t", 0), ("unknown", 9)])
    assert offsets(group) == {("t", 1): 8}


def test_a_deleted_group_and_a_deleted_topic_stay_deleted(group: GroupCoordinatorHarness) -> None:
    group.commit("", -1, 3)
    group.coordinator.forget_topic("t")
    assert GROUP not in group.reopened().groups
    group.commit("", -1, 3)
    group.coordinator.delete_group(GROUP)
    assert GROUP not in group.reopened().groups


def test_a_group_with_members_cannot_be_deleted(group: GroupCoordinatorHarness) -> None:
    group.stable(1)
    with pytest.raises(RequestFailed) as caught:
        group.coordinator.delete_group(GROUP)
    assert caught.value.code is ErrorCode.NON_EMPTY_GROUP
    with pytest.raises(RequestFailed) as caught:
        group.coordinator.delete_group("other")
    assert caught.value.code is ErrorCode.GROUP_ID_NOT_FOUND


@pytest.mark.parametrize("cut", [1, 8, 20])
def test_a_torn_entry_at_the_end_is_cut_off(group: GroupCoordinatorHarness, tmp_path: Path, cut: int) -> None:
    group.commit("", -1, 3)
    group.commit("", -1, 4)
    path = tmp_path / "offsets.log"
    path.write_bytes(path.read_bytes()[:-cut])
    assert offsets(group) == {("t", 0): 3}
    group.commit("", -1, 6)
    assert offsets(group) == {("t", 0): 6}


def test_garbage_at_the_end_is_cut_off(group: GroupCoordinatorHarness, tmp_path: Path) -> None:
    group.commit("", -1, 3)
    path = tmp_path / "offsets.log"
    path.write_bytes(path.read_bytes() + b"\0" * 100)
    assert offsets(group) == {("t", 0): 3}
    group.commit("", -1, 4)
    assert offsets(group) == {("t", 0): 4}


def test_a_wasteful_journal_is_compacted(
    group: GroupCoordinatorHarness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_module, "_SMALLEST_REWRITE", 1000)
    for offset in range(100):
        group.commit("", -1, offset)
    path = tmp_path / "offsets.log"
    before = path.stat().st_size
    group.coordinator.compact_if_worthwhile()
    assert path.stat().st_size < before // 20
    group.commit("", -1, 500, partition=1)
    assert offsets(group) == {("t", 0): 99, ("t", 1): 500}
