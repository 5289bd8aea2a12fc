"""The file of transactions: each entry is a transactional id as it has become, or that it was forgotten.

It is rewritten when most of it is out of date, and plays the part of Kafka's topic __transaction_state.
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
    """The journal in `path`; with `sync` each change is synced to the disk before it takes effect."""

    def __init__(self, path: Path, sync: bool) -> None:
        self._file = EntryFile(path, sync, "transactional_id")

    def load(self) -> dict[str, TransactionMetadata]:
        """Open the file and return what is known of each id; called once, before anything else."""
        found: dict[str, TransactionMetadata] = {}
        for entry in self._file.load():
            if len(entry) == 1:
                found.pop(entry["transactional_id"], None)
            else:
                found[entry["transactional_id"]] = _metadata(entry)
        self._file.replace_if_damaged(map(_entry, found.values()))
        return found

    def write(self, metadata: TransactionMetadata) -> None:
        """Append what an id has become; raises OSError, and then it is as it was."""
        self._file.append(_entry(metadata))

    def forget(self, transactional_id: str) -> None:
        """Append that an id is not known any more."""
        self._file.append({"transactional_id": transactional_id})

    @property
    def is_wasteful(self) -> bool:
        """Whether it has grown to a multiple of what it was when it held nothing out of date."""
        return self._file.is_wasteful(_SMALLEST_REWRITE)

    def rewrite(self, known: Iterable[TransactionMetadata]) -> None:
        """Replace the file by one that holds just these."""
        self._file.rewrite(map(_entry, known))

    def discard_unsynced(self) -> None:
        """Throw away what a failure of the machine could take; the journal is not to be used afterwards."""
        self._file.discard_unsynced()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _entry(metadata: TransactionMetadata) -> dict[str, Any]:
    return {**asdict(metadata), "state": metadata.state.value, "partitions": sorted(metadata.partitions)}


def _metadata(entry: Any) -> TransactionMetadata:
    partitions = frozenset((topic, partition) for topic, partition in entry["partitions"])
    return TransactionMetadata(**{**entry, "state": TransactionState(entry["state"]), "partitions": partitions})
