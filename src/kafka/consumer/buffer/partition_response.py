"""The response for one partition: its bytes, the columns decoded from them, and the buffer that holds both."""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

from kafka.record import BatchDecoder, Columns, decode_run
from kafka.structs import TopicPartition

_LENGTH = slice(8, 12)
_MAGIC_AT = 16
_ATTRIBUTES_AT = 22
_CODEC_MASK = 0x07
_SMALL_BATCH = 4 << 10
"""The batch size below which the interpreter is so busy that two threads would slow each other down."""


_ONE_RUN_BYTES = 32 << 10
"""The size up to which a response is first taken for a single run of ordinary batches."""


class DecodeOptions(NamedTuple):
    """How batches are decoded; see `BatchDecoder`."""

    check_crcs: bool
    read_committed: bool
    max_decompressed_size: int


class TopicReplaced(Exception):
    """A marker in the buffer after the last records from a topic that was deleted and recreated."""


class SharedFrame:
    """A response's pooled frame, returned once the last of its partitions has been decoded or dropped."""

    __slots__ = ("_count", "_lock", "_release")

    def __init__(self, release: Callable[[], None] | None) -> None:
        self._release = release
        self._count = 1
        self._lock = threading.RLock()  # a signal handler that seeks may run while the lock is held

    def retain(self) -> None:
        """Add a user of the frame."""
        with self._lock:
            self._count += 1

    def release(self) -> None:
        """Remove a user of the frame; the last one returns it to the pool."""
        with self._lock:
            self._count -= 1
            last = self._count == 0
        if last and self._release is not None:
            self._release()


class PartitionResponse:
    """The response for one partition: records as bytes, or an error to raise after the data before it.

    Arguments:
        tp: the partition.
        generation: the generation of the partition's `PartitionState` when the data was fetched.
        offset: the requested offset; later, the offset at which decoding continues.
        records: whole batches, except that the last may be incomplete.
        nbytes: the size that counts towards the buffer's limits.
        frame: holds the bytes.
        aborted: the aborted transactions, as pairs of producer id and first offset.
        error: the error, instead of records.
        sticky: whether the error is raised repeatedly until a seek.
    """

    __slots__ = (
        "_decoder",
        "aborted",
        "error",
        "frame",
        "generation",
        "nbytes",
        "offset",
        "records",
        "sticky",
        "tp",
    )

    def __init__(
        self,
        tp: TopicPartition,
        generation: int,
        offset: int,
        records: memoryview | None = None,
        nbytes: int = 0,
        frame: SharedFrame | None = None,
        aborted: Sequence[tuple[int, int]] = (),
        error: Exception | None = None,
        sticky: bool = False,
    ) -> None:
        self.tp = tp
        self.generation = generation
        self.offset = offset
        self.records = records
        self.nbytes = nbytes
        self.frame = frame
        self.aborted = aborted
        self.error = error
        self.sticky = sticky
        self._decoder: BatchDecoder | None = None

    def drop(self) -> None:
        """Release the bytes."""
        self.records = self._decoder = None
        frame, self.frame = self.frame, None
        if frame is not None:
            frame.release()

    def decode(self, options: DecodeOptions, max_bytes: int) -> "DecodedFetch":
        """Decode the next part, and release the bytes after the last one. Must not be called if `is_decoded`.

        Arguments:
            max_bytes: approximate size of columns to decode; at least one batch is decoded.

        Returns the records before a damaged batch; the error for that batch is kept until the caller has taken them.
        """
        records = self.records
        if self._decoder is None and records is not None and len(records) <= _ONE_RUN_BYTES and not self.aborted:
            run = decode_run(
                records,
                self.tp.topic,
                self.tp.partition,
                check_crcs=options.check_crcs,
                start_offset=self.offset,
                max_bytes=max_bytes,
            )
            if run is not None:
                return self.accept(run, None, True)
        decoder = self.decoder(options)
        columns, error = decoder.part(max_bytes)
        return self.accept(columns, error, error is not None or decoder.finished)

    def decoder(self, options: DecodeOptions) -> BatchDecoder:
        """Return the decoder for the remaining parts; pass each decoded part to `accept`."""
        if self._decoder is None:
            self._decoder = self._begin(options)
        return self._decoder

    def accept(self, columns: Columns, error: Exception | None, is_last: bool) -> "DecodedFetch":
        """Accept a decoded part, and release the bytes if it is the last."""
        self.offset = columns.next_offset
        if not is_last:
            return DecodedFetch(columns, columns.next_offset, columns.leader_epoch, 0)
        self.drop()
        return DecodedFetch(columns, columns.next_offset, columns.leader_epoch, self.nbytes, error)

    @property
    def is_decoded(self) -> bool:
        """Whether the whole response is decoded."""
        return self.records is None

    @property
    def packed_bytes(self) -> int:
        """The size in bytes if the batches are compressed and not small; otherwise 0."""
        records = self.records
        if records is None or len(records) <= _ATTRIBUTES_AT or records[_MAGIC_AT] < 2:
            return 0
        if not records[_ATTRIBUTES_AT] & _CODEC_MASK or int.from_bytes(records[_LENGTH], "big") < _SMALL_BATCH:
            return 0
        return len(records)

    @property
    def is_begun(self) -> bool:
        """Whether the response is partly decoded."""
        return self._decoder is not None

    def _begin(self, options: DecodeOptions) -> BatchDecoder:
        assert self.records is not None
        return BatchDecoder(
            self.records,
            topic=self.tp.topic,
            partition=self.tp.partition,
            check_crcs=options.check_crcs,
            read_committed=options.read_committed,
            aborted_transactions=self.aborted,
            start_offset=self.offset,
            max_decompressed_size=options.max_decompressed_size,
        )


class DecodedFetch:
    """Decoded columns that are being returned to the caller.

    Arguments:
        columns: all decoded columns.
        next_offset: the offset after the last record.
        leader_epoch: the leader epoch of the last batch before ``next_offset``; -1 if unknown.
        nbytes: number of bytes that the buffer's limit no longer includes once all columns are returned.
        error: the error to raise after the columns are returned, because the bytes after them are corrupt.
    """

    __slots__ = ("columns", "count", "error", "leader_epoch", "nbytes", "next_offset", "start")

    def __init__(
        self, columns: Columns, next_offset: int, leader_epoch: int, nbytes: int, error: Exception | None = None
    ) -> None:
        self.columns = columns
        self.count = len(columns)
        self.next_offset = next_offset
        self.leader_epoch = leader_epoch
        self.nbytes = nbytes
        self.error = error
        self.start = 0

    @property
    def left(self) -> int:
        """The number of records that have not been returned."""
        return self.count - self.start


class PartitionBuffer:
    """Data that has been fetched from one partition but not returned.

    The loop adds data, and the caller takes it, under the lock of the `FetchBuffer`.

    Attributes:
        current: the data being returned.
        items: the data after `current`. Only the caller's side removes items.
        nbytes: the size of `current` and `items` as counted towards the buffer's limits.
        queued: whether the partition is in the queue or held by the caller, in which case a response need not add it.
        blocked: whether the loop waits until the caller has taken some data.
    """

    __slots__ = ("blocked", "current", "items", "nbytes", "queued")

    def __init__(self) -> None:
        self.current: DecodedFetch | None = None
        self.items: deque[PartitionResponse | DecodedFetch] = deque()
        self.nbytes = 0
        self.queued = False
        self.blocked = False

    @property
    def is_begun(self) -> bool:
        """Whether a response has been partly returned."""
        first = self.items[0] if self.items else None
        return self.current is not None or (isinstance(first, PartitionResponse) and first.is_begun)

    def put_back(self, piece: DecodedFetch) -> None:
        """Return ``piece`` before any other data. Repeating the call after an interrupt has no effect."""
        before = self.current
        if before is piece:
            return
        if before is not None and not (self.items and self.items[0] is before):
            self.items.appendleft(before)
        self.current = piece

    def clear(self) -> None:
        """Remove all data."""
        self.items.clear()
        self.current = None
        self.nbytes = 0
        self.blocked = False
