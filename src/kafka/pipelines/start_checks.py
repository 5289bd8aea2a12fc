"""Locks, and the owner of a pipeline's directory, so that two runs or two pipelines never share one.

`kafka.pipelines.checks` checks everything else before a run.
"""

from __future__ import annotations

from pathlib import Path

from kafka._file_locks import FileLock, holder, is_held
from kafka.errors import IllegalStateError
from kafka.pipelines.declaration import Declaration, InvalidDeclaration
from kafka.pipelines.directories import PipelineDirectory
from kafka.pipelines.events import last_start

LOCK = "stream.lock"
"""File in the directory of a pipeline that a running stream locks."""
BOUNDED_LOCK = "lock"
"""File in the directory of replays or backfills that a running one locks."""
_STREAM = "run of this pipeline"


def stream_lock(directory: PipelineDirectory) -> FileLock:
    """Hold the lock of the pipeline's stream. Raises `IllegalStateError` if another run holds it."""
    return run_lock(directory.base / LOCK, _STREAM)


def check_not_running(directory: PipelineDirectory) -> None:
    """Raise `IllegalStateError` if the pipeline's stream is running, or if that is unknown. Creates nothing."""
    path = directory.base / LOCK
    try:
        is_running = is_held(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise _cannot_lock(path, _STREAM, error) from error
    if is_running:
        raise _is_running(path, _STREAM)


def may_be_held(path: Path) -> bool:
    """Return whether somebody holds a lock, or whether that is unknown because the file cannot be read."""
    try:
        return is_held(path)
    except FileNotFoundError:
        return False
    except OSError:
        return True


def run_lock(path: Path, what: str) -> FileLock:
    """Take a lock, which the system releases if the process ends. The file remains.

    Arguments:
        path: the file of the lock; its directory is created.
        what: what the lock protects, for the error, such as ``replay of this pipeline``.

    Raises `IllegalStateError` if another process, or another part of this process, holds the lock, or if the file
    cannot be locked.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock.take(path)
    except OSError as error:
        raise _cannot_lock(path, what, error) from error
    if lock is None:
        raise _is_running(path, what)
    return lock


def _is_running(path: Path, what: str) -> IllegalStateError:
    found = holder(path)
    who = "it" if found is None else found
    return IllegalStateError(
        f"another {what} is running ({who} holds the lock {path}): wait until it has ended, or stop it"
    )


def _cannot_lock(path: Path, what: str, error: OSError) -> IllegalStateError:
    return IllegalStateError(
        f"cannot tell whether another {what} is running: its lock {path} cannot be opened ({error.strerror or error}). "
        "Start as the user who owns this file; if nothing is running, you can remove it instead"
    )


def check_owner(declaration: Declaration, directory: PipelineDirectory) -> None:
    """Raise `InvalidDeclaration` if a pipeline with another name has run in the directory."""
    start = last_start(directory.events)
    if start is not None and start.pipeline != declaration.pipeline:
        raise InvalidDeclaration(
            f"checkpoint: {directory.base} belongs to pipeline {start.pipeline!r}, but this is "
            f"{declaration.pipeline!r}: name another directory, or use the same name"
        )
