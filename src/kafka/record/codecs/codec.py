"""The interface of codecs, and compressed records that have not been decompressed yet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from kafka._variant import is_free_threaded
from kafka.record.batch_types import Buffer, Compression
from kafka.record.memory import allocate, cut

MAX_DECOMPRESSED_SIZE = 256 << 20
"""Default limit on the size of a batch's decompressed records: 256 MiB."""


Errors = tuple[type[Exception], ...]
_DAMAGE: Errors = (ValueError, IndexError)
"""Errors that this package's own code raises for damaged bytes."""


def filling_views(decompress_into: Callable[..., int]) -> Callable[..., int]:
    """Return a function of cramjam that decompresses into memory, for memory of any kind.

    On a free-threaded Python, cramjam does not write into a memoryview, so the result takes a detour there.

    Arguments:
        decompress_into: takes compressed bytes and the memory, and returns the number of bytes written.
    """
    if not is_free_threaded():
        return decompress_into

    def fill(data: Buffer, room: memoryview, **options: Any) -> int:
        scratch = bytearray(len(room))
        size = int(decompress_into(data, scratch, **options))
        room[:size] = memoryview(scratch)[:size]
        return size

    return fill


class CodecError(ValueError):
    """The compressed bytes are damaged, or exceed a limit."""


class SizeLimitError(CodecError):
    """The compressed bytes contain, or claim to contain, more than the limit."""


class Compress(Protocol):
    """Compresses the records of a batch."""

    def __call__(self, data: Buffer, level: int | None, magic: int) -> Buffer:
        """Compress records.

        Args:
            data: the records.
            level: the codec's level; None for the default level.
            magic: the batch's magic.
        """


class Codec(NamedTuple):
    """A codec for record batches.

    Attributes:
        kind: number and name of the codec.
        compress: compresses the records of a batch.
        measure: inspects compressed records without decompressing them, given the maximum decompressed size.
        decompress_small: decompresses into a buffer that may be too small, without inspecting the bytes first; returns
            the number of bytes written.
        errors: exceptions that the codec's libraries raise for invalid bytes.
        oldest_magic: the first record format that supports the codec.
        oldest_produce: the first version of the Produce API that supports the codec.
        oldest_fetch: the first version of the Fetch API that supports the codec.
        slow_from: size in bytes from which compression takes about a millisecond, and therefore runs in another thread;
            None if compression is always faster than starting a thread.
    """

    kind: Compression
    compress: Compress
    measure: Callable[[memoryview, int], CompressedRecords]
    decompress_small: Callable[[memoryview, memoryview], int]
    errors: Errors
    oldest_magic: int = 0
    oldest_produce: int = 0
    oldest_fetch: int = 0
    slow_from: int | None = None


def within(least: int, most: int, max_size: int) -> int:
    """Return `most`, an upper bound on the decompressed size.

    Args:
        least: a lower bound on the decompressed size.
        max_size: the maximum size.

    Raises:
        SizeLimitError: even `least` exceeds the maximum.
    """
    if least > max_size:
        raise SizeLimitError(f"they claim to hold {least} bytes, {max_size} are allowed")
    return most


def codec_error(error: Exception) -> CodecError:
    """Convert an error to a `CodecError`."""
    return error if isinstance(error, CodecError) else CodecError(str(error))


def damage_of(errors: Errors) -> Errors:
    """Return the errors raised for damaged bytes, including those of the libraries."""
    return (*_DAMAGE, *errors)


class CompressedRecords:
    """The records of a batch before decompression.

    Attributes:
        bound: maximum number of decompressed bytes. Only gzip data may exceed this, if its last bytes are wrong or it
            consists of several members.
    """

    __slots__ = ("_errors", "_fill", "_otherwise", "_size", "bound")

    def __init__(
        self,
        size: int,
        bound: int,
        fill: Callable[[memoryview], int],
        errors: Errors,
        otherwise: Callable[[], Buffer] | None = None,
    ) -> None:
        self._size = size
        self._errors = errors
        self._fill = fill
        self._otherwise = otherwise
        self.bound = bound

    def decompress(self, max_size: int = MAX_DECOMPRESSED_SIZE, scratch: memoryview | None = None) -> Buffer:
        """Decompress the records.

        Args:
            max_size: maximum number of decompressed bytes.
            scratch: memory to decompress into if it is large enough for `bound`; the result is then a part of this
                memory.

        Raises:
            CodecError: the bytes are damaged.
            SizeLimitError: the records decompress to more than `max_size` bytes.
        """
        try:
            return self._decompress(max_size, scratch)
        except damage_of(self._errors) as error:
            raise codec_error(error) from error

    def _decompress(self, max_size: int, scratch: memoryview | None) -> Buffer:
        room = min(self.bound, max_size)
        if self._otherwise is not None and self.bound > max_size:
            return self._otherwise()
        fits = scratch is not None and len(scratch) >= room
        target = scratch[:room] if scratch is not None and fits else allocate(room)
        try:
            size = self._fill(target)
        except damage_of(self._errors) as error:
            if self._otherwise is not None:
                return self._otherwise()
            if self.bound > max_size:
                raise SizeLimitError(f"{error}, with {max_size} bytes allowed to come out of {self._size}") from error
            raise
        return target[:size] if fits else cut(target, size)
