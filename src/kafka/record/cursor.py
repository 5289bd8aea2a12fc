"""Where decoding stands in the batches of one partition, its bounds, and errors that name the place."""

from __future__ import annotations

from kafka.errors import CorruptRecordException, DecompressionLimitError, UnsupportedCompressionTypeError
from kafka.record.codecs import CodecError, CompressedRecords, SizeLimitError, compressed_records
from kafka.record.layout import MAX_OFFSET
from kafka.record.types import Buffer


class Cursor:
    """See the module. The arguments are those of `kafka.record.decode.BatchDecoder`.

    Attributes:
        view: all bytes of the partition.
        position: of the batch to be taken next, in bytes.
        next_offset: behind the last batch taken.
        finished: whether there is nothing left to take.
        singly_until: batches before this position are taken one by one: one of them is damaged.
    """

    def __init__(
        self,
        data: Buffer,
        topic: str,
        partition: int,
        start_offset: int,
        stop_offset: int | None,
        max_size: int,
    ) -> None:
        self.view = memoryview(data).cast("B")
        self.topic = topic
        self.partition = partition
        self.start_offset = start_offset
        self.stop_offset = MAX_OFFSET if stop_offset is None else min(stop_offset, MAX_OFFSET)
        self.max_size = max_size
        self.position = 0
        self.next_offset = start_offset
        self.finished = False
        self.singly_until = 0

    def advance(self, end: int, last_offset: int) -> None:
        """Move behind a batch."""
        self.position = end
        self.next_offset = max(self.next_offset, min(last_offset + 1, self.stop_offset))
        self.finished = last_offset + 1 >= self.stop_offset

    def corrupt(self, what: str, offset: int | None = None) -> CorruptRecordException:
        """An error that says where the damage is."""
        return CorruptRecordException(
            f"{self._failure(what, self._offset(offset))}. Fetching it again helps if it was damaged on the way; "
            "seek past it if not."
        )

    def _failure(self, what: str, offset: int) -> str:
        return (
            f"Cannot decode the batch of {self.topic}-{self.partition} with offset {offset} at byte {self.position} "
            f"of {len(self.view)}: {what}"
        )

    def _offset(self, known: int | None = None) -> int:
        """The offset with which the batch begins."""
        if known is not None:
            return known
        return int.from_bytes(self.view[self.position : self.position + 8], "big", signed=True)

    def compressed(self, codec: int, start: int, end: int) -> CompressedRecords:
        """Look at the compressed records between two positions.

        Raises:
            CorruptRecordException: they are seen to be damaged.
            DecompressionLimitError: they are seen to hold more than is allowed.
            UnsupportedCompressionTypeError: no such codec.
        """
        try:
            return compressed_records(codec, self.view[start:end], self.max_size)
        except CodecError as error:
            raise self._from_codec(error) from error
        except UnsupportedCompressionTypeError as error:
            raise UnsupportedCompressionTypeError(str(self.corrupt(str(error)))) from error

    def decompress(self, records: CompressedRecords, scratch: memoryview | None) -> Buffer:
        """Decompress, into `scratch` where it is large enough.

        Raises:
            CorruptRecordException: they are damaged.
            DecompressionLimitError: more than is allowed comes out.
        """
        try:
            return records.decompress(self.max_size, scratch)
        except CodecError as error:
            raise self._from_codec(error) from error

    def _from_codec(self, error: CodecError) -> CorruptRecordException:
        """What a codec says, with the place."""
        if not isinstance(error, SizeLimitError):
            return self.corrupt(f"it cannot be decompressed ({error})")
        offset = self._offset()
        return DecompressionLimitError(
            f"{self._failure(f'its records may have {self.max_size} bytes decompressed, and have more', offset)} "
            f"({error}). Raise the limit (a consumer's max_decompressed_batch_bytes) "
            "if you trust who wrote it; seek past it if not.",
            topic=self.topic,
            partition=self.partition,
            offset=offset,
            limit=self.max_size,
        )
