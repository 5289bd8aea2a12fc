"""The file of committed offsets: each entry is what a group commits, forgets, or does within a transaction.

It is rewritten when most of it is out of date, and plays the part of Kafka's topic __consumer_offsets.
"""

from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from kafka.broker.groups.offsets import CommittedOffset, GroupOffsets, Offsets
from kafka.broker.log.entry_file import EntryFile

_SMALLEST_REWRITE: Final = 4 * 1024 * 1024


class OffsetJournal:
    """The journal in `path`; with `sync` each commit is synced to the disk before it is answered."""

    def __init__(self, path: Path, sync: bool) -> None:
        self._file = EntryFile(path, sync, "group")

    def load(self) -> dict[str, GroupOffsets]:
        """Open the file and return the offsets in it by group; called once, before anything else."""
        groups: dict[str, GroupOffsets] = {}
        for entry in self._file.load():
            _apply(entry, groups.setdefault(entry["group"], GroupOffsets()))
        groups = {group: offsets for group, offsets in groups.items() if offsets}
        self._file.replace_if_damaged(_of_groups(groups))
        return groups

    # -- what is appended: each raises OSError, and then nothing has changed ------------------------------------------

    def commit(self, group: str, offsets: Offsets) -> None:
        """The offsets that a group commits."""
        self._file.append({"group": group, "offsets": _rows(offsets)})

    def delete(self, group: str, partitions: list[tuple[str, int]]) -> None:
        """That a group's offsets for these partitions are gone."""
        if partitions:
            self._file.append({"group": group, "offsets": [list(one) for one in partitions]})

    def commit_pending(self, group: str, producer_id: int, offsets: Offsets) -> None:
        """The offsets that a group commits within the transaction of a producer."""
        self._file.append({"group": group, "producer": producer_id, "offsets": _rows(offsets)})

    def end_pending(self, group: str, producer_id: int, committed: bool) -> None:
        """That the transaction of a producer has ended."""
        self._file.append({"group": group, "producer": producer_id, "committed": committed})

    # -- keeping it short ---------------------------------------------------------------------------------------------

    @property
    def is_wasteful(self) -> bool:
        """Whether it has grown to a multiple of what it was when it held nothing out of date."""
        return self._file.is_wasteful(_SMALLEST_REWRITE)

    def rewrite(self, groups: Mapping[str, GroupOffsets]) -> None:
        """Replace the file by one that holds just these offsets."""
        self._file.rewrite(_of_groups(groups))

    def discard_unsynced(self) -> None:
        """Throw away what a failure of the machine could take; the journal is not to be used afterwards."""
        self._file.discard_unsynced()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _apply(entry: Any, offsets: GroupOffsets) -> None:
    producer_id = entry.get("producer")
    if "committed" in entry:
        offsets.end_pending(producer_id, entry["committed"])
        return
    given = {(topic, number): CommittedOffset(*rest) for topic, number, *rest in entry["offsets"] if rest}
    if producer_id is not None:
        offsets.commit_pending(producer_id, given)
        return
    offsets.commit(given)
    offsets.delete((topic, number) for topic, number, *rest in entry["offsets"] if not rest)


def _of_groups(groups: Mapping[str, GroupOffsets]) -> Iterator[Mapping[str, Any]]:
    for group, offsets in groups.items():
        for producer_id, rows in groupby(offsets.in_order(), key=lambda row: row[0]):
            entry = {"group": group} if producer_id is None else {"group": group, "producer": producer_id}
            yield {**entry, "offsets": [_row(partition, offset) for _, partition, offset in rows]}


def _rows(offsets: Offsets) -> list[list[Any]]:
    return [_row(partition, offset) for partition, offset in offsets.items()]


def _row(partition: tuple[str, int], offset: CommittedOffset) -> list[Any]:
    return [*partition, offset.offset, offset.leader_epoch, offset.metadata]
