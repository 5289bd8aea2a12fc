"""Locks of files: one holder at a time, seen by others, gone with the holder; the calls that Windows gets."""

from __future__ import annotations

import fcntl
import sys
import time
import types
from pathlib import Path

import pytest

from kafka import _file_locks
from kafka._file_locks import FileLock, is_locked

pytestmark = pytest.mark.once


def test_a_lock_has_one_holder_until_it_is_released(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    first = FileLock.take(path)
    assert first is not None
    assert FileLock.take(path) is None
    assert is_locked(path) is True
    with first:
        pass
    first.release()  # a second time
    assert is_locked(path) is False
    third = FileLock.take(path)
    assert third is not None
    third.release(remove=True)
    assert not path.exists()


def test_nobody_can_hold_the_lock_of_a_file_that_does_not_exist(tmp_path: Path) -> None:
    assert is_locked(tmp_path / "absent") is None
    assert not (tmp_path / "absent").exists()


def test_a_file_that_is_removed_while_somebody_opens_it_is_not_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lock of a removed file does not block others, because the next one creates a new file."""
    path = tmp_path / "lock"
    lock = _file_locks._lock

    def removed(descriptor: int, shared: bool = False) -> bool:
        if lock is not _file_locks._lock:
            monkeypatch.undo()
            path.unlink()
        return lock(descriptor, shared)

    monkeypatch.setattr(_file_locks, "_lock", removed)
    with FileLock.take(path) or pytest.fail("not taken"):
        assert is_locked(path) is True
        assert FileLock.take(path) is None


def test_those_who_look_do_not_keep_others_from_starting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "lock"
    with path.open("w") as looking:
        fcntl.flock(looking, fcntl.LOCK_SH)
        pauses: list[float] = []

        def pause(seconds: float) -> None:
            pauses.append(seconds)
            if len(pauses) == 3:
                fcntl.flock(looking, fcntl.LOCK_UN)

        monkeypatch.setattr(time, "sleep", pause)
        with FileLock.take(path) or pytest.fail("not taken"):
            assert is_locked(path) is True
    assert len(pauses) == 3


@pytest.mark.parametrize("held", [False, True])
def test_on_windows_a_byte_of_the_file_is_locked(held: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[int, int]] = []

    def locking(descriptor: int, mode: int, count: int) -> None:
        calls.append((mode, count))
        if held:
            raise PermissionError(13, "Permission denied")

    monkeypatch.setitem(sys.modules, "msvcrt", types.SimpleNamespace(locking=locking, LK_NBLCK=2))
    monkeypatch.setitem(sys.modules, "fcntl", None)  # importing it fails, as it does there
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    path = tmp_path / "lock"
    lock = FileLock.take(path)
    assert (lock is None) is held
    assert calls == [(2, 1)] * (10 if held else 1), "somebody may look, for a moment"
    assert is_locked(path) is held
    if lock is not None:
        lock.release(remove=True)
        assert not path.exists()
