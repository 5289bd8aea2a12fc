"""Sends rows from CSV, Parquet and Arrow as records."""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from typing import IO, TYPE_CHECKING, Any

import click

from kafka.cli.produce.sending import CONVERT, UTF_16, BadInputError, Sending
from kafka.cli.typed_fields import Json, Row
from kafka.errors import KafkaError

if TYPE_CHECKING:
    import pyarrow

_RECORD = ("key", "value", "headers", "partition", "timestamp", "topic", "offset", "timestamp_type")
_ROWS = 65_536
_LONGEST_FIELD = 1 << 30
"""Maximum number of characters in a CSV field, more than the 131,072 that Python allows by default."""


def send_csv(
    sending: Sending, file: IO[bytes], key_column: str | None, keep_partitions: bool, null: str | None = None
) -> None:
    """Send CSV rows. The header line names the fields of a record, or any other columns.

    The other columns become a JSON object, which is the value of the record.

    Arguments:
        null: text of null keys and values; None: an empty key is null, and no value is null.

    Raises `BadInputError`, and `click.UsageError` if the key column does not exist.
    """
    text = io.TextIOWrapper(file, "utf-8-sig", "surrogateescape", newline="")  # some programs write a byte order mark
    limit = csv.field_size_limit(_LONGEST_FIELD)
    try:
        rows = csv.DictReader(text, strict=True)
        titles = list(rows.fieldnames or ())
        if titles and _bytes(titles[0]).startswith(UTF_16):
            raise BadInputError(f"expected text in UTF-8, found UTF-16: {CONVERT.format('UTF-16')}")
        as_records = "value" in titles and all(title in _RECORD for title in titles)
        _check_key(key_column, titles)
        for row in rows:
            if None in row or None in row.values():
                raise BadInputError(f"line {rows.line_num} does not have {len(titles)} fields, as the header does")
            if as_records and key_column is None:
                _send_row(sending, row, keep_partitions, null)
            else:
                key = None if key_column is None else _bytes(row[key_column])
                if sending.has_fields:
                    sending.send(Row(row, null, key_column), key)
                else:
                    sending.send(_json(row, rows.line_num), key)
    except KafkaError:  # the error concerns the topic or the settings, not the rows
        raise
    except (csv.Error, ValueError, TypeError, RecursionError) as error:
        raise BadInputError(f"not a CSV file of records: {error}") from None
    finally:
        csv.field_size_limit(limit)
        text.detach()


def _json(row: Mapping[str, str], line: int) -> bytes:
    """Return a row as JSON, which is always in UTF-8. Raises `BadInputError`."""
    try:
        return json.dumps(row, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise BadInputError(f"line {line} is not text in UTF-8: {CONVERT.format('LATIN1')}") from None


def _send_row(sending: Sending, row: Mapping[str, str], keep_partitions: bool, null: str | None) -> None:
    headers = _headers(row.get("headers") or "[]")
    partition, time = row.get("partition"), row.get("timestamp")
    key, value = row.get("key"), row["value"]
    sending.send(
        None if value == null else _bytes(value),
        None if key is None or key == (null or "") else _bytes(key),
        headers,
        int(partition) if partition and keep_partitions else None,
        int(time) if time else None,
    )


def _headers(text: str) -> list[tuple[str, bytes | None]]:
    """Parse headers in the form that `kafka consume` writes: pairs of strings in JSON. Raises `ValueError`."""
    given = json.loads(text)
    if not isinstance(given, list) or not all(_is_header(each) for each in given):
        raise ValueError(f"expected headers as pairs of strings in JSON, got {text[:80]}")
    return [(name, None if value is None else _bytes(value)) for name, value in given]


def _is_header(given: Any) -> bool:
    return (
        isinstance(given, list)
        and len(given) == 2
        and isinstance(given[0], str)
        and (given[1] is None or isinstance(given[1], str))
    )


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def send_arrow(sending: Sending, kind: str, file: IO[bytes], key_column: str | None, keep_partitions: bool) -> None:
    """Send rows of a Parquet file, an Arrow stream or an Arrow file. Raises `click.UsageError`."""
    for batch in _batches(kind, file):
        titles = batch.schema.names
        _check_key(key_column, titles)
        if "value" in titles and all(title in _RECORD for title in titles) and key_column is None:
            try:
                sending.send_table(batch if keep_partitions else _without_partition(batch))
            except (TypeError, ValueError) as error:
                raise BadInputError(f"these rows are not records: {error}") from None
        else:
            for row in _objects(batch):
                key = None if key_column is None else _key(row[key_column])
                if sending.has_json("value"):
                    sending.send(Json(row, key_column), key)
                else:
                    sending.send(json.dumps(row, ensure_ascii=False, default=_jsonable).encode(), key)


def _objects(batch: "pyarrow.RecordBatch") -> list[dict[str, Any]]:
    """Convert rows, including maps, to JSON objects. Raises `BadInputError` if a map contains a key twice."""
    try:
        return batch.to_pylist(maps_as_pydicts="strict")
    except KeyError as error:
        raise BadInputError(f"a map with duplicate keys cannot be written as JSON: {error.args[0]}") from None


def _batches(kind: str, file: IO[bytes]) -> "Iterator[pyarrow.RecordBatch]":
    """Yield the batches of a file. Raises `click.UsageError` if it is not a file of this kind."""
    import pyarrow

    try:
        yield from _read(kind, file)
    except pyarrow.ArrowInvalid as error:
        raise BadInputError(f"not a {kind} file, or a damaged one: {error}") from None


def _read(kind: str, file: IO[bytes]) -> "Iterator[pyarrow.RecordBatch]":
    import pyarrow

    if kind == "parquet":
        import pyarrow.parquet

        if not file.seekable():
            file = io.BytesIO(file.read())  # a Parquet file has its metadata at the end
        yield from pyarrow.parquet.ParquetFile(file).iter_batches(_ROWS)
        return
    start = file.read(6)
    whole = io.BytesIO(start + file.read())
    if start == b"ARROW1":
        reader = pyarrow.ipc.open_file(whole)
        yield from (reader.get_batch(at) for at in range(reader.num_record_batches))
    else:
        yield from pyarrow.ipc.open_stream(whole)


def _without_partition(batch: "pyarrow.RecordBatch") -> "pyarrow.RecordBatch":
    names = [name for name in batch.schema.names if name != "partition"]
    return batch.select(names)


def _check_key(key_column: str | None, titles: list[str]) -> None:
    if key_column is not None and key_column not in titles:
        raise click.UsageError(f"there is no key column {key_column!r}; the columns are {', '.join(titles)}")


def _key(value: Any) -> bytes | None:
    if value is None or isinstance(value, bytes):
        return value
    return (value if isinstance(value, str) else json.dumps(value, default=_jsonable)).encode()


def _jsonable(value: Any) -> Any:
    """Convert values that JSON has no type for, such as bytes and times, to text."""
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)
