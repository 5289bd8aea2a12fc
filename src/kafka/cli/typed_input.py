"""The inputs that keys and values are made from: texts, parsed JSON, rows of texts."""

import base64
import math
from collections.abc import Callable, Container, Mapping
from decimal import Decimal
from typing import Any, NamedTuple


class Json(NamedTuple):
    """A key or value from a larger JSON document, or from a row of Arrow.

    Arguments:
        value: the parsed JSON.
        key: the name of the field that is the record's key, which need not be a field of the value.
    """

    value: Any
    key: str | None = None

    def fitting(self, known: Container[str]) -> Any:
        """The value without the key, unless it is a field of the schema."""
        if self.key is None or self.key in known:
            return self.value
        return {name: value for name, value in self.value.items() if name != self.key}


class Row(NamedTuple):
    """The texts of a value's fields.

    Arguments:
        texts: the texts by field name.
        null: the text that means null, or None.
        key: the name of the one that is the record's key, which need not be a field of the value.
    """

    texts: Mapping[str, str]
    null: str | None
    key: str | None

    def fields(self, known: Container[str]) -> dict[str, str]:
        """The texts without the key, unless it is a field of the schema."""
        return {name: text for name, text in self.texts.items() if name != self.key or name in known}


Given = bytes | Json | Row


class ToBytes(NamedTuple):
    """Converters to the bytes of keys or values, given the topic; all raise `ValueError` for input that does not fit.

    Arguments:
        of_text: converts a text.
        of_json: converts parsed JSON; None: texts are used unchanged.
        of_row: converts the texts of fields; None: they become a JSON object.
        known: the names of the fields that the schema of a topic has; None: there is no schema, or it has no fields.
    """

    of_text: Callable[[str, bytes], bytes]
    of_json: Callable[[str, Any], bytes] | None = None
    of_row: Callable[[str, Row], bytes] | None = None
    known: Callable[[str], Container[str]] | None = None


def plain(value: Any, of_bytes: Callable[[bytes], str] = bytes.hex) -> Any:
    """Convert an object to JSON: dates, times and the like become texts, and so do NaN and infinities.

    Arguments:
        value: a value of JSON, with decimals as numbers, or of Arrow.
        of_bytes: converts bytes to text.
    """
    from kafka.formats.json.validation import plain_value

    def of_scalar(value: Any) -> Any:
        if isinstance(value, bytes):
            return of_bytes(value)
        if isinstance(value, float) and not math.isfinite(value):
            return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        return value if value is None or isinstance(value, str | bool | int | float | Decimal) else str(value)

    return plain_value(value, of_scalar)


def in_base64(data: bytes) -> str:
    """Bytes as text in Protobuf's JSON."""
    return base64.b64encode(data).decode()
