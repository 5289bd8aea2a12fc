"""Locks, and the owner of a pipeline's directory, so that two runs or two pipelines never share one.

`kafka.pipelines.checks` checks everything else before a run.
"""

from __future__ import annotations

from pathlib import Path

from kafka._file_locks import FileLock, is_locked
from kafka.errors import IllegalStateError
from kafka.pipelines.declaration import Declaration, InvalidDeclaration
from kafka.pipelines.directories import PipelineDirectory
from kafka.pipelines.events import last_start

LOCK = "stream.lock"
"""File in the directory of a pipeline that a running stream locks."""
_STREAM = "run of this pipeline"


def stream_lock(directory: PipelineDirectory) -> FileLock:
    """Hold the lock of the pipeline's stream. Raises `IllegalStateError` if another run holds it."""
    return run_lock(directory.base / LOCK, _STREAM)


def check_not_running(directory: PipelineDirectory) -> None:
    """Raise `IllegalStateError` if the pipeline's stream is running. Creates nothing."""
    path = directory.base / LOCK
    if is_locked(path):
        raise _is_running(path, _STREAM)


def run_lock(path: Path, what: str) -> FileLock:
    """Take a lock, which the system releases if the process ends. The file remains.

    Arguments:
        path: the file of the lock; its directory is created.
        what: what the lock protects, for the error, such as ``replay of this pipeline``.

    Raises `IllegalStateError` if another process, or another part of this process, holds the lock.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock.take(path)
    if lock is None:
        raise _is_running(path, what)
    return lock


def _is_running(path: Path, what: str) -> IllegalStateError:
    return IllegalStateError(
        f"another {what} is running (it holds the lock {path}): wait until it has ended, or stop it"
    )


def check_owner(declaration: Declaration, directory: PipelineDirectory) -> None:
    """Raise `InvalidDeclaration` if a pipeline with another name has run in the directory."""
    start = last_start(directory.events)
    if start is not None and start.pipeline != declaration.pipeline:
        raise InvalidDeclaration(
            f"checkpoint: {directory.base} belongs to pipeline {start.pipeline!r}, but this is "
            f"{declaration.pipeline!r}: name another directory, or use the same name"
        )
