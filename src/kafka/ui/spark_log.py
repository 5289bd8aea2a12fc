"""Reads the JSON lines that `kafka.spark.watch` writes, even while they are being written."""

import collections
import dataclasses
import datetime
import json
import os
import pathlib
import stat
import threading
from collections.abc import Mapping
from typing import Any

KEPT = 720
_FIRST_READ = 4 << 20
"""Maximum number of bytes read from the end of an existing file."""
_AT_ONCE = 16 << 20
_LARGEST = 2**63


@dataclasses.dataclass(frozen=True, slots=True)
class Batch:
    """The fields of a micro-batch that are shown; a field is None if it is missing in the file."""

    time: float
    number: int
    seconds: float
    rows: int
    input_rate: float | None
    rate: float | None
    lag: int | None
    lost: int


class SparkLog:
    """The micro-batches of each query in a file.

    Arguments:
        path: the file, which need not exist yet and may be replaced.
    """

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self.queries: dict[str, collections.deque[Batch]] = {}
        self.unread = 0
        self._at = 0
        self._file: tuple[int, int] | None = None
        self._reading = threading.Lock()  # a thread that reads for a viewer continues after the viewer leaves

    def read(self) -> dict[str, list[Batch]]:
        """Read new lines, and return all kept batches by query.

        The lists are copies, because other threads may read at the same time. Raises `OSError`, but not if the file
        does not exist yet.
        """
        with self._reading:
            try:
                with open(self.path, "rb", opener=_opened) as file:
                    self._read(file)
            except FileNotFoundError:
                pass
            return {name: list(batches) for name, batches in self.queries.items()}

    def _read(self, file: Any) -> None:
        self._seek(file)
        data = file.read(_AT_ONCE)
        whole = data[: data.rfind(b"\n") + 1]
        if not whole and len(data) == _AT_ONCE:
            whole = data  # overlong line; the rest of it counts as another invalid line
        self._at += len(whole)
        for line in whole.splitlines():
            self._add(line)

    def _seek(self, file: Any) -> None:
        status = os.fstat(file.fileno())
        if self._file != (status.st_dev, status.st_ino) or status.st_size < self._at:
            self._file, self._at = (status.st_dev, status.st_ino), max(0, status.st_size - _FIRST_READ)
            file.seek(max(0, self._at - 1))
            if self._at:
                file.readline()  # skip the rest of a line
                self._at = file.tell()
        file.seek(self._at)

    def _add(self, line: bytes) -> None:
        try:
            name, batch = batch_of(json.loads(line))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError):
            self.unread += 1
            return
        self.queries.setdefault(name, collections.deque(maxlen=KEPT)).append(batch)


def _opened(path: str, flags: int) -> int:
    """Open a regular file. Other files are rejected, because a pipe would block its reader until there is a writer."""
    found = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    if not stat.S_ISREG(os.fstat(found).st_mode) and not stat.S_ISDIR(os.fstat(found).st_mode):
        os.close(found)
        raise OSError(f"expected a file written by kafka.spark.watch, but {path} is not one")
    return found


def batch_of(line: Mapping[str, Any]) -> tuple[str, Batch]:
    """Return a query's name and a micro-batch. Raises `ValueError`, `TypeError` or `KeyError` for invalid input."""
    sources = line["sources"]
    lags = [each["lag"] for each in sources]
    return str(line["query"]), Batch(
        time=datetime.datetime.fromisoformat(line["time"]).timestamp(),
        number=int(_sane(line["batch"])),
        seconds=float(_sane(line["seconds"])),
        rows=int(_sane(line["rows"])),
        input_rate=_sum([each["inputRowsPerSecond"] for each in sources]),
        rate=_sum([each["processedRowsPerSecond"] for each in sources]),
        lag=None if None in lags or not lags else sum(int(_sane(each)) for each in lags),
        lost=sum(int(_sane(part["lost"])) for each in sources for part in each["partitions"]),
    )


def _sane(value: Any) -> Any:
    """Return the number if it is finite and fits in 64 bits; otherwise raise `ValueError` or `TypeError`."""
    if not -_LARGEST <= value <= _LARGEST:  # also rejects NaN
        raise ValueError("expected a 64-bit number")
    return value


def _sum(values: list[Any]) -> float | None:
    known = [float(_sane(each)) for each in values if each is not None]
    return sum(known) if known else None
