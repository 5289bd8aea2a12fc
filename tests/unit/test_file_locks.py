"""Locks of files: one holder at a time, seen by others, gone with the holder; the calls that Windows gets."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import platform
import sys
import time
import types
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kafka import _file_locks
from kafka._file_locks import FileLock, holder, is_locked

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


@contextlib.contextmanager
def child_after(work: Callable[[], object]) -> Iterator[None]:
    """Fork a child that does some work, and lives until the end of the block, which begins after the work."""
    result, done = os.pipe()
    waiting, ending = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.close(ending)
            work()
            os.write(done, b"done")
            os.read(waiting, 1)
        finally:
            os._exit(0)
    os.close(done)
    os.close(waiting)
    try:
        assert os.read(result, 100) == b"done"  # nothing, if the work has failed
        yield
    finally:
        os.close(ending)
        os.close(result)
        os.waitpid(child, 0)


@pytest.mark.parametrize("how", ["released", "killed"])
def test_a_forked_child_does_not_hold_the_lock_of_its_parent(how: str, tmp_path: Path) -> None:
    """Whether the parent releases the lock, or its file is closed because it was killed."""
    path = tmp_path / "lock"
    lock = FileLock.take(path) or pytest.fail("not taken")
    with child_after(lambda: None):
        assert is_locked(path) is True, "the fork does not release it, either"
        if how == "released":
            lock.release()
        else:
            lock.give_up()  # only closes the file, which is all that happens when a process is killed
        assert is_locked(path) is False


def test_a_lock_that_is_released_while_a_child_has_its_file_open_is_free(tmp_path: Path) -> None:
    """As in a child that another thread has forked, before it closes the file."""
    path = tmp_path / "lock"
    lock = FileLock.take(path) or pytest.fail("not taken")
    inherited = os.dup(lock._descriptor)
    try:
        lock.release()
        assert is_locked(path) is False
    finally:
        os.close(inherited)


def test_a_forked_child_cannot_release_the_lock_of_its_parent(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    lock = FileLock.take(path) or pytest.fail("not taken")

    def release() -> None:
        lock.release(remove=True)
        assert FileLock.take(path) is None

    with child_after(release):
        assert path.exists()
        assert is_locked(path) is True
    lock.release()
    assert is_locked(path) is False


def test_the_holder_of_a_lock_is_known_as_long_as_it_holds_it(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    assert holder(path) is None
    path.write_text("\n123456789 the-longer-name-of-another-host-that-held-it-before.example.com\n")
    with FileLock.take(path) or pytest.fail("not taken"):
        assert holder(path) == f"process {os.getpid()} on {platform.node()}"
    assert holder(path) is None


@pytest.mark.parametrize("content", [b"", b"\xff", b"\n12\n", b"\n12 \x1b[2Jhost\n", "\n12 a\u202eb\n".encode()])
def test_an_unknown_holder_has_no_name(content: bytes, tmp_path: Path) -> None:
    """As on a disk that was full when the lock was taken."""
    path = tmp_path / "lock"
    with FileLock.take(path) or pytest.fail("not taken"):
        path.write_bytes(content)
        assert holder(path) is None


def test_a_lock_can_be_taken_on_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(descriptor: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "lock"
    path.write_text("\n1 elsewhere\n")
    with monkeypatch.context() as full:
        full.setattr(os, "write", write)
        lock = FileLock.take(path) or pytest.fail("not taken")
    with lock:
        assert is_locked(path) is True
        assert holder(path) is None, "not the one before"


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
    if held:
        path.write_text("\n12 host7\n")  # by the other one; the first byte cannot be read there
        assert holder(path) == "process 12 on host7"
    if lock is not None:
        lock.release(remove=True)
        assert not path.exists()
