"""Formats of records: text, hexadecimal, JSON, templates and CSV."""

import base64
import csv
import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from kafka.cli.consume.selection import Piece
from kafka.cli.escapes import as_typed, bytes_without_controls, escaped, escaped_json
from kafka.cli.json_text import colored, embeddable, pretty
from kafka.cli.typed_fields import Document
from kafka.config.option import nearest
from kafka.record import Columns
from kafka.record.text_lines import lines

if TYPE_CHECKING:
    from kafka.record import ConsumerRecord

NAMES = ("text", "lines", "hex", "json", "csv", "parquet", "arrow", "str", "raw", "full")
"""The last three are kafka-python's: text, the repr of bytes, and the repr of records."""
COLUMNS = ("topic", "partition", "offset", "timestamp", "key", "value", "headers")


Change = Callable[[bytes], bytes]


class Format(Protocol):
    """Encodes records as bytes."""

    def begin(self) -> bytes:
        """Return the bytes before the first record."""

    def encode(self, piece: Piece) -> bytes:
        """Encode records."""


class Lines:
    """Values, or keys and values, with a delimiter after each record. Encodes columns without creating records.

    Arguments:
        delimiter: the bytes after each record.
        separator: the bytes between key and value; None omits the keys.
        null: the bytes for a null key or value.
        change: applied to each key and value.
    """

    def __init__(
        self,
        delimiter: bytes = b"\n",
        separator: bytes | None = None,
        null: bytes = b"",
        change: Change | None = None,
    ) -> None:
        self._delimiter = delimiter
        self._separator = separator
        self._null = null
        self._change = change

    def begin(self) -> bytes:
        """Return b"": nothing precedes the records."""
        return b""

    def encode(self, piece: Piece) -> bytes:
        """See `Format`."""
        if piece.rows is None and self._change is None and isinstance(piece.columns, Columns):
            return lines(*piece.columns.buffers, self._delimiter, self._separator, self._null)
        columns, end = piece.columns, self._delimiter
        rows = range(len(columns)) if piece.rows is None else piece.rows
        if self._separator is None:
            return b"".join(self._text(columns.value(row)) + end for row in rows)
        between = self._separator
        return b"".join(self._text(columns.key(row)) + between + self._text(columns.value(row)) + end for row in rows)

    def _text(self, value: bytes | None) -> bytes:
        if value is None:
            return self._null
        return value if self._change is None else self._change(value)


class EachRecord:
    """Encodes records one by one with a function."""

    def __init__(self, of_record: "Callable[[ConsumerRecord], bytes]", begin: bytes = b"") -> None:
        self._of_record = of_record
        self._begin = begin

    def begin(self) -> bytes:
        """Return the given bytes."""
        return self._begin

    def encode(self, piece: Piece) -> bytes:
        """See `Format`."""
        return b"".join(map(self._of_record, piece.records()))


class Style(NamedTuple):
    """How records are shown.

    Attributes:
        terminal: whether the output is a terminal: control characters are escaped, and JSON is indented.
        colors: whether the output has colours.
        exact: whether reading the JSON must give the bytes of keys and values again; other JSON may be cleaned.
        as_text: whether JSON keys and values are written as text in JSON, not as nested JSON.
    """

    terminal: bool = False
    colors: bool = False
    exact: bool = False
    as_text: bool = False


def json_lines(style: Style) -> "Callable[[ConsumerRecord], bytes]":
    """Return a function that encodes a record as a JSON object, on one line unless the output is a terminal.

    Keys and values that are JSON objects or arrays become nested JSON, with each character preserved. Bytes that are
    not UTF-8 are base64 in a separate field.
    """

    def line(record: "ConsumerRecord") -> bytes:
        fields = {
            "topic": _dumps(record.topic),
            "partition": str(record.partition),
            "offset": str(record.offset),
            "timestamp": "null" if record.timestamp == -1 else _dumps(record.timestamp),
            **_text_or_base64("key", record.key, style),
            **_text_or_base64("value", record.value, style),
            "headers": "[" + ",".join(_header(name, value) for name, value in record.headers) + "]",
        }
        text = "{" + ",".join(f'"{name}":{value}' for name, value in fields.items()) + "}"
        if style.terminal:
            text = pretty(text, style.colors)
        elif style.colors:
            text = colored(text)
        return text.encode("utf-8", "surrogatepass") + b"\n"

    return line


def _dumps(value: Any) -> str:
    return escaped_json(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def _header(name: str, value: bytes | None) -> str:
    fields = {"key": _dumps(name), **_text_or_base64("value", value, Style(as_text=True))}
    return "{" + ",".join(f'"{name}":{value}' for name, value in fields.items()) + "}"


def _text_or_base64(name: str, value: bytes | None, style: Style) -> dict[str, str]:
    """Return the field for a key or value, as JSON text."""
    if value is None:
        return {name: "null"}
    if isinstance(value, Document):
        return {name: _one_line(value.decode())}
    if not style.as_text and (nested := embeddable(value)) is not None:
        clean = _one_line(nested)
        if clean == nested or not style.exact:
            return {name: clean}
    try:
        return {name: _dumps(value.decode())}
    except UnicodeDecodeError:
        return {f"{name}_base64": _dumps(base64.b64encode(value).decode())}


def _one_line(text: str) -> str:
    """Return JSON without line breaks between its tokens, and with escapes for control characters."""
    return escaped_json(text.replace("\r", " ").replace("\n", " "))


class _Rows:
    """Collects the lines of a `csv.writer`, which quotes carriage returns only if its line terminator contains one."""

    END = "\r\n"

    def __init__(self) -> None:
        self.lines: list[str] = []

    def write(self, line: str) -> None:
        """Add a line, terminated by a line feed only."""
        self.lines.append(line.removesuffix(self.END) + "\n")


_NOT_UTF_8 = re.compile("[\udc80-\udcff]")


class Csv:
    """Comma-separated values with a header line. Keys and values keep their bytes.

    Headers are JSON, in which bytes that are not UTF-8 are escaped.

    Arguments:
        null: the field of a key or value that is null.
        change: applied to each key and value.

    Attributes:
        ambiguous: number of null values and empty keys written as empty fields, which 'kafka produce' reads as empty
            values and null keys.
    """

    def __init__(self, null: bytes = b"", change: Change | None = None) -> None:
        self.ambiguous = 0
        self._null = null.decode("utf-8", "surrogateescape")
        self._change = change

    def begin(self) -> bytes:
        """Return the header line."""
        return (",".join(COLUMNS) + "\n").encode()

    def encode(self, piece: Piece) -> bytes:
        """See `Format`."""
        rows = _Rows()
        write = csv.writer(rows, lineterminator=_Rows.END).writerow
        for record in piece.records():
            headers = ""
            if record.headers:
                pairs = [[name, None if value is None else _as_text(value)] for name, value in record.headers]
                headers = _NOT_UTF_8.sub(_escape, escaped_json(json.dumps(pairs, ensure_ascii=False)))
            time = "" if record.timestamp == -1 else record.timestamp
            key, value = self._field(record.key), self._field(record.value)
            if not self._null:
                self.ambiguous += (record.value is None) + (record.key == b"")
            write((record.topic, record.partition, record.offset, time, key, value, headers))
        return "".join(rows.lines).encode("utf-8", "surrogateescape")

    def _field(self, value: bytes | None) -> str:
        if value is None:
            return self._null
        return _as_text(value if self._change is None else self._change(value))


def _escape(found: re.Match[str]) -> str:
    """Return the JSON escape of a byte that is not UTF-8, decoded with `surrogateescape`."""
    return f"\\u{ord(found[0]):04x}"


def _as_text(value: bytes) -> str:
    return value.decode("utf-8", "surrogateescape")


_TOKEN = re.compile(r"%\{((?:'[^']*'|\"[^\"]*\"|[^}'\"])*)\}|%(.)|\\(x[0-9a-fA-F]{2}|.)", re.DOTALL)
_FIELDS: "dict[str, Callable[[ConsumerRecord], bytes]]" = {
    "t": lambda record: record.topic.encode(),
    "p": lambda record: b"%d" % record.partition,
    "o": lambda record: b"%d" % record.offset,
    "k": lambda record: record.key or b"",
    "s": lambda record: record.value or b"",
    "K": lambda record: b"%d" % (-1 if record.key is None else len(record.key)),
    "S": lambda record: b"%d" % (-1 if record.value is None else len(record.value)),
    "T": lambda record: b"%d" % (record.timestamp or 0),
    "h": lambda record: b",".join(name.encode() + b"=" + (value or b"") for name, value in record.headers),
    "%": lambda record: b"%",
}


def template(text: str, change: Change | None = None) -> "Callable[[ConsumerRecord], bytes]":
    """Return a function that formats a record by a template such as ``"%t:%p:%o %k=%s\\n"``.

    Arguments:
        change: applied to each field.

    %t topic, %p partition, %o offset, %k key, %s value, %K and %S their lengths (-1: null), %T time in milliseconds,
    %h headers, %{value.status} any field in the syntax of `kafka.filters`, empty if it is null or missing; escapes such
    as ``\\n`` and ``\\x00``. Raises `ValueError` for others.
    """
    parts: list[Callable[[ConsumerRecord], bytes] | bytes] = []
    at = 0
    for match in _TOKEN.finditer(text):
        parts.append(as_typed(text[at : match.start()]))
        at = match.end()
        if match[1] is not None:
            from kafka.cli.consume.record_fields import field_text

            parts.append(_changed(field_text(match[1]), change))
        elif match[2] is not None:
            if match[2] not in _FIELDS:
                raise ValueError(
                    f"%{match[2]} is not a field of templates; expected one of "
                    f"{' '.join('%' + f for f in _FIELDS)} %{{value.name}}"
                )
            parts.append(_changed(_FIELDS[match[2]], change))
        else:
            parts.append(escaped(match[3]))
    parts.append(as_typed(text[at:]))

    def fill(record: "ConsumerRecord") -> bytes:
        return b"".join(part if isinstance(part, bytes) else part(record) for part in parts)

    return fill


def _changed(field: "Callable[[ConsumerRecord], bytes]", change: Change | None) -> "Callable[[ConsumerRecord], bytes]":
    return field if change is None else lambda record: change(field(record))


def text_format(
    name: str,
    delimiter: bytes,
    separator: bytes | None,
    null: bytes,
    encoding: str | None,
    style: Style = Style(),  # noqa: B008  # immutable
) -> Format:
    """Return the format with this name; a name that contains a % is a template.

    On a terminal, control characters in records are escaped, but not those in delimiters. Raises `ValueError` and
    `LookupError`.
    """
    safe: Change | None = bytes_without_controls if style.terminal else None
    if "%" in name:
        return EachRecord(template(name, safe))
    if name == "json":
        return EachRecord(json_lines(style))
    if name == "csv":
        return Csv(null, safe)
    if name == "raw":
        return EachRecord(lambda record: repr(record.value).encode() + b"\n")
    if name == "full":
        return EachRecord(lambda record: repr(record).encode() + b"\n")
    if name not in NAMES:
        names = ", ".join(NAMES)
        raise ValueError(f"expected one of {names}, or a template with %, got {name!r}{nearest(name, NAMES)}")
    change = _change(name, encoding, safe)
    if style.colors and name != "hex":
        change = _colors(change)
    return Lines(delimiter, separator, null, change)


def _colors(change: Change | None) -> Change:
    """Return a function that also adds colours to values that are JSON."""

    def with_colors(value: bytes) -> bytes:
        is_json = embeddable(value.strip()) is not None
        value = value if change is None else change(value)
        return colored(value.decode()).encode() if is_json else value

    return with_colors


def _change(name: str, encoding: str | None, safe: Change | None) -> Change | None:
    if name == "hex":
        return lambda value: value.hex().encode()
    if encoding is None:
        return safe
    "".encode(encoding)
    if safe is None:
        return lambda value: value.decode(encoding, "replace").encode()
    return lambda value: safe(value.decode(encoding, "replace").encode())
