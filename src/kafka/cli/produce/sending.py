"""Sends records, counts them, and reports the throughput."""

import codecs
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from kafka.cli.command_output import Output, note
from kafka.cli.typed_fields import Given, Json
from kafka.display import size_text

if TYPE_CHECKING:
    from kafka.cli.typed_fields import ToBytes
    from kafka.producer import KafkaProducer

Headers = Sequence[tuple[str, bytes | None]]
_REPORT_EVERY = 4096
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
"""Byte order marks at the beginning of a text in UTF-16."""
CONVERT = "convert it to UTF-8, for example with: iconv -f {} -t UTF-8"


class BadInputError(click.ClickException):
    """Raised if the input is not a record, or does not match its format. The records before it are still sent."""

    exit_code = 2


class Fixed(NamedTuple):
    """Defaults for all records, used unless the input specifies other values."""

    key: bytes | None = None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    partition: int | None = None
    timestamp_ms: int | None = None


class Sending:
    """Sends records to one topic.

    Attributes:
        records: number of records passed to the producer.
        size: size of their keys and values in bytes.
    """

    def __init__(
        self,
        producer: "KafkaProducer",
        topic: str,
        fixed: Fixed,
        progress: bool,
        typed: "tuple[ToBytes | None, ToBytes | None]" = (None, None),
    ) -> None:
        self._key_bytes, self._value_bytes = typed
        self._producer = producer
        self._topic = topic
        self.fixed = fixed
        self._progress = progress
        self._began = time.monotonic()
        self.records = self.size = self._of_earlier_inputs = 0

    def begin_input(self) -> None:
        """Begin another file; errors count its records from 1."""
        self._of_earlier_inputs = self.records

    def send(
        self,
        value: Given | None,
        key: Given | None = None,
        headers: Headers | None = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
    ) -> None:
        """Send one record; `Fixed` has defaults for arguments that are None. `finish` raises delivery errors."""
        fixed, is_own = self.fixed, key is not None
        key_data = self._typed("key", self._key_bytes, fixed.key if key is None else key)
        data = self._typed("value", self._value_bytes, value)
        self._producer.send(
            self._topic,
            data,
            key_data,
            [*fixed.headers, *headers] if headers else fixed.headers or None,
            fixed.partition if partition is None else partition,
            fixed.timestamp_ms if timestamp_ms is None else timestamp_ms,
        )
        self.records += 1
        self.size += len(data or b"") + (len(key_data or b"") if is_own else 0)
        if self._progress and self.records % _REPORT_EVERY == 0:
            self._show()

    def has_json(self, part: str) -> bool:
        """Return whether the format of keys or values is based on JSON; input documents then contain them as JSON."""
        to_bytes = self._key_bytes if part == "key" else self._value_bytes
        return to_bytes is not None and to_bytes.of_json is not None

    @property
    def has_fields(self) -> bool:
        """Whether the schema of values has fields, which can be parsed from text."""
        return self._value_bytes is not None and self._value_bytes.of_row is not None

    def _typed(self, part: str, to_bytes: "ToBytes | None", given: Given | None) -> bytes | None:
        """Convert a key or value to bytes. Raises `BadInputError` if it does not fit its format."""
        if given is None or (to_bytes is None and isinstance(given, bytes)):
            return given
        assert to_bytes is not None
        make: Any = to_bytes.of_text
        try:
            if isinstance(given, Json):
                make, known = to_bytes.of_json, to_bytes.known
                given = given.value if given.key is None or known is None else given.fitting(known(self._topic))
            elif not isinstance(given, bytes):
                make = to_bytes.of_row
            made: bytes = make(self._topic, given)
        except (ValueError, RecursionError) as error:
            why = "it is nested too deeply" if isinstance(error, RecursionError) else error
            number = self.records - self._of_earlier_inputs + 1
            raise BadInputError(f"record {number}: the {part} cannot be sent: {why}") from None
        return made

    def send_table(self, table: Any) -> None:
        """Send the rows of an Arrow table, without objects. Raises `click.UsageError` for typed keys or values."""
        if self._key_bytes is not None or self._value_bytes is not None:
            raise click.UsageError("these rows are records, with keys and values in bytes: leave out --value")
        self._producer.send_arrow(self._topic, table)
        self.records += table.num_rows
        self.size += table.nbytes
        if self._progress:
            self._show()

    def finish(self) -> None:
        """Wait until all records are delivered. Raises the first failure, with the number of failures."""
        self._producer.flush()

    def told(self, error: BadInputError) -> BadInputError:
        """Deliver the records before an invalid one; return the error with their number added to the message."""
        self.finish()
        count = "1 record was" if self.records == 1 else f"{self.records:,} records were"
        return BadInputError(f"{error.message} ({count} sent before)")

    def summary(self) -> dict[str, Any]:
        """Return figures about the records sent, for JSON."""
        seconds = max(time.monotonic() - self._began, 1e-6)
        return {
            "topic": self._topic,
            "records": self.records,
            "bytes": self.size,
            "seconds": round(seconds, 3),
            "records_per_second": round(self.records / seconds),
        }

    def report(self, output: Output) -> None:
        """Report the records sent: as JSON on standard output, or as a line on standard error if it is a terminal."""
        if output.as_json:
            output.data(self.summary())
        elif not self.records:
            note("no records were sent: the input has none")
        elif sys.stderr.isatty():
            note(("\r" if self._progress else "") + self._text())

    def _show(self) -> None:
        click.echo(f"\r{self._text()}", nl=False, err=True)

    def _text(self) -> str:
        told = self.summary()
        return (
            f"{told['records']:,} records, {size_text(told['bytes'])}, in {told['seconds']:.1f} s: "
            f"{told['records_per_second']:,} per second"
        )
