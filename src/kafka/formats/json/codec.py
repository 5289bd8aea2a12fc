"""Converts JSON values of one schema to rows of Arrow columns, and back."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from kafka.formats.json.codec_options import DecodeOptions, EncodeOptions
from kafka.formats.json.column_decoder import JsonColumnDecoder
from kafka.formats.json.column_encoder import JsonColumnEncoder
from kafka.formats.json.errors import JsonSchemaError, place
from kafka.formats.json.schema import arrow_type
from kafka.formats.json.texts import in_utf8

if TYPE_CHECKING:
    import pyarrow as pa

    from kafka.formats.bad_values import BadValue


class Json:
    """Encodes and decodes values of one schema. Thread-safe."""

    def __init__(
        self,
        schema: Any,
        *,
        references: Mapping[str, Any] | None = None,
        unknown_fields: Literal["ignore", "error"] = "ignore",
        duplicate_keys: Literal["error", "last"] = "error",
        null_document: Literal["error", "null"] = "error",
        non_finite_numbers: Literal["error", "null", "allow"] = "error",
        lone_surrogates: Literal["error", "replace"] = "error",
        epoch_unit: Literal["s", "ms", "us", "ns"] | None = None,
        nulls: Literal["write", "omit"] = "write",
    ) -> None:
        """Derive the column type from the schema.

        Args:
            schema: an Arrow schema or type; a Spark type, or its JSON; SQL columns, `"id bigint, name string"`; or a
                JSON Schema, as text or objects.
            references: schemas that a JSON Schema refers to, by the names used in the references.
            unknown_fields: how to treat fields that are not in the schema.
            duplicate_keys: how to treat a key that occurs twice in an object; with `"last"`, the last one counts.
            null_document: how to treat the document `null`; a missing value is always null.
            non_finite_numbers: how to treat NaN and infinities: `"error"`; `"allow"`, which writes them like Python's
                json; or `"null"`, which writes null and rejects them when reading.
            lone_surrogates: how to treat half a surrogate pair in a string; `"replace"` substitutes U+FFFD.
            epoch_unit: also read integers as timestamps, in this unit since 1970-01-01.
            nulls: `"write"` writes null fields; `"omit"` leaves them out.

        Raises:
            JsonSchemaError: the schema is invalid, or its type has no JSON values.
            ValueError: an argument has an invalid value.
        """
        self._decode_options = DecodeOptions(
            unknown_fields=unknown_fields,
            duplicate_keys=duplicate_keys,
            null_document=null_document,
            non_finite_numbers="error" if non_finite_numbers == "null" else non_finite_numbers,
            lone_surrogates=lone_surrogates,
            epoch_unit=epoch_unit,
        )
        self._encode_options = EncodeOptions(nulls=nulls, non_finite_numbers=non_finite_numbers)
        self.type: pa.DataType = arrow_type(schema, references)
        """The type of the column that `decode_rows` returns."""
        JsonColumnDecoder(self.type, self._decode_options)

    def __repr__(self) -> str:
        return f"Json({self.type!s:.200})"

    @classmethod
    def infer(
        cls,
        values: pa.BinaryArray | Iterable[bytes | str | None],
        *,
        mixed: Literal["error", "json"] = "error",
        times: bool = False,
        **options: Any,
    ) -> Json:
        """Infer the schema from all values of a bounded read, or from a sample.

        Args:
            values: a binary array, or an iterable of bytes or strings; nulls are skipped.
            mixed: how to treat a field with values of several types: as an error, or as JSON text.
            times: infer a date or timestamp type for a field if its strings are all dates, or all timestamps with an
                offset.
            options: keyword arguments of `Json`.

        Raises:
            JsonSchemaError: a value is not JSON, there are no values, or a field has values of several types.
        """
        as_objects = values.to_pylist() if hasattr(values, "to_pylist") else values
        return cls(infer_type(as_objects, mixed=mixed, times=times), **options)

    def decode_rows(self, values: pa.BinaryArray, *, framed: bool = False) -> tuple[pa.Array[Any], list[BadValue]]:
        """Decode values into a column.

        Args:
            values: a binary or string array, or a chunked array; null stays null.
            framed: whether each value begins with a zero byte and a schema id in four bytes, as written by Confluent's
                serializers.

        Returns:
            The column, with one row per value, and the values that could not be decoded, whose rows are null.

        Raises:
            OverflowError: the column would exceed 2 GiB.
        """
        return JsonColumnDecoder(self.type, self._decode_options).decode(_whole(values), framed=framed)

    def encode_rows(self, rows: Any) -> pa.BinaryArray:
        """Encode rows, each as one compact value in UTF-8; a null row stays null.

        Args:
            rows: an array, a chunked array, a record batch or a table of the schema's type.

        Raises:
            JsonEncodeError: JSON cannot represent a value: NaN, infinities, years before 1 or after 9999. The message
                names the row and field.
            OverflowError: the values exceed 2 GiB.
            ValueError: the rows are of another type, or invalid.
        """
        encoded: pa.BinaryArray = JsonColumnEncoder(self.type, self._encode_options).encode(_whole(rows))
        return encoded


def _whole(rows: Any) -> Any:
    """Combine the chunks of a chunked array or a table; return anything else unchanged."""
    import pyarrow as pa

    if isinstance(rows, pa.Table):
        return rows.to_struct_array().combine_chunks()
    return rows.combine_chunks() if isinstance(rows, pa.ChunkedArray) else rows


_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d(:?\d\d)?)")
_LONG = 1 << 63
_TEXT = pa.json_()


def infer_type(
    values: Iterable[bytes | str | None],
    *,
    mixed: Literal["error", "json"] = "error",
    times: bool = False,
) -> pa.DataType:
    """Infer a type that fits all values, for reading them with `JsonColumnDecoder`.

    Integers become int64, or double if mixed with other numbers; integers beyond 64 bits also become double, rounded.
    All fields are nullable, because later values may lack fields that the sample has. A field that is always null has
    the type null. Objects become structs with the fields of all objects, in order of appearance.

    Args:
        values: the sample; None is skipped.
        mixed: how to treat a field with values of several types: as an error, or as `pyarrow.json_()`, whose values are
            JSON text.
        times: infer a date or timestamp type for a field if its strings are all dates, or all timestamps with an
            offset.

    Raises:
        JsonSchemaError: a value is not JSON, there are no values, or a field has values of several types.
    """
    found: _Found | None = None
    for number, value in enumerate(values):
        if value is None:
            continue
        found = found or _Found()
        found.add(_parsed(number, value), times)
    if found is None:
        raise JsonSchemaError("There are no values to infer a schema from: pass one")
    return found.type("", mixed == "json")


def _parsed(number: int, value: bytes | str) -> Any:
    """Parse a value; numbers beyond a double's range are accepted."""
    try:
        if isinstance(value, bytes):
            value = in_utf8(value) or value
        return json.loads(value)
    except (ValueError, RecursionError) as error:
        raise JsonSchemaError(f"Value {number} of the sample is not JSON: {error}") from error


class _Found:
    """Collects the types of all values at one path."""

    def __init__(self) -> None:
        self._kinds: dict[str, int] = {}
        self._fields: dict[str, _Found] = {}
        self._items: _Found | None = None

    def add(self, value: Any, times: bool) -> None:
        """Add a value's type."""
        kind = _kind(value, times)
        if kind is not None:
            self._kinds[kind] = self._kinds.get(kind, 0) + 1
        if isinstance(value, dict):
            for name, each in value.items():
                self._fields.setdefault(name, _Found()).add(each, times)
        elif isinstance(value, list):
            self._items = self._items or _Found()
            for each in value:
                self._items.add(each, times)

    def type(self, path: str, takes_mixed: bool) -> pa.DataType:
        """Return the type that fits all values."""
        kinds = set(self._kinds)
        if kinds == {"whole", "double"}:
            kinds = {"double"}
        if len(kinds) > 1 and kinds <= {"string", "date", "timestamp"}:
            kinds = {"string"}
        if len(kinds) > 1:
            if takes_mixed:
                return _TEXT
            counted = ", ".join(f"{name} ({count})" for name, count in sorted(self._kinds.items()))
            raise JsonSchemaError(f"{place(path)}the values have several types: {counted}")
        kind = kinds.pop() if kinds else "null"
        if kind == "object":
            fields = [(name, each.type(f"{path}.{name}", takes_mixed)) for name, each in self._fields.items()]
            return pa.struct(fields)
        if kind == "array":
            return pa.list_(self._items.type(f"{path}[]", takes_mixed) if self._items else pa.null())
        return _TYPES[kind]


_TYPES: dict[str, pa.DataType] = {
    "null": pa.null(),
    "boolean": pa.bool_(),
    "whole": pa.int64(),
    "double": pa.float64(),
    "string": pa.string(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
}


def _kind(value: Any, times: bool) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "whole" if -_LONG <= value < _LONG else "double"
    if isinstance(value, float):
        return "double"
    if isinstance(value, str):
        return _kind_of_text(value) if times else "string"
    return "object" if isinstance(value, dict) else "array"


def _kind_of_text(text: str) -> str:
    """Return the kind of a string: a valid date, a valid timestamp, or just a string."""
    try:
        if _DATE.fullmatch(text):
            datetime.date.fromisoformat(text)
            return "date"
        if _TIMESTAMP.fullmatch(text):
            datetime.datetime.fromisoformat(f"{text[:10]}T{text[11:].upper()}")
            return "timestamp"
    except ValueError:
        pass
    return "string"
