"""Arrow batches with keys and values as typed columns, and data frames made from them."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from kafka.consumer.buffer.polled_batch import PolledBatch
from kafka.consumer.records.build_records import ErrorHandler, skip
from kafka.errors import RecordDeserializationError
from kafka.formats.bad_values import BadValue, error_column
from kafka.formats.column_io import ColumnReader, ReadAs, reader_of
from kafka.record import Columns, ConsumerRecord, decode_batches
from kafka.serialization import SerializationError
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    import pandas
    import pyarrow

    from kafka.record.arrow_batches import Array

    Bad = Mapping[str, Mapping[int, BadValue]]
    """Why rows have no key or value, by "key" or "value" and by row."""
    Replacement = Mapping[str, Array]
    """The key and the value of a record that replaces a bad one, each as an array of one row."""


__all__ = ["ReadAs", "TypedColumns", "check_installed", "exact_frame", "settled", "settled_async"]

_INSTALL = {
    "pyarrow": "pip install 'kafka-columnar[arrow]'",
    "pandas": "pip install pandas",
    "polars": "pip install polars",
}


class Stop(NamedTuple):
    """The end of a batch before an unreadable record, and the error to raise when the caller reaches that record."""

    piece: int
    offset: int
    error: Exception


class TypedColumns:
    """Builds Arrow batches with typed columns for keys, values or both.

    Arguments:
        key, value: the readers; see `reader_of`. None: the bytes are kept.
        error_columns: whether columns `key_error` and `value_error` explain why a row is null, instead of an error.
        on_error: without these columns, how to handle records that cannot be read, as in ``on_deserialization_error``.
        advice: how to proceed, for the error message; None: as in `RecordDeserializationError`.
    """

    def __init__(
        self, key: Any, value: Any, error_columns: bool, on_error: str | ErrorHandler, advice: str | None = None
    ) -> None:
        given = {"key": key, "value": value}
        self._readers: dict[str, ColumnReader] = {
            name: reader_of(each, name) for name, each in given.items() if each is not None
        }
        if error_columns and not self._readers:
            raise ValueError("Expected key= or value=, or both, with error_columns=True, got neither")
        self._error_columns = error_columns
        self._on_error = None if on_error == "raise" else skip if isinstance(on_error, str) else on_error
        self._advice = "it is skipped" if on_error == "skip" else advice
        self.is_typed = bool(self._readers)

    def of(self, pieces: Sequence[Columns]) -> tuple[Any, Stop | None]:
        """Convert columns to an Arrow batch, up to the first record that can be neither read nor skipped.

        Raises `SchemaNeeded` if a schema has to be looked up first; call this again afterwards.
        """
        from kafka.record.arrow_batches import concat_arrow

        batches = [each.to_arrow() for each in pieces]
        raw = concat_arrow(batches) if batches else decode_batches(b"").to_arrow()
        decoded: dict[str, Array] = {}
        bad: dict[str, dict[int, BadValue]] = {}
        for name, reader in self._readers.items():
            decoded[name], failures = reader.decode_known(raw.column(name), raw.column("headers"), name)
            bad[name] = {each.row: each for each in failures}
        batch = _replaced(raw, decoded)
        if self._error_columns:
            for name, rows in bad.items():
                batch = batch.append_column(f"{name}_error", error_column(raw.column(name), rows))
            return batch, None
        return self._without_bad(batch, pieces, bad) if any(bad.values()) else (batch, None)

    def of_hand_out(self, polled: PolledBatch) -> Any:
        """Convert a polled batch to an Arrow batch. Raises the error of the first record, and `SchemaNeeded`."""
        pieces = polled.pieces
        batch, stop = self.of([piece.columns for piece in pieces])
        if stop is not None:
            if not batch.num_rows:
                raise stop.error
            polled.end_at(pieces[stop.piece], stop.offset)
        return batch

    def _without_bad(self, batch: Any, pieces: Sequence[Columns], bad: Bad) -> tuple[Any, Stop | None]:
        """Return the rows up to the first bad one that is not skipped or replaced, and where and why the batch ends."""
        instead: dict[int, Replacement | None] = {}
        for row in sorted({row for rows in bad.values() for row in rows}):
            piece, at = _place(pieces, row)
            part = next(name for name in ("key", "value") if row in bad.get(name, ()))
            error = _error(pieces[piece].slice(at, at + 1), part, bad[part][row], self._advice)
            if self._on_error is None:
                stop = Stop(piece, error.offset, error)
            else:
                try:
                    record = self._on_error(error)
                    instead[row] = None if record is None else _replacement(batch, record, error)
                    continue
                except Exception as refusal:  # user code may raise anything
                    stop = Stop(piece, error.offset, refusal)
            return self._with(batch.slice(0, row), instead), stop
        return self._with(batch, instead), None

    def _with(self, batch: Any, instead: Mapping[int, Replacement | None]) -> Any:
        """Return the batch with some keys and values replaced, and without the rows whose replacement is None."""
        import pyarrow as pa

        replacements = {row: each for row, each in instead.items() if each is not None}
        for name in ("key", "value") if replacements else ():
            at = batch.schema.names.index(name)
            column = batch.column(at)
            pieces, first = [], 0
            for row, replacement in replacements.items():
                pieces += [column.slice(first, row - first), replacement[name]]
                first = row + 1
            batch = batch.set_column(at, name, pa.concat_arrays([*pieces, column.slice(first)]))
        left_out = {row for row, each in instead.items() if each is None}
        if not left_out:
            return batch
        return batch.take(pa.array([row for row in range(batch.num_rows) if row not in left_out], pa.int64()))


def _replacement(batch: Any, record: ConsumerRecord, error: RecordDeserializationError) -> Replacement:
    """Return the key and the value of a replacement record, each as an array of one row.

    Raises `TypeError` if they do not fit the columns.
    """
    import pyarrow as pa

    made: dict[str, Array] = {}
    for name in ("key", "value"):
        type_, given = batch.schema.field(name).type, getattr(record, name)
        try:
            if pa.types.is_struct(type_) and not isinstance(given, Mapping | None):
                raise TypeError
            made[name] = pa.array([given], type_)
        except (TypeError, ValueError):
            tp = error.topic_partition
            raise TypeError(
                f"on_deserialization_error returned a record with the {name} {given!r:.60} for the one at offset "
                f"{error.offset} of partition {tp.partition} of topic {tp.topic!r}, "
                f"but the column {name!r} is of the type {type_}: return a {name} of that type, None, or no record"
            ) from error
    return made


def _replaced(batch: Any, columns: Mapping[str, Array]) -> Any:
    for name, column in columns.items():
        batch = batch.set_column(batch.schema.names.index(name), name, column)
    return batch


def _place(pieces: Sequence[Columns], row: int) -> tuple[int, int]:
    """Return the piece that contains a row (counted over all pieces), and the row within that piece."""
    for number, piece in enumerate(pieces):
        if row < len(piece):
            return number, row
        row -= len(piece)
    raise IndexError(row)


def _error(row: Columns, part: str, bad: BadValue, advice: str | None) -> RecordDeserializationError:
    [record] = row.to_records()
    tp = TopicPartition(record.topic, record.partition)
    error = RecordDeserializationError(
        tp, record.offset, part, bad.text, record, advice, schema_id=bad.schema_id, field=bad.field
    )
    error.__cause__ = SerializationError(bad.text, schema_id=bad.schema_id, field=bad.field)
    return error


async def settled_async(outcome: Any) -> None:
    """Wait for the result of a lookup, if it is awaitable."""
    if inspect.isawaitable(outcome):
        await outcome


def settled(outcome: Any) -> None:
    """Check the result of a lookup. Raises `TypeError` if it is awaitable."""
    if inspect.iscoroutine(outcome):
        outcome.close()
        raise TypeError(
            "this reader belongs to an AsyncSchemaRegistryClient, which only asyncio clients accept: create one with "
            "reader() of a SchemaRegistryClient"
        )


def check_installed(caller: str, *packages: str) -> None:
    """Raise `ImportError`, with installation instructions, before anything is read.

    Arguments:
        caller: the method, as its user calls it.
        packages: the packages that it requires: "pyarrow", "pandas", "polars".
    """
    for name in packages:
        try:
            import_module(name)
        except ImportError as error:
            raise ImportError(f"{caller} needs {name} ({error}): {_INSTALL[name]}") from error


def exact_frame(table: pyarrow.Table) -> pandas.DataFrame:
    """Convert a table to a data frame, and keep integers in columns with nulls exact; floats have only 53 bits.

    Args:
        table: any table.

    Returns:
        The data frame. Integers with nulls have pandas' nullable types; within structs they are Python integers.
    """
    import pyarrow as pa

    frame: pandas.DataFrame = table.to_pandas(integer_object_nulls=True)
    for field, column in zip(table.schema, table.columns, strict=True):
        if pa.types.is_integer(field.type) and column.null_count:
            nullable: Any = str(field.type).replace("uint", "UInt").replace("int", "Int", 1)
            frame[field.name] = frame[field.name].astype(nullable)
    return frame
