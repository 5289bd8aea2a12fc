"""Reads what `kafka.spark.watch` writes as JSON lines, while it is being written."""

import collections
import dataclasses
import datetime
import json
import os
import pathlib
from collections.abc import Mapping
from typing import Any

KEPT = 720
_FIRST_READ = 4 << 20
"""Of a file that is there already the end is enough."""
_AT_ONCE = 16 << 20


@dataclasses.dataclass(frozen=True, slots=True)
class Batch:
    """A micro-batch, as far as it is shown; None: the file does not say."""

    time: float
    number: int
    seconds: float
    rows: int
    input_rate: float | None
    rate: float | None
    lag: int | None
    lost: int


class SparkLog:
    """The micro-batches of each query, as far as the file has them.

    Arguments:
        path: a file, which need not be there yet, and may be replaced.
    """

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self.queries: dict[str, collections.deque[Batch]] = {}
        self.unread = 0
        self._at = 0
        self._file: tuple[int, int] | None = None

    def read(self) -> None:
        """Read what has come. Raises `OSError`; a file that is not there yet is none of these."""
        try:
            with self.path.open("rb") as file:
                self._seek(file)
                data = file.read(_AT_ONCE)
        except FileNotFoundError:
            return
        whole = data[: data.rfind(b"\n") + 1]
        self._at += len(whole)
        for line in whole.splitlines():
            self._add(line)

    def _seek(self, file: Any) -> None:
        status = os.fstat(file.fileno())
        if self._file != (status.st_dev, status.st_ino) or status.st_size < self._at:
            self._file, self._at = (status.st_dev, status.st_ino), max(0, status.st_size - _FIRST_READ)
            file.seek(max(0, self._at - 1))
            if self._at:
                file.readline()  # the rest of a line, or the end of the one before
                self._at = file.tell()
        file.seek(self._at)

    def _add(self, line: bytes) -> None:
        try:
            name, batch = batch_of(json.loads(line))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError):
            self.unread += 1
            return
        self.queries.setdefault(name, collections.deque(maxlen=KEPT)).append(batch)


def batch_of(line: Mapping[str, Any]) -> tuple[str, Batch]:
    """The query's name and its micro-batch. Raises `ValueError`, `TypeError` or `KeyError` for what is none."""
    sources = line["sources"]
    lags = [each["lag"] for each in sources]
    return str(line["query"]), Batch(
        time=datetime.datetime.fromisoformat(line["time"]).timestamp(),
        number=int(line["batch"]),
        seconds=float(line["seconds"]),
        rows=int(line["rows"]),
        input_rate=_sum([each["inputRowsPerSecond"] for each in sources]),
        rate=_sum([each["processedRowsPerSecond"] for each in sources]),
        lag=None if None in lags or not lags else sum(map(int, lags)),
        lost=sum(int(part["lost"]) for each in sources for part in each["partitions"]),
    )


def _sum(values: list[Any]) -> float | None:
    known = [float(each) for each in values if each is not None]
    return sum(known) if known else None
