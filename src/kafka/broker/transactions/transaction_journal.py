"""The file of transactions: each entry is the new state of a transactional id, or its removal.

It is rewritten when most of it is out of date, and takes the place of Kafka's topic __transaction_state.
"""

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from kafka.broker.log.entry_file import EntryFile
from kafka.broker.transactions.transaction_metadata import TransactionMetadata
from kafka.broker.transactions.transaction_state import TransactionState

_SMALLEST_REWRITE: Final = 1024 * 1024


class TransactionJournal:
    """The journal in `path`; with `sync` each change is synced to disk before it takes effect."""

    def __init__(self, path: Path, sync: bool) -> None:
        self._file = EntryFile(path, sync, "transactional_id")

    def load(self) -> dict[str, TransactionMetadata]:
        """Open the file and return the state of each id; call it once, first."""
        found: dict[str, TransactionMetadata] = {}
        for entry in self._file.load():
            if len(entry) == 1:
                found.pop(entry["transactional_id"], None)
            else:
                found[entry["transactional_id"]] = _metadata(entry)
        self._file.replace_if_damaged(map(_entry, found.values()))
        return found

    def write(self, metadata: TransactionMetadata) -> None:
        """Append the new state of an id; if it raises OSError, the old state stays."""
        self._file.append(_entry(metadata))

    def forget(self, transactional_id: str) -> None:
        """Append that an id is removed."""
        self._file.append({"transactional_id": transactional_id})

    @property
    def is_wasteful(self) -> bool:
        """Whether it has grown to a multiple of its size after the last rewrite."""
        return self._file.is_wasteful(_SMALLEST_REWRITE)

    def rewrite(self, known: Iterable[TransactionMetadata]) -> None:
        """Replace the file with one that holds only these ids."""
        self._file.rewrite(map(_entry, known))

    def discard_unsynced(self) -> None:
        """Discard what a machine failure could lose; do not use the journal afterwards."""
        self._file.discard_unsynced()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _entry(metadata: TransactionMetadata) -> dict[str, Any]:
    return {**asdict(metadata), "state": metadata.state.value, "partitions": sorted(metadata.partitions)}


def _metadata(entry: Any) -> TransactionMetadata:
    partitions = frozenset((topic, partition) for topic, partition in entry["partitions"])
    return TransactionMetadata(**{**entry, "state": TransactionState(entry["state"]), "partitions": partitions})
