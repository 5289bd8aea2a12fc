"""Records that clients exchange in tests, and what a test knows of a client."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
"""Written out, because other clients with a package `kafka` of their own import this module, too."""
START_MS = 1_700_000_000_000
PATIENCE_S = 60
"""How long a client waits for a record. It ends a test that hangs; a busy machine may need much of it."""


@dataclass(frozen=True, order=True)
class Record:
    """A record as every client can write and read it."""

    key: str | None
    value: str | None
    headers: tuple[tuple[str, str], ...]
    timestamp_ms: int | None


class Client(Protocol):
    """A client of Kafka."""

    name: str

    def produce(self, bootstrap_servers: str, topic: str, codec: str, records: Sequence[Record]) -> None:
        """Write the records to partition 0, in order, in batches of this codec; return when they are acknowledged."""

    def consume(self, bootstrap_servers: str, topic: str, group: str, count: int) -> list[Record]:
        """Read the next `count` records of the group, commit, and leave; fewer if none comes in `PATIENCE_S`."""


def sample(writer: str, codec: str, count: int = 40) -> list[Record]:
    """Return records with and without key, value and headers, small and large, that tell where they are from."""
    records = []
    for number in range(count):
        value = f"{writer} {codec} {number} äöü€ " + "columnar " * (number * number)
        records.append(
            Record(
                key=None if number % 5 == 4 else f"key-{number}",
                value=None if number % 7 == 6 and number % 5 != 4 else value,
                headers=tuple((f"h{i}", f"v{number}-{i}") for i in range(1 + number % 3)) if number % 2 == 0 else (),
                timestamp_ms=START_MS + number * 1000,
            )
        )
    return records


def difference(found: Sequence[Record], wanted: Sequence[Record]) -> str:
    """Say in a line how what was found differs from what was wanted; nothing if it does not."""
    for number, (one, other) in enumerate(zip(found, wanted, strict=False)):
        if one != other:
            return f"record {number} of {len(wanted)} is {repr(one)[:200]}, not {repr(other)[:200]}"
    return "" if len(found) == len(wanted) else f"{len(found)} records came, not {len(wanted)}"
