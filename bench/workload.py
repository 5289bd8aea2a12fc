"""The records of the benchmarks, and sums that show whether all of them arrived unchanged.

Every value has the same size and every key 8 bytes. The sum is a sum of columns of 32-bit words, whatever the order in
which the records come: it costs about 15 ns a record, the same for all clients, and is counted in their time, as a
program that uses a record touches its bytes too.

Making a record costs more than sending it. So a run makes all of them once (`store`), into two files of a folder that
its processes find by an environment variable; without one, records are made as they are asked for.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

KEY_SIZE = 8
FOLD = 64
"""How many records are added up side by side: long rows let the addition run at memory speed."""
CHUNK = 100_000
FOLDER_VARIABLE = "KAFKA_BENCH_RECORDS"
Words = np.ndarray[Any, np.dtype[np.uint32]]


def make_value(number: int, size: int) -> bytes:
    """Return value `number`: JSON that compresses about as well as real events do."""
    mixed = (number * 2654435761) & 0xFFFFFFFF
    text = (
        f'{{"id":{number:09d},"at":{1_700_000_000_000 + number * 37},"user":"u{mixed % 50021:05d}",'
        f'"amount":{mixed % 100000:05d},"kind":"{("view", "sale", "gift", "hold")[mixed >> 30]}"}}'
    ).encode()
    if size < len(text):
        raise ValueError(f"a value is at least {len(text)} bytes long, not {size}")
    return text + _filler(mixed, size - len(text))


def _filler(seed: int, size: int) -> bytes:
    """Return text that is half digits that do not repeat, half a pattern that does, as in many a log line."""
    digits = hashlib.shake_128(seed.to_bytes(4)).hexdigest(size // 4).encode() if size > 64 else b""
    return (digits + b" %08x" % seed * (size // 9 + 1))[:size]


def make_key(number: int) -> bytes:
    """Return key `number`."""
    return b"%08d" % (number % 100_000_000)


def make_records(count: int, size: int) -> tuple[list[bytes], list[bytes]]:
    """Return the keys and the values of a workload."""
    keys, values = packed_records(count, size)
    return _cut(keys, KEY_SIZE), _cut(values, size)


def packed_records(count: int, size: int) -> tuple[bytes, bytes]:
    """Return the keys end to end, and the values end to end: from the files, if those are long enough."""
    keys, values = stored_files(size)
    if keys.is_file() and keys.stat().st_size >= count * KEY_SIZE:
        return _beginning(keys, count * KEY_SIZE), _beginning(values, count * size)
    return _packed(0, count, size)


@contextmanager
def storage() -> Iterator[None]:
    """A folder for records, for this process and those that it starts, for as long as the context lasts."""
    with tempfile.TemporaryDirectory(prefix="kafka-bench-") as folder:
        os.environ[FOLDER_VARIABLE] = folder
        try:
            yield
        finally:
            del os.environ[FOLDER_VARIABLE]


def store(count: int, size: int) -> None:
    """Make the records, with all cores, and keep them in the folder of `storage`."""
    starts = range(0, count, CHUNK)
    stops = [min(start + CHUNK, count) for start in starts]
    keys_file, values_file = stored_files(size)
    with ProcessPoolExecutor() as pool, keys_file.open("wb") as keys, values_file.open("wb") as values:
        for some_keys, some_values in pool.map(_packed, starts, stops, [size] * len(stops)):
            keys.write(some_keys)
            values.write(some_values)


def stored_files(size: int) -> tuple[Path, Path]:
    """The files with the keys and the values of a size, whether they exist or not."""
    folder = Path(os.environ.get(FOLDER_VARIABLE) or os.devnull)
    return folder / f"{size}.keys", folder / f"{size}.values"


def _packed(start: int, stop: int, size: int) -> tuple[bytes, bytes]:
    numbers = range(start, stop)
    return b"".join(map(make_key, numbers)), b"".join([make_value(number, size) for number in numbers])


def _cut(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


def _beginning(file: Path, length: int) -> bytes:
    with file.open("rb") as opened:
        return opened.read(length)


@dataclass
class Sums:
    """What is known of the records seen so far."""

    value_size: int
    count: int = 0
    _keys: Words = field(init=False)
    _values: Words = field(init=False)

    def __post_init__(self) -> None:
        if self.value_size % 4:
            raise ValueError(f"the size of a value is a multiple of 4 bytes, not {self.value_size}")
        self._keys = np.zeros(KEY_SIZE // 4, np.uint32)
        self._values = np.zeros(self.value_size // 4, np.uint32)

    def add(self, keys: Sequence[bytes | None], values: Sequence[bytes]) -> None:
        """Take in records given as lists of bytes; if the first has no key, none has."""
        if keys and keys[0] is None:
            keys = [bytes(KEY_SIZE)] * len(keys)
        self.add_buffers(len(values), b"".join(keys), b"".join(values))  # type: ignore[arg-type]  # each has a key

    def add_buffers(self, count: int, keys: Any, values: Any) -> None:
        """Take in records whose keys and values lie end to end in a buffer each."""
        self.count += count
        self._keys += _column_sums(keys, count, KEY_SIZE)
        self._values += _column_sums(values, count, self.value_size)

    def add_arrow(self, batch: Any) -> None:
        """Take in an Arrow batch with binary columns `key` and `value`."""
        if batch.num_rows:
            self.add_buffers(batch.num_rows, _data_of(batch.column("key")), _data_of(batch.column("value")))

    @property
    def checksum(self) -> str:
        """The same for the same records in any order."""
        return f"{zlib.crc32(self._values.tobytes(), zlib.crc32(self._keys.tobytes())):08x}"


def _column_sums(data: Any, count: int, size: int) -> Words:
    """Add up the 32-bit words of `count` records of `size` bytes, column by column, modulo 2**32."""
    if memoryview(data).nbytes != count * size:
        raise ValueError(f"{memoryview(data).nbytes} bytes are not {count} records of {size} bytes")
    words: Words = np.frombuffer(data, np.uint8).view(np.uint32).reshape(count, size // 4)
    whole = count - count % FOLD
    sums: Words = np.add.reduce(words[whole:], axis=0, dtype=np.uint32)
    if whole:
        rows = np.add.reduce(words[:whole].reshape(whole // FOLD, -1), axis=0, dtype=np.uint32)
        sums = sums + np.add.reduce(rows.reshape(FOLD, -1), axis=0, dtype=np.uint32)
    return sums


def _data_of(column: Any) -> Any:
    """Return the bytes of a binary Arrow array, without a copy: its slice of the data buffer."""
    offsets = np.frombuffer(column.buffers()[1], np.int32)
    start, stop = offsets[column.offset], offsets[column.offset + len(column)]
    return memoryview(column.buffers()[2])[start:stop]


def expected(count: int, size: int, *, keys: bool = True) -> Sums:
    """Return the sums of the whole workload, or of its values alone."""
    sums = Sums(size)
    packed_keys, values = packed_records(count, size)
    sums.add_buffers(count, packed_keys if keys else bytes(len(packed_keys)), values)
    return sums
