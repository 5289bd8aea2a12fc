"""Makes a pipeline start over: forgets what it has processed, and who writes its transactions.

Deleting the directory is not enough if the sink is a topic: the cluster remembers which query writes the transactions
of the pipeline, and refuses those of a query with another checkpoint.
"""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

from kafka.pipelines.client_configs import client_configs
from kafka.pipelines.declaration import Declaration
from kafka.pipelines.directories import directory_of
from kafka.pipelines.start_checks import LOCK, check_owner, run_lock, stream_lock


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
        locks.enter_context(stream_lock(directory))
        for path in bounded:
            if path.exists():
                locks.enter_context(run_lock(path / "lock", "replay or backfill of this pipeline"))
        transactions(declaration.pipeline, **client_configs(declaration, "admin")).forget()
        own = [directory.stream, directory.markers, directory.events, *bounded]
        found = [path for path in own if path.exists()]
        for path in found:
            shutil.rmtree(path)
        for log in directory.base.glob("spark-*.log"):
            log.unlink()
        (directory.base / LOCK).unlink()
    with contextlib.suppress(OSError):  # another program's files are in it
        directory.base.rmdir()
    return found if existed else []
