"""A walk over the batches of one partition: where it stands, and what batches of all formats need done to them."""

from __future__ import annotations

from kafka.errors import CorruptRecordException, UnsupportedCompressionTypeError
from kafka.record.codecs import CodecError, Packed, pack_of
from kafka.record.collector import Collector
from kafka.record.types import Buffer

MAX_OFFSET = (1 << 62) - 1
"""The largest offset, and the largest amount of a timestamp, that is believed."""


class Walk:
    """See the module. The arguments are those of `kafka.record.decode.BatchDecoder`.

    Attributes:
        position: of the batch to be taken next, in bytes.
        next_offset: behind the last batch taken.
        finished: whether there is nothing left to take.
    """

    def __init__(
        self,
        data: Buffer,
        topic: str,
        partition: int,
        check_crcs: bool,
        start_offset: int,
        stop_offset: int | None,
        max_size: int,
    ) -> None:
        self.view = memoryview(data).cast("B")
        self.topic = topic
        self.partition = partition
        self.check_crcs = check_crcs
        self.start_offset = start_offset
        self.stop_offset = MAX_OFFSET if stop_offset is None else stop_offset
        self.max_size = max_size
        self.position = 0
        self.next_offset = start_offset
        self.finished = False

    def advance(self, end: int, last_offset: int) -> None:
        """Move behind a batch."""
        self.position = end
        self.next_offset = max(self.next_offset, min(last_offset + 1, self.stop_offset))
        self.finished = last_offset + 1 >= self.stop_offset

    def corrupt(self, what: str, offset: int | None = None) -> CorruptRecordException:
        """An error that says where the damage is."""
        if offset is None:
            offset = int.from_bytes(self.view[self.position : self.position + 8], "big", signed=True)
        return CorruptRecordException(
            f"Cannot decode the batch of {self.topic}-{self.partition} with offset {offset} at byte {self.position} "
            f"of {len(self.view)}: {what}. Fetching it again helps if it was damaged on the way; seek past it if not."
        )

    def pack(self, codec: int, start: int, end: int) -> Packed:
        """Look at compressed records."""
        try:
            return pack_of(codec, self.view[start:end], self.max_size)
        except CodecError as error:
            raise self.corrupt(f"it cannot be decompressed ({error})") from error
        except UnsupportedCompressionTypeError as error:
            raise UnsupportedCompressionTypeError(str(self.corrupt(str(error)))) from error

    def unpack(self, packed: Packed, into: Collector | None) -> Buffer:
        """Decompress, into memory of the collector's if there is one."""
        scratch = None if into is None else into.scratch(min(packed.bound, self.max_size))
        try:
            return packed.unpack(self.max_size, scratch)
        except CodecError as error:
            raise self.corrupt(f"it cannot be decompressed ({error})") from error
