"""Parses the JSON that Spark's `to_json` writes for a column into an Arrow array, without loss."""

import re
from typing import Any

import pyarrow as pa

from kafka.formats.json.codec import Json
from kafka.formats.json.errors import JsonSchemaError
from kafka.spark.typed.encoding import RowEncodingError

_SIMPLE: dict[str, pa.DataType] = {
    "void": pa.null(),
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
}
_KEYS = (pa.string(), pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64())
"""Types of map keys that can be parsed from their JSON text."""
_DURATION = pa.duration("us")

_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")
_TEXT = r"string collate [\w.]+|(?:var)?char\(\d+\)"
_SPAN = "interval (?:day|hour|minute|second)(?: to (?:hour|minute|second))?"
_SIMPLE_NAME = re.compile(rf"(?:{'|'.join(_SIMPLE)}|{_DECIMAL.pattern}|{_TEXT}|{_SPAN})(?=[,>]|$)")
_FIELD_END = re.compile(rf":(?=struct<|array<|map<|{_SIMPLE_NAME.pattern})")

_UNITS = ("DAY", "HOUR", "MINUTE", "SECOND")
_SIZES = (24 * 60 * 60 * 1_000_000, 60 * 60 * 1_000_000, 60 * 1_000_000, 1_000_000)
_INTERVAL = re.compile(r"INTERVAL '(-?)([\d :]+)(?:\.(\d{1,6}))?' (DAY|HOUR|MINUTE|SECOND)(?: TO [A-Z]+)?")


class SparkJson:
    """Parses the values of a Spark type.

    Arguments:
        type_name: the type, as returned by Spark's `typeof`.

    Raises `RowEncodingError` for a type whose JSON cannot be parsed.
    """

    def __init__(self, type_name: str) -> None:
        parser = _TypeName(type_name)
        self._written, self._type = parser.whole()
        try:
            self._json = Json(self._written, unknown_fields="error", non_finite_numbers="allow")
        except JsonSchemaError as error:
            raise _refused(type_name, str(error)) from error

    def read(self, texts: Any) -> Any:
        """Parse an array of strings. Raises `RowEncodingError` for a string that cannot be parsed."""
        column, bad = self._json.decode_rows(texts)
        if bad:
            raise RowEncodingError(f"a row cannot be converted from Spark: {bad[0].cause}")
        if self._written == self._type:
            return column
        try:
            return _converted(column, self._type)
        except pa.ArrowInvalid as error:
            raise RowEncodingError(f"a row cannot be converted from Spark: {error}") from error


class _TypeName:
    """Parses the name of a type, in which field names are not quoted."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0

    def whole(self) -> tuple[Any, Any]:
        """Return the type in the JSON, and the type of the column."""
        found = self._type()
        if self._at < len(self._text):
            raise _refused(self._text)
        return found

    def _takes(self, text: str) -> bool:
        found = self._text.startswith(text, self._at)
        self._at += len(text) if found else 0
        return found

    def _type(self) -> tuple[Any, Any]:
        if self._takes("struct<"):
            return self._struct()
        if self._takes("array<"):
            written, type_ = self._type()
            self._takes(">")
            return pa.list_(pa.field("element", written)), pa.list_(pa.field("element", type_))
        if self._takes("map<"):
            return self._map()
        return self._simple()

    def _struct(self) -> tuple[Any, Any]:
        written: list[Any] = []
        types: list[Any] = []
        while not self._takes(">"):
            end = _FIELD_END.search(self._text, self._at)
            if end is None:
                raise _refused(self._text)
            name, self._at = self._text[self._at : end.start()], end.end()
            of_json, of_column = self._type()
            written.append(pa.field(name, of_json))
            types.append(pa.field(name, of_column))
            self._takes(",")
        return pa.struct(written), pa.struct(types)

    def _map(self) -> tuple[Any, Any]:
        start = self._at - len("map<")
        _, keys = self._type()
        self._takes(",")
        written, items = self._type()
        self._takes(">")
        if keys not in _KEYS:
            raise _refused(self._text[start : self._at])
        key = pa.field("key", keys, False)
        return pa.map_(pa.string(), pa.field("value", written)), pa.map_(key, pa.field("value", items))

    def _simple(self) -> tuple[Any, Any]:
        found = _SIMPLE_NAME.match(self._text, self._at)
        if found is None:
            raise _refused(self._text[self._at :])
        name, self._at = found.group(), found.end()
        decimal = _DECIMAL.fullmatch(name)
        if decimal is not None:
            type_: Any = pa.decimal128(int(decimal[1]), int(decimal[2]))
        elif name.startswith("interval "):
            return pa.string(), _DURATION
        else:
            type_ = _SIMPLE.get(name, pa.string())
        return type_, type_


def _refused(name: str, why: str = "") -> RowEncodingError:
    reason = f": {why}" if why else ""
    return RowEncodingError(f"a column with the type {name} cannot be converted from Spark before 4.1{reason}")


def _converted(column: Any, wanted: Any) -> Any:
    """Convert intervals and map keys, which are strings in JSON, to their own types.

    The buffers are reused, so the array must not be sliced: buffers start at the first row of the unsliced array.
    """
    assert column.offset == 0, "the buffers of a sliced array contain other rows"
    if column.type == wanted:
        return column
    own = column.buffers()
    if pa.types.is_struct(wanted):
        children = [_converted(column.field(at), wanted.field(at).type) for at in range(wanted.num_fields)]
        return pa.Array.from_buffers(wanted, len(column), own[:1], column.null_count, children=children)
    if pa.types.is_map(wanted):
        entries = [column.keys.cast(wanted.key_type), _converted(column.items, wanted.item_type)]
        pairs = pa.StructArray.from_arrays(entries, fields=[wanted.key_field, wanted.item_field])
        return pa.Array.from_buffers(wanted, len(column), own[:2], column.null_count, children=[pairs])
    if pa.types.is_list(wanted):
        values = _converted(column.values, wanted.value_type)
        return pa.Array.from_buffers(wanted, len(column), own[:2], column.null_count, children=[values])
    if wanted == _DURATION:
        return pa.array(map(_microseconds, column.to_pylist()), pa.int64()).cast(wanted)
    return column.cast(wanted)


def _microseconds(text: str | None) -> int | None:
    """Parse the length of a day-time interval."""
    if text is None:
        return None
    found = _INTERVAL.fullmatch(text)
    if found is None:
        raise RowEncodingError(f"an interval cannot be converted from Spark: {text!r}")
    sign, whole, fraction, first = found.groups()
    sizes = _SIZES[_UNITS.index(first) :]
    length = sum(int(part) * size for part, size in zip(re.split("[ :]", whole), sizes, strict=False))
    length += int((fraction or "").ljust(6, "0"))
    return -length if sign else length
