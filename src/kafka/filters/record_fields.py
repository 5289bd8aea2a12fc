"""The record that a filter examines, and the lookup of fields in it.

Keys, values and headers may be bytes, which are parsed as JSON when a nested field is used, or decoded objects such as
the dictionaries of Avro and Protobuf values. Add fields of records here and in `syntax_tree.ROOTS`.
"""

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from kafka.filters.syntax_tree import Field

_LONGEST_INT = 4_000
"""Digits up to which an integer becomes an int; Python limits this conversion."""


class Missing:
    """The type of `MISSING`, which stands for a field that a record does not have."""

    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> bool:
        return False


MISSING: Final = Missing()


class FilterRecord:
    """A record as filters see it.

    Arguments:
        topic: name of the topic.
        partition: number of the partition.
        offset: offset in the partition.
        timestamp: milliseconds since 1970; None or -1: the record has no timestamp.
        key: bytes, or a decoded key; None: the record has no key.
        value: bytes, or a decoded value; None: a tombstone.
        headers: pairs of a name and bytes or None. If a name occurs several times, the last one counts.
        size: size in bytes of key, value, and names and values of headers; None: computed, if all of them are bytes.
    """

    __slots__ = ("_documents", "_size", "headers", "key", "offset", "partition", "timestamp", "topic", "value")

    def __init__(
        self,
        topic: str = "",
        partition: int = 0,
        offset: int = 0,
        timestamp: int | None = None,
        key: Any = None,
        value: Any = None,
        headers: Sequence[tuple[str, bytes | None]] = (),
        size: int | None = None,
    ) -> None:
        self.topic = topic
        self.partition = partition
        self.offset = offset
        self.timestamp = None if timestamp is None or timestamp < 0 else timestamp
        self.key = key
        self.value = value
        self.headers = headers
        self._size = size
        self._documents: dict[str, Any] = {}

    @property
    def size(self) -> int | None:
        """Size in bytes; None if it is unknown because the key or value was decoded."""
        if self._size is None:
            parts = [self.key, self.value, *(value for _, value in self.headers)]
            if not all(each is None or isinstance(each, bytes) for each in parts):
                return None
            names = sum(len(name.encode("utf-8", "surrogatepass")) for name, _ in self.headers)
            self._size = names + sum(len(each) for each in parts if each is not None)
        return self._size

    def header(self, name: str) -> Any:
        """Return the value of the last header with a name, or `MISSING`."""
        for each, value in reversed(self.headers):
            if each == name:
                return value
        return MISSING

    def document(self, root: str, data: Any) -> Any:
        """Return a key, value or header as an object: bytes are parsed as JSON once, `MISSING` if they are not JSON.

        Arguments:
            root: identifies the part of the record, so that it is parsed once.
            data: the part.
        """
        if not isinstance(data, bytes | str):
            return data
        if root not in self._documents:
            self._documents[root] = parsed_json(data)
        return self._documents[root]


def parsed_json(data: bytes | str) -> Any:
    """Parse JSON with exact numbers; return `MISSING` for other data and for JSON that is nested too deeply."""
    try:
        return json.loads(data, parse_float=_decimal, parse_int=_int, parse_constant=_constant)
    except (ValueError, RecursionError):
        return MISSING


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:  # the exponent is out of range
        return Decimal("NaN")


def _int(text: str) -> int | Decimal:
    return int(text) if len(text) <= _LONGEST_INT else _decimal(text)


def _constant(text: str) -> Any:
    raise ValueError(f"{text} is not JSON")


def lookup(field: Field, record: FilterRecord) -> Any:
    """Return the content of a field, or `MISSING`. A whole key, value or header remains bytes if it is bytes."""
    root, steps = field.root, field.steps
    found = getattr(record, root)
    if root == "headers":
        root, steps = f"headers {steps[0]}", steps[1:]
        found = record.header(str(field.steps[0]))
    elif found is None:
        return MISSING if steps else None
    if not steps:
        return found
    found = record.document(root, found)
    for step in steps:
        if isinstance(step, str):
            found = found.get(step, MISSING) if isinstance(found, Mapping) else MISSING
        elif isinstance(found, list | tuple) and -len(found) <= step < len(found):
            found = found[step]
        else:
            return MISSING
    return found
