"""Fields of records for ``--where`` and for templates such as ``%{value.status}``.

`kafka.filters` defines the syntax. This module gives it the records of the command line: columns, records, and typed
keys and values, which have been converted to JSON text (`Document`).
"""

import json
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from kafka.cli.consume.typed_columns import TextColumns
from kafka.cli.typed_fields import Document
from kafka.filters import MISSING, FilterRecord, RecordField, parsed_json

if TYPE_CHECKING:
    from kafka.record import Columns, ConsumerRecord


def of_row(columns: "Columns | TextColumns", row: int, parts: frozenset[str]) -> FilterRecord:
    """Return the record in a row.

    Arguments:
        parts: the parts of the record that are needed, as in `Filter.roots`.
    """
    if isinstance(columns, TextColumns):
        return of_record(columns.to_records()[row])
    sized = "size" in parts
    return FilterRecord(
        columns.topic,
        columns.partition,
        columns.offsets[row],
        columns.timestamps[row],
        columns.key(row) if sized or "key" in parts else None,
        columns.value(row) if sized or "value" in parts else None,
        columns.headers(row) if sized or "headers" in parts else (),
    )


def of_record(record: "ConsumerRecord") -> FilterRecord:
    """Return a record for filters. The size is that of the data before keys and values were converted to text."""
    headers = record.headers
    size = max(record.serialized_key_size, 0) + max(record.serialized_value_size, 0)
    size += sum(len(name.encode("utf-8", "surrogatepass")) + len(value or b"") for name, value in headers)
    return FilterRecord(
        record.topic,
        record.partition,
        record.offset,
        record.timestamp,
        _decoded(record.key),
        _decoded(record.value),
        headers,
        size,
    )


def _decoded(data: Any) -> Any:
    """Return typed data as an object, so that a text is compared without the quotes of its JSON."""
    return parsed_json(data) if isinstance(data, Document) else data


def field_text(path: str) -> "Callable[[ConsumerRecord], bytes]":
    """Return a function that returns a field as text, empty for null and missing fields. Raises `FilterError`.

    Arguments:
        path: the field, such as ``value.items[0].sku``.
    """
    field = RecordField(path)

    def text(record: "ConsumerRecord") -> bytes:
        return _text(field.of(of_record(record)))

    return text


def _text(value: Any) -> bytes:
    if value is None or value is MISSING:
        return b""
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    if isinstance(value, Decimal):
        return str(value).encode()
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_number).encode(
        "utf-8", "surrogatepass"
    )


def _number(value: Any) -> Any:
    """Return a number of JSON with a fraction, for `json.dumps`."""
    return float(value) if isinstance(value, Decimal) else str(value)
