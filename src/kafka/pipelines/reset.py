"""Makes a pipeline start over: forgets what it has processed, and who writes its transactions.

Deleting the directory is not enough if the sink is a topic: the cluster remembers which query writes the transactions
of the pipeline, and refuses those of a query with another checkpoint.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Sequence
from pathlib import Path

from kafka._file_locks import FileLock
from kafka.pipelines.client_configs import client_configs
from kafka.pipelines.declaration import Declaration
from kafka.pipelines.directories import directory_of
from kafka.pipelines.start_checks import BOUNDED_LOCK, check_owner, run_lock, stream_lock


def reset(declaration: Declaration) -> list[Path]:
    """Delete the state of a pipeline, so that its next run starts like the first one.

    The checkpoint, the events, and the progress of replays and backfills are deleted, and open transactions are
    aborted. Rows in the sink and dead letters remain, so a next run that reads the same records writes them again.

    Arguments:
        declaration: the pipeline.

    Returns the paths that were deleted. Raises `IllegalStateError` if the pipeline or a replay of it is running,
    `InvalidDeclaration` if the directory belongs to another pipeline, and the errors of `kafka.spark.transactions`;
    then nothing is deleted. Raises `OSError` if a file cannot be deleted.
    """
    from kafka.spark import transactions

    directory = directory_of(declaration)
    check_owner(declaration, directory)
    existed = directory.base.exists()
    bounded = (directory.replays, directory.backfills, directory.first_backfill)
    with contextlib.ExitStack() as locks:
        held = [locks.enter_context(stream_lock(directory))]
        for path in bounded:
            if path.exists():
                held.append(locks.enter_context(run_lock(path / BOUNDED_LOCK, "replay or backfill of this pipeline")))
        transactions(declaration.pipeline, **client_configs(declaration, "admin")).forget()
        found = [path for path in (directory.stream, directory.markers, directory.events, *bounded) if path.exists()]
        for path in found:
            _remove_contents(path, held)
        for log in directory.base.glob("spark-*.log"):
            log.unlink()
        for lock in held:
            lock.release(remove=True)
    for path in (*found, directory.base):
        with contextlib.suppress(OSError):  # another program's files are in it, or a run has begun
            path.rmdir()
    return found if existed else []


def _remove_contents(folder: Path, held: Sequence[FileLock]) -> None:
    """Remove what a directory contains, without the files of locks, which Windows cannot remove while they are open."""
    for path in folder.iterdir():
        if path in [lock.path for lock in held]:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
