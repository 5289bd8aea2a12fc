"""The file that stores share groups: the start offset of each share-partition, and the states of the records after it.

It takes the place of Kafka's topic __share_group_state. An entry overrides earlier entries for the same offsets.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from kafka.broker.log.entry_file import EntryFile
from kafka.broker.share.record_state import RecordState, Runs

_SMALLEST_REWRITE: Final = 1024 * 1024

Key = tuple[str, UUID, int]
"""Group, topic and partition."""
Row = tuple[int, int, int, int]
"""First and last offset, state, and number of deliveries."""


class ShareJournal:
    """The journal of share groups in `path`. With `sync` each change is synced to disk before the response is sent."""

    def __init__(self, path: Path, sync: bool) -> None:
        self._file = EntryFile(path, sync, "group")

    def load(self) -> tuple[dict[str, int], dict[Key, Runs]]:
        """Open the file; return the groups with their epochs, and the share-partitions.

        Must be called once, before other methods.
        """
        groups: dict[str, int] = {}
        found: dict[Key, Runs] = {}
        for entry in self._file.load():
            _apply(entry, groups, found)
        self._file.replace_if_damaged(_entries(groups, found))
        return groups, found

    # -- appending: if one of these raises OSError, nothing has changed -----------------------------------------------

    def group(self, group_id: str, epoch: int) -> None:
        """Append a group and its epoch."""
        self._file.append({"group": group_id, "epoch": epoch})

    def delete_group(self, group_id: str) -> None:
        """Append the deletion of a group and all its state."""
        self._file.append({"group": group_id, "epoch": None})

    def change(self, key: Key, start: int, rows: Sequence[Row]) -> None:
        """Append the start offset and the changed runs of a share-partition."""
        self._file.append(_entry(key, start, rows))

    def reset(self, key: Key, start: int | None) -> None:
        """Append a new start offset without records in flight, or the deletion of the share-partition (None)."""
        self._file.append({**_entry(key, start, ()), "reset": True})

    # -- compaction ---------------------------------------------------------------------------------------------------

    def compact_if_worthwhile(self, groups: Mapping[str, int], partitions: Mapping[Key, Runs]) -> None:
        """Rewrite the file when most of it is out of date."""
        if self._file.is_wasteful(_SMALLEST_REWRITE):
            self._file.rewrite(_entries(groups, partitions))

    def discard_unsynced(self) -> None:
        """Discard data that a machine failure could lose. Do not use the journal afterwards."""
        self._file.discard_unsynced()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _entry(key: Key, start: int | None, rows: Sequence[Row]) -> dict[str, Any]:
    group, topic_id, partition = key
    return {"group": group, "topic": str(topic_id), "partition": partition, "start": start, "rows": list(rows)}


def _apply(entry: Any, groups: dict[str, int], found: dict[Key, Runs]) -> None:
    group = entry["group"]
    if "epoch" in entry:
        if entry["epoch"] is not None:
            groups[group] = entry["epoch"]
            return
        groups.pop(group, None)
        for key in [key for key in found if key[0] == group]:
            del found[key]
        return
    key = group, UUID(entry["topic"]), entry["partition"]
    if entry.get("reset"):
        found.pop(key, None)
    start = entry["start"]
    if start is None:
        return
    runs = found.setdefault(key, Runs(start))
    for first, last, state, count in entry["rows"]:
        runs.paint(first, last, RecordState(state), count)
    runs.drop_before(start)


def _entries(groups: Mapping[str, int], partitions: Mapping[Key, Runs]) -> Iterator[Mapping[str, Any]]:
    for group, epoch in groups.items():
        yield {"group": group, "epoch": epoch}
    for key, runs in partitions.items():
        yield _entry(key, runs.start, runs.kept())
