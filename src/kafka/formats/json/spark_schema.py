"""Converts Spark types, given as `StructType.json()`, `jsonValue()` or SQL, to Arrow types, without needing Spark."""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa

from kafka.formats.json.errors import JsonSchemaError, place


def is_spark_type(schema: dict[str, Any]) -> bool:
    """Return whether a JSON object is a Spark type rather than a JSON Schema."""
    kind = schema.get("type")
    return (
        (kind == "struct" and "fields" in schema)
        or (kind == "array" and "elementType" in schema)
        or (kind == "map" and "keyType" in schema)
        or kind == "udt"
    )


def type_of_spark(schema: Any, path: str = "") -> pa.DataType:
    """Return the Arrow type for the JSON of a Spark type.

    Raises:
        JsonSchemaError: the JSON is invalid, or contains an unknown type.
    """
    if isinstance(schema, str):
        try:
            return type_of_ddl(schema)
        except JsonSchemaError as error:
            raise JsonSchemaError(f"{place(path)}{schema!r} is not a type for JSON values") from error
    if isinstance(schema, dict):
        try:
            return _nested(schema, path)
        except (KeyError, TypeError) as error:
            raise JsonSchemaError(f"{place(path)}expected a Spark type in JSON, got {schema!r:.200}") from error
    raise JsonSchemaError(f"{place(path)}expected a Spark type in JSON, got {schema!r:.200}")


def _nested(schema: dict[str, Any], path: str) -> pa.DataType:
    kind = schema["type"]
    if kind == "struct":
        fields = [
            pa.field(each["name"], type_of_spark(each["type"], f"{path}.{each['name']}"), each.get("nullable", True))
            for each in schema["fields"]
        ]
        return pa.struct(fields)
    if kind == "array":
        items = type_of_spark(schema["elementType"], f"{path}[]")
        return pa.list_(pa.field("item", items, schema.get("containsNull", True)))
    if kind == "map":
        keys = type_of_spark(schema["keyType"], f"{path}{{}}")
        values = type_of_spark(schema["valueType"], f"{path}{{}}")
        value = pa.field("value", values, schema.get("valueContainsNull", True))
        made: pa.DataType = pa.map_(keys, value)  # type: ignore[call-overload]
        return made
    raise JsonSchemaError(f"{place(path)}JSON values cannot be read as Spark's type {kind!r}")


_SIMPLE: dict[str, pa.DataType] = {
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "byte": pa.int8(),
    "smallint": pa.int16(),
    "short": pa.int16(),
    "int": pa.int32(),
    "integer": pa.int32(),
    "bigint": pa.int64(),
    "long": pa.int64(),
    "float": pa.float32(),
    "real": pa.float32(),
    "double": pa.float64(),
    "decimal": pa.decimal128(10, 0),
    "dec": pa.decimal128(10, 0),
    "numeric": pa.decimal128(10, 0),
    "string": pa.string(),
    "varchar": pa.string(),
    "char": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "time": pa.time64("us"),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ltz": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
    "void": pa.null(),
    "null": pa.null(),
    "variant": pa.json_(),
}
_TOKEN = re.compile(r"\s*(?:(`(?:[^`]|``)*`)|('(?:[^'\\]|\\.)*')|([\w$.\-]+)|([<>(),:]))")
_MAX_DEPTH = 100


def type_of_ddl(text: str) -> pa.DataType:
    """Return the Arrow type for a schema in SQL: a struct of its columns, or a single type.

    Raises:
        JsonSchemaError: the text is invalid, or contains an unknown type.
    """
    return _Parser(text).whole()


class _Parser:
    """Parses SQL types; stores the tokens and the index of the next one."""

    def __init__(self, text: str) -> None:
        self._text, self._next, self._depth = text, 0, 0
        self._tokens: list[tuple[str, int]] = []
        at, end = 0, len(text.rstrip())
        while at < end:
            found = _TOKEN.match(text, at)
            if found is None:
                raise self._error("a name, a type or punctuation", at)
            self._tokens.append(
                (found.group().strip(), found.start() + len(found.group()) - len(found.group().lstrip()))
            )
            at = found.end()

    def whole(self) -> pa.DataType:
        """Parse the whole text."""
        if not self._tokens:
            raise JsonSchemaError("The schema is empty: expected columns such as 'id bigint, name string', or a type")
        nested = self._peek(1) == "<" and self._tokens[0][0].lower() in ("array", "map", "struct")
        single = len(self._tokens) == 1 or self._peek(1) == "("
        made = self._type() if nested or single else pa.struct(self._fields(""))
        if self._next < len(self._tokens):
            raise self._error("a comma or the end")
        return made

    def _peek(self, ahead: int = 0) -> str:
        at = self._next + ahead
        return self._tokens[at][0] if at < len(self._tokens) else ""

    def _take(self) -> str:
        if self._next == len(self._tokens):
            raise self._error("more")
        self._next += 1
        return self._tokens[self._next - 1][0]

    def _expect(self, token: str) -> None:
        if self._peek() != token:
            raise self._error(repr(token))
        self._take()

    def _error(self, expected: str, at: int | None = None) -> JsonSchemaError:
        if at is None:
            at = self._tokens[self._next][1] if self._next < len(self._tokens) else len(self._text)
        found = self._text[at : at + 20].strip() or "the end"
        return JsonSchemaError(
            f"Expected {expected} in the schema at character {at}, got {found!r}: {self._text!r:.200}"
        )

    def _fields(self, close: str) -> list[Any]:
        fields: list[Any] = []
        while self._peek() and self._peek() != close:
            name = self._name()
            if self._peek() == ":":
                self._take()
            fields.append(pa.field(name, self._type(), nullable=self._nullable()))
            if self._peek() != ",":
                break
            self._take()
            if self._peek() in ("", close):
                raise self._error("a column")
        return fields

    def _name(self) -> str:
        token = self._peek()
        if token.startswith("`"):
            return self._take()[1:-1].replace("``", "`")
        if not token or not re.fullmatch(r"[\w$.\-]+", token):
            raise self._error("the name of a column")
        return self._take()

    def _nullable(self) -> bool:
        nullable = True
        if self._peek().lower() == "not" and self._peek(1).lower() == "null":
            nullable = False
            self._next += 2
        if self._peek().lower() == "comment":
            self._take()
            if not self._peek().startswith("'"):
                raise self._error("a comment in quotes")
            self._take()
        return nullable

    def _type(self) -> pa.DataType:
        name = self._peek().lower()
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise self._error(f"at most {_MAX_DEPTH} types within each other")
        try:
            if name in ("array", "map", "struct"):
                self._take()
                return self._nested(name)
            if name not in _SIMPLE:
                raise self._error("a type")
            self._take()
            return self._sized(name) if self._peek() == "(" else _SIMPLE[name]
        finally:
            self._depth -= 1

    def _nested(self, name: str) -> pa.DataType:
        self._expect("<")
        if name == "array":
            made: pa.DataType = pa.list_(self._type())
        elif name == "map":
            keys = self._type()
            self._expect(",")
            made = pa.map_(keys, self._type())
        else:
            made = pa.struct(self._fields(">"))
        self._expect(">")
        return made

    def _sized(self, name: str) -> pa.DataType:
        at = self._next
        self._take()
        numbers = [self._take()]
        while self._peek() == ",":
            self._take()
            numbers.append(self._take())
        self._expect(")")
        if not all(number.isdecimal() for number in numbers) or len(numbers) > 2:
            self._next = at
            raise self._error("one number or two in parentheses")
        if name in ("decimal", "dec", "numeric"):
            precision, scale = int(numbers[0]), int(numbers[1]) if len(numbers) == 2 else 0
            if not (1 <= precision <= 38 and scale <= precision):
                self._next = at
                raise self._error("a decimal of 1 to 38 digits")
            return pa.decimal128(precision, scale)
        if name not in ("varchar", "char", "time") or len(numbers) > 1:
            self._next = at
            raise self._error("a type without parentheses")
        return _SIMPLE[name]
