"""Locks of files: one holder at a time, seen by others, gone with the file; the calls that Windows gets."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import pytest

from kafka.pipelines.file_locks import is_locked, take

pytestmark = pytest.mark.once


def test_a_lock_has_one_holder_until_the_file_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with path.open("w") as first, path.open("w") as second:
        assert take(first)
        assert not take(second)
        assert is_locked(path) is True
    assert is_locked(path) is False
    with path.open("w") as third:
        assert take(third)


def test_nobody_can_hold_the_lock_of_a_file_that_does_not_exist(tmp_path: Path) -> None:
    assert is_locked(tmp_path / "absent") is None
    assert not (tmp_path / "absent").exists()


@pytest.mark.parametrize("held", [False, True])
def test_on_windows_a_byte_of_the_file_is_locked(held: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[int, int, int]] = []

    def locking(descriptor: int, mode: int, count: int) -> None:
        calls.append((descriptor, mode, count))
        if held:
            raise PermissionError(13, "Permission denied")

    monkeypatch.setitem(sys.modules, "msvcrt", types.SimpleNamespace(locking=locking, LK_NBLCK=2))
    monkeypatch.setitem(sys.modules, "fcntl", None)  # importing it fails, as it does there
    monkeypatch.setattr(sys, "platform", "win32")
    path = tmp_path / "lock"
    with path.open("w") as file:
        assert take(file) is not held
        assert calls == [(file.fileno(), 2, 1)]
    assert is_locked(path) is held
