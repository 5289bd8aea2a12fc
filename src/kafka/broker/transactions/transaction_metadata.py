"""The state of a transactional id, its transitions, the rules for ending a transaction, and the journal.

Counterpart: Kafka's TransactionMetadata.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any, Final, TypeAlias

from kafka.broker.error_codes import ErrorCode, RequestFailed
from kafka.broker.log.entry_file import EntryFile

NOTHING: Final = -1
"""Represents a missing producer id, epoch or time."""
LARGEST_EPOCH: Final = 2**15 - 1
"""The epoch for ending a fenced producer's transaction. The largest epoch for producers is one less."""

TopicPartition: TypeAlias = tuple[str, int]
_SMALLEST_REWRITE: Final = 1024 * 1024


class TransactionState(Enum):
    """A state of a transactional id; the value is Kafka's name for it in responses.

        EMPTY ──▶ ONGOING ──▶ PREPARE_COMMIT ──▶ COMPLETE_COMMIT
          │ ▲        ▲  │                            │
          │ │        │  └────▶ PREPARE_ABORT ──▶ COMPLETE_ABORT
          │ │        │            ▲                  │
          └─│────────│────────────┤                  │
            └────────┴────────────┴──────────────────┘

    A new producer resets the state to EMPTY; with version 2 an empty transaction can also be aborted (KIP-890).
    """

    EMPTY = "Empty"
    """No transaction has begun since a producer initialized the id."""
    ONGOING = "Ongoing"
    """A transaction is open."""
    PREPARE_COMMIT = "PrepareCommit"
    """The decision to commit is on disk, but some markers have not been written yet."""
    PREPARE_ABORT = "PrepareAbort"
    """The decision to abort is on disk, but some markers have not been written yet."""
    COMPLETE_COMMIT = "CompleteCommit"
    """The transaction was committed, and all markers have been written."""
    COMPLETE_ABORT = "CompleteAbort"
    """The transaction was aborted, and all markers have been written."""


_S = TransactionState
FOLLOWERS: Final[Mapping[TransactionState, frozenset[TransactionState]]] = {
    _S.EMPTY: frozenset({_S.EMPTY, _S.ONGOING, _S.PREPARE_ABORT}),
    _S.ONGOING: frozenset({_S.ONGOING, _S.PREPARE_COMMIT, _S.PREPARE_ABORT}),
    _S.PREPARE_COMMIT: frozenset({_S.COMPLETE_COMMIT}),
    _S.PREPARE_ABORT: frozenset({_S.COMPLETE_ABORT}),
    _S.COMPLETE_COMMIT: frozenset({_S.EMPTY, _S.ONGOING, _S.PREPARE_ABORT}),
    _S.COMPLETE_ABORT: frozenset({_S.EMPTY, _S.ONGOING, _S.PREPARE_ABORT}),
}
PREPARED: Final = frozenset({_S.PREPARE_COMMIT, _S.PREPARE_ABORT})
OTHER_NAMES: Final = frozenset({"Dead", "PrepareEpochFence"})
"""States that exist only in Kafka."""


@dataclass(frozen=True, slots=True)
class TransactionMetadata:
    """The state of a transactional id. Times are wall clock times in milliseconds."""

    transactional_id: str
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    updated_ms: int
    state: TransactionState = _S.EMPTY
    last_epoch: int = NOTHING
    """The producer's previous epoch, by which a repeated request is recognized."""
    previous_producer_id: int = NOTHING
    next_producer_id: int = NOTHING
    """The producer id to use once the transaction has ended, if the current id has no epochs left."""
    started_ms: int = NOTHING
    partitions: frozenset[TopicPartition] = frozenset()
    version: int = 1
    """The transaction version used for the last change. With version 2 each end increments the epoch (KIP-890)."""

    @property
    def is_prepared(self) -> bool:
        """Whether the outcome of the transaction is decided, but some markers have not been written yet."""
        return self.state in PREPARED

    @property
    def is_committing(self) -> bool:
        """Whether the decision to commit the transaction has been made."""
        return self.state is _S.PREPARE_COMMIT

    @property
    def is_open(self) -> bool:
        """Whether there is an open transaction."""
        return self.state is _S.ONGOING

    @property
    def has_no_epochs_left(self) -> bool:
        """Whether the producer has the last epoch available to producers."""
        return is_last_epoch(self.producer_epoch)

    # -- initialization of producers ----------------------------------------------------------------------------------

    def with_next_epoch(self, timeout_ms: int, expected_epoch: int | None, now_ms: int) -> "TransactionMetadata":
        """Return the state for a new producer, or for one that recovers with `expected_epoch` (KIP-360)."""
        epoch, last = self.producer_epoch + 1, NOTHING
        if expected_epoch is not None:
            if expected_epoch == self.last_epoch and expected_epoch != self.producer_epoch:
                # The response to the producer's first request was lost.
                epoch, last = self.producer_epoch, self.last_epoch
            elif expected_epoch == self.producer_epoch or self.producer_epoch == NOTHING:
                last = self.producer_epoch
            else:
                raise RequestFailed(
                    ErrorCode.PRODUCER_FENCED,
                    f"the producer sent epoch {expected_epoch}, but the current epoch is {self.producer_epoch}",
                )
        return self._initialized(self.producer_id, epoch, last, timeout_ms, now_ms)

    def with_producer_id(
        self, producer_id: int, timeout_ms: int, expected_epoch: int | None, now_ms: int
    ) -> "TransactionMetadata":
        """Return the state for a producer that gets a new id because the current id has no epochs left."""
        last = NOTHING if expected_epoch is None else self.producer_epoch
        return self._initialized(producer_id, 0, last, timeout_ms, now_ms)

    def _initialized(
        self, producer_id: int, epoch: int, last_epoch: int, timeout_ms: int, now_ms: int
    ) -> "TransactionMetadata":
        return self._moved(
            _S.EMPTY,
            now_ms,
            producer_id=producer_id,
            previous_producer_id=self.producer_id,
            producer_epoch=epoch,
            last_epoch=last_epoch,
            timeout_ms=timeout_ms,
            started_ms=NOTHING,
            version=1,
        )

    # -- transitions of a transaction ---------------------------------------------------------------------------------

    def with_partitions(
        self, partitions: Collection[TopicPartition], version: int, now_ms: int
    ) -> "TransactionMetadata":
        """Return the state with additional partitions, beginning a transaction if necessary."""
        started_ms = self.started_ms if self.is_open else now_ms
        return self._moved(
            _S.ONGOING, now_ms, partitions=self.partitions.union(partitions), started_ms=started_ms, version=version
        )

    def fenced(self) -> "TransactionMetadata":
        """Return the state with an epoch that no producer has, to abort the transaction on behalf of its producer."""
        return replace(self, producer_epoch=self.producer_epoch + 1, last_epoch=NOTHING)

    def prepared(
        self, committed: bool, version: int, now_ms: int, next_producer_id: int = NOTHING
    ) -> "TransactionMetadata":
        """Return the state after the decision to commit or abort. Version 2 increments the epoch."""
        epoch, last = self.producer_epoch, self.last_epoch
        if version >= 2 and epoch < LARGEST_EPOCH:
            epoch, last = epoch + 1, epoch
        return self._moved(
            _S.PREPARE_COMMIT if committed else _S.PREPARE_ABORT,
            now_ms,
            producer_epoch=epoch,
            last_epoch=last,
            next_producer_id=next_producer_id,
            # An empty transaction that is aborted begins and ends at the same time.
            started_ms=self.started_ms if self.is_open else now_ms,
            version=version,
        )

    def completed(self, now_ms: int) -> "TransactionMetadata":
        """Return the state after all markers have been written."""
        changes: dict[str, Any] = {"partitions": frozenset(), "next_producer_id": NOTHING}
        if self.next_producer_id != NOTHING:
            changes |= {
                "producer_id": self.next_producer_id,
                "previous_producer_id": self.producer_id,
                "producer_epoch": 0,
            }
        return self._moved(_S.COMPLETE_COMMIT if self.is_committing else _S.COMPLETE_ABORT, now_ms, **changes)

    def _moved(self, target: TransactionState, now_ms: int, **changes: Any) -> "TransactionMetadata":
        """Return the metadata in a new state; raises RuntimeError for a transition that is not allowed."""
        if target not in FOLLOWERS[self.state]:
            raise RuntimeError(f"a transaction in state {self.state.value} cannot become {target.value}")
        return replace(self, state=target, updated_ms=now_ms, **changes)


def is_last_epoch(epoch: int) -> bool:
    """Return whether no later epoch is available to producers."""
    return epoch >= LARGEST_EPOCH - 1


_E = ErrorCode


def check_end(known: TransactionMetadata, producer_id: int, epoch: int, committed: bool, version: int) -> bool:
    """Return True if there is a transaction to end, False if it has already ended as requested.

    Raises `RequestFailed` in all other cases.
    """
    if version >= 2:
        return _check_version_2(known, producer_id, epoch, committed)
    if known.producer_id != producer_id:
        raise RequestFailed(_E.INVALID_PRODUCER_ID_MAPPING)
    if known.producer_epoch != epoch:
        raise RequestFailed(_E.PRODUCER_FENCED)
    if known.state is _S.ONGOING:
        return True
    return _check_ended(known, committed)


def _check_version_2(known: TransactionMetadata, producer_id: int, epoch: int, committed: bool) -> bool:
    """Check a request to end a version 2 transaction like `check_end`.

    A repeated request is recognized by its epoch or by a changed producer id.
    """
    is_next_id = known.previous_producer_id == producer_id and is_last_epoch(epoch) and known.producer_epoch == 0
    is_repeated = is_next_id or known.producer_epoch == epoch + 1
    if known.producer_id != producer_id and not is_next_id:
        raise RequestFailed(_E.INVALID_PRODUCER_ID_MAPPING)
    if known.is_prepared:
        is_valid = known.producer_epoch == epoch + 1
    elif known.state in (_S.COMPLETE_COMMIT, _S.COMPLETE_ABORT):
        is_valid = is_repeated or known.producer_epoch == epoch
    else:
        is_valid = known.producer_epoch == epoch
    if not is_valid:
        raise RequestFailed(_E.PRODUCER_FENCED)
    if known.state is _S.ONGOING:
        return True
    if known.is_prepared or is_repeated:
        return _check_ended(known, committed)
    if committed:
        raise RequestFailed(_E.INVALID_TXN_STATE)
    # There is nothing to abort, but the epoch is incremented.
    return True


def _check_ended(known: TransactionMetadata, committed: bool) -> bool:
    """Return False if the latest transaction has ended as requested; otherwise raise `RequestFailed`."""
    if known.state is _S.EMPTY or committed != (known.state in (_S.COMPLETE_COMMIT, _S.PREPARE_COMMIT)):
        raise RequestFailed(_E.INVALID_TXN_STATE)
    if known.is_prepared:
        raise RequestFailed(_E.CONCURRENT_TRANSACTIONS)
    return False


class TransactionJournal:
    """The transaction journal in `path`. Each entry is the new state of a transactional id, or its removal.

    With `sync` each change is synced to disk before it takes effect. The file takes the place of Kafka's topic
    __transaction_state. It is rewritten when most of it is out of date.
    """

    def __init__(self, path: Path, sync: bool) -> None:
        self._file = EntryFile(path, sync, "transactional_id")

    def load(self) -> dict[str, TransactionMetadata]:
        """Open the file and return the state of each id. Must be called once, before other methods."""
        found: dict[str, TransactionMetadata] = {}
        for entry in self._file.load():
            if len(entry) == 1:
                found.pop(entry["transactional_id"], None)
            else:
                found[entry["transactional_id"]] = _metadata(entry)
        self._file.replace_if_damaged(map(_entry, found.values()))
        return found

    def write(self, metadata: TransactionMetadata) -> None:
        """Append the new state of an id. If this raises OSError, the old state is kept."""
        self._file.append(_entry(metadata))

    def forget(self, transactional_id: str) -> None:
        """Append the removal of an id."""
        self._file.append({"transactional_id": transactional_id})

    @property
    def is_wasteful(self) -> bool:
        """Whether the file has grown to several times its size at the last rewrite."""
        return self._file.is_wasteful(_SMALLEST_REWRITE)

    def rewrite(self, known: Iterable[TransactionMetadata]) -> None:
        """Replace the file with one that contains only the entries for these ids."""
        self._file.rewrite(map(_entry, known))

    def discard_unsynced(self) -> None:
        """Discard data that a machine failure could lose. Do not use the journal afterwards."""
        self._file.discard_unsynced()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _entry(metadata: TransactionMetadata) -> dict[str, Any]:
    return {**asdict(metadata), "state": metadata.state.value, "partitions": sorted(metadata.partitions)}


def _metadata(entry: Any) -> TransactionMetadata:
    partitions = frozenset((topic, partition) for topic, partition in entry["partitions"])
    return TransactionMetadata(**{**entry, "state": TransactionState(entry["state"]), "partitions": partitions})
