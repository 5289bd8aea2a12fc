"""What keys and values are made of: texts, JSON that was read already, rows of texts."""

import base64
import math
from collections.abc import Callable, Container, Mapping
from decimal import Decimal
from typing import Any, NamedTuple


class Json(NamedTuple):
    """A key or a value that stands in a larger document, or a row of Arrow."""

    value: Any


class Row(NamedTuple):
    """The texts of a value's fields.

    Arguments:
        texts: by the names of fields.
        null: the text that stands for null, if there is one.
        key: which of them is the record's key, and need not be a field.
    """

    texts: Mapping[str, str]
    null: str | None
    key: str | None

    def fields(self, known: Container[str]) -> dict[str, str]:
        """The texts without the key, unless it is one of the fields of the schema."""
        return {name: text for name, text in self.texts.items() if name != self.key or name in known}


Given = bytes | Json | Row


class ToBytes(NamedTuple):
    """What makes the bytes of keys or values, given the topic; each raises `ValueError` for what does not fit.

    Arguments:
        of_text: of a text.
        of_json: of JSON; None: texts stand for themselves.
        of_row: of the texts of fields; None: they become an object of JSON.
    """

    of_text: Callable[[str, bytes], bytes]
    of_json: Callable[[str, Any], bytes] | None = None
    of_row: Callable[[str, Row], bytes] | None = None


def plain(value: Any, of_bytes: Callable[[bytes], str] = bytes.hex) -> Any:
    """An object as JSON has it: dates, times and the like are texts, floats that are no numbers too.

    Arguments:
        value: of JSON, with decimals as numbers, or of Arrow.
        of_bytes: makes a text of bytes.
    """
    from kafka.formats.json.plain_values import plain_value

    def of_scalar(value: Any) -> Any:
        if isinstance(value, bytes):
            return of_bytes(value)
        if isinstance(value, float) and not math.isfinite(value):
            return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        return value if value is None or isinstance(value, str | bool | int | float | Decimal) else str(value)

    return plain_value(value, of_scalar)


def in_base64(data: bytes) -> str:
    """The text of bytes in Protobuf's JSON."""
    return base64.b64encode(data).decode()
