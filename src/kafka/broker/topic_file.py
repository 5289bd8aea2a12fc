"""The file that lists the topics, and the folders with their logs.

The file is written atomically. If it is damaged, it is rebuilt from the folders. As in Kafka, deleting a topic first
renames its folder, then writes the list without the topic, and finally removes the folder. After a crash, the next
start recognizes these folders by their names, so no folder is left behind, and no deleted topic reappears.
"""

import json
import logging
import shutil
import uuid
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from kafka.broker.disk_files import keep_damaged, replace_file, sync_folder

log = logging.getLogger(__name__)


_DELETED: Final = "-delete"


def mark_deleted(folders: Iterable[Path], sync: bool) -> list[Path]:
    """Rename the folders of topics that are about to be deleted; return the previous paths of those that exist.

    With `sync` the new names are durable. If this raises OSError, all folders keep their old names.
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
    """Restore the names of folders whose topics are not deleted after all."""
    for folder in folders:
        try:
            _marked(folder).rename(folder)
        except OSError as error:
            log.error("%s keeps the name of a deleted topic until the next start: %s", folder, error)


def remove_marked(folders: Iterable[Path]) -> None:
    """Remove the folders that `mark_deleted` returned. Folders that cannot be removed are removed at the next start."""
    for folder in folders:
        shutil.rmtree(_marked(folder), ignore_errors=True)


def finish_deleting(logs: Path, kept: Collection[Path]) -> None:
    """Finish deletions in `logs` that a crash interrupted. Called when the broker starts.

    Folders of deleted topics are removed. The folders in `kept` get their names back, as the crash happened before the
    list of topics was written.
    """
    for marked in logs.glob(f"*{_DELETED}"):
        folder = marked.with_name(marked.name.removesuffix(_DELETED))
        if folder in kept:
            unmark([folder])
        else:
            remove_marked([folder])


def _marked(folder: Path) -> Path:
    return folder.with_name(folder.name + _DELETED)


_NAME_IN_FOLDER: Final = 100
_ID_DIGITS: Final = 32


class TopicRow(NamedTuple):
    """A topic in the file."""

    name: str
    topic_id: uuid.UUID
    partitions: int
    configs: Mapping[str, str]


def folder_name(name: str, topic_id: uuid.UUID) -> str:
    """Return the name of the folder for a topic's logs.

    The id distinguishes the topic from deleted topics with the same name.
    """
    return f"{name[:_NAME_IN_FOLDER]}-{topic_id.hex}"


def save(path: Path, rows: Iterable[TopicRow], sync_name: bool) -> None:
    """Write the rows to `path`. If this raises OSError, the file is unchanged."""
    # One topic per line is readable, and allows json's fast encoder, which does not support indentation.
    lines = ",\n".join(
        json.dumps(
            {"name": one.name, "id": one.topic_id.hex, "partitions": one.partitions, "configs": dict(one.configs)}
        )
        for one in rows
    )
    replace_file(path, f'{{"topics": [\n{lines}\n]}}\n'.encode(), sync_name=sync_name)


def load(path: Path, logs: Path) -> list[TopicRow]:
    """Read the rows in `path`; returns an empty list if the file does not exist.

    If the file is damaged, it is renamed, and the topics are restored from the folders in `logs`, without their configs
    and without partitions that were never written to.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return []
    try:
        return [_row(one) for one in json.loads(data)["topics"]]
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        found = _rows_of_folders(logs)
        log.error(
            "%s is damaged (%s: %s); it is kept as %s. Found %d topics by the folders of their logs; their configs are "
            "lost, and so are partitions that had no record",
            path,
            type(error).__name__,
            error,
            keep_damaged(path).name,
            len(found),
        )
        save(path, found, sync_name=False)
        return found


def _row(one: Any) -> TopicRow:
    row = TopicRow(str(one["name"]), uuid.UUID(one["id"]), int(one["partitions"]), dict(one["configs"]))
    if not row.name or row.partitions < 1:
        raise ValueError(f"{one!r:.200} is not a topic")
    return row


def _rows_of_folders(logs: Path) -> list[TopicRow]:
    rows: dict[str, TopicRow] = {}
    for folder in sorted(logs.glob("*")):
        name, _, digits = folder.name.rpartition("-")
        partitions = [int(one.name) for one in folder.glob("*") if one.name.isdecimal()]
        if not name or len(digits) != _ID_DIGITS or not partitions:
            continue
        if len(name) == _NAME_IN_FOLDER:
            log.error("ignoring %s: the name of its topic may be longer than the folder's name shows", folder)
            continue
        try:
            rows[name] = TopicRow(name, uuid.UUID(digits), max(partitions) + 1, {})
        except ValueError:
            continue
    return list(rows.values())
