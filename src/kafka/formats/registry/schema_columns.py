"""Column readers and writers that use a registry's schemas: the part that does not wait for the registry.

This module also caches the errors for unusable schemas.
"""

import json
import logging
import re
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from kafka.formats.column_io import SchemaNeeded, encoded_rows, names_of_avro, names_of_type
from kafka.formats.registry.schema_objects import Schema
from kafka.formats.value_framing import FramedValues, SchemaName, framed_values, ids_before, prefix_of, prefixed

if TYPE_CHECKING:
    import pyarrow

    from kafka.formats.bad_values import BadValue

log = logging.getLogger(__name__)

Message: TypeAlias = "str | Sequence[int] | None"
"""A message in a Protobuf schema; see `Protobuf`."""
_FORMATS = {"AVRO": "Avro", "PROTOBUF": "Protobuf"}
"""Format names by schema type, for values whose schemas are looked up."""


class ReaderCore:
    """Decodes values written with a registry's schemas into a column of the reader's schema. Thread-safe.

    Attributes:
        schema: the reader's schema.
        type: the column's type, a `pyarrow.DataType`.
    """

    def __init__(self, schema: Schema, parsed: Any, subject: str | None = None) -> None:
        """Make the column.

        Arguments:
            schema: the reader's schema.
            parsed: the parsed Avro schema, a `Json` or a `Protobuf`.
            subject: the schema's subject, if it is registered.

        Raises `AvroSchemaError`, `JsonSchemaError` or `ProtobufSchemaError` if the schema has no column type.
        """
        self.schema = schema
        self._subject = subject
        self._lock = threading.Lock()
        self._unusable = UnusableSchemas()
        self._needed = ("value", 0)  # for the last batch: the field, and the number of schemas to look up
        self._writers: dict[SchemaName, Any] = {}  # parsed schemas for Avro, message positions for Protobuf
        self._kind = kind_of(schema)
        self._codec: Any = None
        self._message = parsed.descriptor.full_name if self._kind == "PROTOBUF" else ""
        if self._kind == "AVRO":
            from kafka.formats.avro.column_decoder import AvroColumnDecoder

            self._avro = AvroColumnDecoder(parsed)
            self.type: Any = self._avro.type
        else:
            self._codec = parsed
            self.type = parsed.type

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.type})"

    def decode_known(self, values: Any, headers: Any = None, field: str = "value") -> "tuple[Any, list[BadValue]]":
        """Decode values with the schemas looked up so far; raises `SchemaNeeded` if others are needed.

        Arguments:
            values: a binary array.
            headers: the records' headers, if they may identify the schema; None: each value begins with its schema's
                id.
            field: whether the values are record keys or values: "key" or "value".
        """
        framed = framed_values(values, headers, field, self._kind)
        if self._kind == "JSON":
            column, bad = self._codec.decode_rows(framed.values, framed=True)
            return column, framed.bad(bad)
        with self._lock:
            try:
                if self._kind == "AVRO":
                    column, bad = self._avro.decode(framed.values, framed=True, find=self._find, guids=framed.guids)
                else:
                    column, bad = self._codec.decode_rows(framed.values, framed=True, find=framed.finding(self._find))
            except SchemaNeeded:
                names = self._not_looked_up(framed)
                self._needed = (field, len(names))
                raise SchemaNeeded(self, names) from None
            self._unusable.forget_old()
            return column, framed.bad(bad)

    def _find(self, name: SchemaName) -> Any:
        if name in self._unusable:
            raise LookupError(self._unusable.cause(name))
        if name not in self._writers:
            raise SchemaNeeded(self, (name,))
        return self._writers[name]

    def _not_looked_up(self, framed: FramedValues) -> list[SchemaName]:
        """Return the schemas of values that have not yet been looked up, in order of appearance."""
        names = [framed.name(each) for each in ids_before(framed.values)]
        return [each for each in names if each not in self._writers and each not in self._unusable]

    def _keep(self, name: SchemaName, writer: Any) -> None:
        """Store a schema that was looked up."""
        with self._lock:
            self._writers[name] = writer

    def _keep_unusable(self, name: SchemaName, cause: str) -> None:
        """Store the reason why a schema is unusable; warn if there are too many such schemas."""
        with self._lock:
            is_first_of_many = self._unusable.add(name, cause)
        if is_first_of_many:
            self._warn(name, cause)

    def _warn(self, name: SchemaName, cause: str) -> None:
        part, needed = self._needed
        log.warning(
            "More than %d of the %d schemas that are looked up for a batch of %ss%s cannot be used, such as %s: %s; "
            "check that the %ss are %s with the schema's id before each, and that this registry has their schemas",
            self._unusable.many,
            needed,
            part,
            "" if self._subject is None else f" of subject {self._subject!r}",
            name,
            cause,
            part,
            _FORMATS[self._kind],
        )


class RegistryWriter:
    """Encodes columns with a registered schema, and writes the schema's id before each value. Thread-safe.

    Attributes:
        schema: the writer's schema.
        schema_id: its id.
        field_names: the names of the schema's fields, if it is a record.
    """

    def __init__(self, schema: Schema, schema_id: int, parsed: Any) -> None:
        """Set the schema; for `parsed`, see `ReaderCore`."""
        self.schema = schema
        self.schema_id = schema_id
        self._avro: Any = None
        kind = kind_of(schema)
        indexes = None
        if kind == "AVRO":
            from kafka.formats.avro.column_encoder import AvroColumnEncoder

            self._avro = AvroColumnEncoder(parsed)
            self.field_names = names_of_avro(parsed)
        else:
            self._codec = parsed
            self.field_names = names_of_type(parsed.type)
        if kind == "PROTOBUF":
            from kafka.formats.protobuf.descriptors import indexes_of

            indexes = indexes_of(parsed.descriptor)
        self._prefix = prefix_of(schema_id, indexes)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(schema id {self.schema_id})"

    def encode(self, column: Any) -> "pyarrow.BinaryArray":
        """Encode each row of an array as one value; null stays null, unless null is a value of the schema.

        Raises ValueError with the row and field of a value that does not fit the schema.
        """
        if self._avro is not None:
            made: pyarrow.BinaryArray = self._avro.encode(column, self._prefix)
            return made
        made = prefixed(encoded_rows(self._codec, column), self._prefix)
        return made


def kind_of(schema: Schema) -> str:
    """Return the type of a schema: AVRO, JSON or PROTOBUF; raises ValueError for any other type."""
    kind = schema.schema_type or "AVRO"
    if kind not in ("AVRO", "JSON", "PROTOBUF"):
        raise ValueError(f"Expected a schema of the type AVRO, JSON or PROTOBUF, got {kind}")
    return kind


def schema_of(given: Any, subject: str | None) -> Schema:
    """Make a `Schema` from a user's argument.

    Arguments:
        given: a `Schema`, the text of an Avro schema, the `pyarrow.Schema` of columns, or the type of a struct column.
        subject: the schema's subject; determines the name of the record for columns.

    Raises `TypeError` for an argument of another type, and `AvroSchemaError` for columns without an Avro type.
    """
    if isinstance(given, Schema):
        return given
    if isinstance(given, str):
        kind = _other_kind(given)
        if kind is not None:
            raise ValueError(f"Expected the text of an Avro schema; give this one as Schema(text, {kind!r})")
        return Schema(given, "AVRO")
    import pyarrow as pa

    if isinstance(given, pa.StructType):
        given = pa.schema(list(given))
    if not isinstance(given, pa.Schema):
        raise TypeError(
            "Expected the schema as a Schema, a text, a pyarrow.Schema or the type of a struct column, got "
            f"{type(given).__name__}"
        )
    if {"topic", "partition", "offset", "value"} <= set(given.names):
        raise ValueError(
            "Expected the schema of values, got one of records: pass the type of their values, "
            "schema.field('value').type"
        )
    from kafka.formats.avro.arrow_types import avro_schema_of

    name = re.sub(r"\W", "_", subject or "row", flags=re.ASCII)
    return Schema(json.dumps(avro_schema_of(given, name if not name[0].isdigit() else f"_{name}")), "AVRO")


def _other_kind(text: str) -> str | None:
    """Return the schema type of a text if it is clearly not Avro, otherwise None."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return "PROTOBUF" if re.search(r"\bmessage\s+\w+\s*\{", text) else None
    is_json_schema = isinstance(value, dict) and ("$schema" in value or value.get("type") == "object")
    return "JSON" if is_json_schema else None


_MEMORY_S = 5.0
"""Time after the first use of an unusable schema during which it is not requested again, in seconds."""


class UnusableSchemas:
    """Stores for a limited time why schemas are unusable, because they may be registered later.

    Not thread-safe.

    Arguments:
        clock: returns the time in seconds.
    """

    many: ClassVar[int] = 100
    """If a batch has more unusable schemas than this, the values probably have another format."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._were_many = False
        self._new: dict[SchemaName, str] = {}
        self._used: dict[SchemaName, tuple[str, float]] = {}  # each with its expiry time, earliest first

    def __contains__(self, name: SchemaName) -> bool:
        return name in self._new or name in self._used

    def add(self, name: SchemaName, cause: str) -> bool:
        """Store why a schema is unusable; returns True, but only once, if more than `many` causes are still unread."""
        self._new[name] = cause
        is_first_of_many = len(self._new) > self.many and not self._were_many
        self._were_many = self._were_many or is_first_of_many
        return is_first_of_many

    def cause(self, name: SchemaName) -> str:
        """Return why a schema is unusable; raises KeyError if nothing is stored."""
        if name in self._new:
            self._used[name] = (self._new.pop(name), self._clock() + _MEMORY_S)
        return self._used[name][0]

    def forget_old(self) -> None:
        """Remove expired schemas."""
        now = self._clock()
        while self._used:
            name = next(iter(self._used))
            if self._used[name][1] > now:
                return
            del self._used[name]
