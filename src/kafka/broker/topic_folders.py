"""Deletes the folders of topics, so that a crash neither leaves folders behind nor brings a deleted topic back.

A folder is renamed before the list of topics is written without its topic, and removed afterwards, as Kafka does: by
its name the next start knows what was to be deleted.
"""

import logging
import shutil
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Final

from kafka.broker.log.files import sync_folder

log = logging.getLogger(__name__)

_DELETED: Final = "-delete"


def mark_deleted(folders: Iterable[Path], sync: bool) -> list[Path]:
    """Rename the folders of topics that are about to be deleted; returns those that were there.

    With `sync` the new names are durable. Raises OSError, and then all have their old names.
    """
    marked: list[Path] = []
    try:
        for folder in folders:
            if folder.exists():
                folder.rename(_marked(folder))
                marked.append(folder)
        if marked and sync:
            sync_folder(marked[0].parent)
    except OSError:
        unmark(marked)
        raise
    return marked


def unmark(folders: Iterable[Path]) -> None:
    """Give folders their own names back: their topics stay."""
    for folder in folders:
        try:
            _marked(folder).rename(folder)
        except OSError as error:
            log.error("%s keeps the name of a deleted topic until the next start: %s", folder, error)


def remove_marked(folders: Iterable[Path]) -> None:
    """Remove folders that `mark_deleted` gave; what cannot be removed now is removed at the next start."""
    for folder in folders:
        shutil.rmtree(_marked(folder), ignore_errors=True)


def finish_deleting(logs: Path, kept: Collection[Path]) -> None:
    """At the start, finish what a crash broke off in `logs`.

    Folders of topics that were deleted are removed. Those of the topics whose folders are to be `kept` get their names
    back: the list of topics was not written any more.
    """
    for marked in logs.glob(f"*{_DELETED}"):
        folder = marked.with_name(marked.name.removesuffix(_DELETED))
        if folder in kept:
            unmark([folder])
        else:
            remove_marked([folder])


def _marked(folder: Path) -> Path:
    return folder.with_name(folder.name + _DELETED)
