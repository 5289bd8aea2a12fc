"""``kafka copy --keep-offsets``: copies a topic so that each record has the same offset as in the source.

Brokers assign consecutive offsets, and clients cannot choose them. Offsets are therefore equal only if the source has
no gaps, as transactions and compaction leave them. The part that the source has deleted is replaced by empty records,
which are deleted again. The copy does not use transactions, because their markers occupy offsets. Its progress is the
end of the target, so it resumes exactly there.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from kafka.cli.copied_groups import Sides, offset_range, read_tail
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    from kafka.admin import KafkaAdminClient
    from kafka.cli.consume.source import Source
    from kafka.producer import KafkaProducer
    from kafka.record import Columns

_MOST_EMPTY = 10_000_000
"""Maximum number of empty records to write in place of deleted ones."""
_AT_ONCE = 100_000


class EqualOffsets:
    """The next offset to copy of each partition, which is also the end of the target.

    Arguments:
        sides: the source and the target.
        numbers: the partitions.

    Attributes:
        next: the next offsets.

    Raises `click.ClickException` if the target has other records.
    """

    def __init__(self, sides: Sides, numbers: list[int]) -> None:
        self._sides = sides
        wanted = dict.fromkeys(numbers, 0)
        self._first, self._last = offset_range(sides.session, sides.source, wanted)
        _, ends = offset_range(sides.to, sides.target, wanted)
        self.next = {number: ends[number] or self._first[number] for number in numbers}
        self._empty = {number: self.next[number] for number in numbers if not ends[number] and self.next[number]}
        for number in numbers:
            self._check(number, ends[number])

    def _check(self, number: int, end: int) -> None:
        """Raise `click.ClickException` unless an earlier copy can continue at the end of the target."""
        sides, first, last = self._sides, self._first[number], self._last[number]
        if not end:
            if first > _MOST_EMPTY:
                raise click.ClickException(
                    f"{sides.source}:{number} starts at offset {first:,}: to reach it, --keep-offsets would write as "
                    f"many empty records, and writes at most {_MOST_EMPTY:,}"
                )
            return
        theirs = read_tail(sides.to, TopicPartition(sides.target, number), end - 1, end)
        ours = read_tail(sides.session, TopicPartition(sides.source, number), max(end - 1, first), end)
        if not first <= end <= last or theirs.offsets != ours.offsets or theirs.hashes != ours.hashes:
            raise click.ClickException(
                f"{sides.target}:{number} ends at offset {end:,} with another record than {sides.source}:{number}, "
                f"which has offsets {first:,} to {last:,}: --keep-offsets requires an empty target, or an earlier copy"
            )

    def fill(self, producer: "KafkaProducer", admin: "KafkaAdminClient") -> None:
        """Let empty partitions of the target begin at the same offsets as in the source."""
        for number, count in self._empty.items():
            for at in range(count):
                producer.send(self._sides.target, b"", partition=number)
                if at % _AT_ONCE == 0:
                    producer.flush()
        producer.flush()
        if self._empty:
            admin.delete_records({TopicPartition(self._sides.target, n): count for n, count in self._empty.items()})

    def check(self, columns: "Columns") -> None:
        """Raise `click.ClickException` at a gap in the offsets of the source; otherwise advance the next offset."""
        number, expected = columns.partition, self.next[columns.partition]
        for offset in columns.offsets:
            if offset != expected:
                raise click.ClickException(
                    f"{self._sides.source}:{number} has no record at offset {expected:,}, because of a transaction or "
                    "compaction: later offsets cannot be kept. Copy to another topic without --keep-offsets"
                )
            expected += 1
        self.next[number] = expected

    def confirm(self) -> None:
        """Raise `click.ClickException` unless the target ends at the next offsets."""
        _, ends = offset_range(self._sides.to, self._sides.target, self.next)
        for number, end in ends.items():
            if end != self.next[number]:
                raise click.ClickException(
                    f"{self._sides.target}:{number} ends at offset {end:,} instead of {self.next[number]:,}: another "
                    "client writes to it, so its offsets are not those of the source"
                )


def open_equal(sides: Sides, starts: Mapping[int, int], end: Any, follow: bool) -> "Source":
    """Return the source of records from these offsets on."""
    from kafka.cli.consume.source import Following, Snapshot, open_read

    begin: Any = {TopicPartition(sides.source, number): offset for number, offset in starts.items()}
    sides.session.settings["isolation_level"] = "read_committed"
    read = open_read(sides.session, list(begin), begin, **({} if end is None else {"end": end}))
    return Following(sides.session, read, None, on_topic_recreated="raise") if follow else Snapshot(read)
