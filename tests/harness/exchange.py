"""Records that clients exchange in tests, and what a test knows of a client."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
START_MS = 1_700_000_000_000


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
        """Read the next `count` records of the group, commit, and leave; fewer if no more come in 20 s."""


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
