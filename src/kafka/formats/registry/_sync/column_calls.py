# Written by scripts/twins.py from kafka/formats/registry/_async/column_calls.py: change that file, not this one.
"""Column readers and writers that use a registry's schemas."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

from kafka.formats.column_io import SchemaNeeded
from kafka.formats.registry._sync.named_schemas import parsed_avro, referenced_texts, writers_schema
from kafka.formats.registry._sync.schema_calls import SchemaCalls, Version
from kafka.formats.registry.errors import SchemaRegistryError
from kafka.formats.registry.schema_columns import Message, ReaderCore, RegistryWriter, kind_of, schema_of
from kafka.formats.registry.schema_objects import Schema
from kafka.formats.value_framing import SchemaName

if TYPE_CHECKING:
    import pyarrow

    from kafka.formats.bad_values import BadValue


class RegistryReader(ReaderCore):
    """Decodes values into a column. Looks up each writer's schema in the registry once.

    Returned by `SchemaRegistryClient.reader`.
    """

    def __init__(self, registry: SchemaCalls, subject: str | None, schema: Schema, parsed: Any) -> None:
        super().__init__(schema, parsed, subject)
        self._registry = registry

    def decode(
        self, values: "pyarrow.BinaryArray", headers: Any = None, field: str = "value"
    ) -> "tuple[pyarrow.Array[Any], list[BadValue]]":
        """Decode values; null stays null.

        Arguments:
            values: a binary array, such as the column `value` of the result of `poll_arrow`.
            headers: the column `headers`, if headers may identify the schema; None: each value begins with its schema's
                id.
            field: whether the values are record keys or values: "key" or "value".

        Returns the column, with one row per value, and the values that could not be decoded, with the reasons (such as
        an unknown schema id). The rows for these values are null. Raises `SchemaRegistryError` if the registry does not
        respond or rejects the request.
        """
        while True:
            try:
                return self.decode_known(values, headers, field)
            except SchemaNeeded as needed:
                needed.look_up()

    def look_up(self, names: Iterable[SchemaName]) -> None:
        """Look up schemas by id or GUID; raises `SchemaRegistryError` if the registry does not respond."""
        for name in names:
            try:
                found = writers_schema(self._registry, name, self._kind, self._message, self._subject)
                self._keep(name, found)
            except ValueError as error:
                self._keep_unusable(name, str(error))


class ColumnCalls(SchemaCalls):
    """Makes column readers and writers."""

    def reader(
        self,
        subject: str | None = None,
        version: Version = "latest",
        *,
        schema: Schema | str | None = None,
        message: Message = None,
        unknown_fields: Literal["ignore", "error"] = "ignore",
    ) -> RegistryReader:
        """Make a column reader that converts values written with any schema to the reader's schema.

        Arguments:
            subject: the subject of the reader's schema, such as "orders-value".
            version: the subject's version; the reader keeps using it when newer versions are registered.
            schema: the reader's schema, instead of a subject: a `Schema`, or the text of an Avro schema.
            message: for Protobuf, the name of the message or its position in the file; None: the first message.
            unknown_fields: for JSON, "error" rejects values with fields that the schema does not declare.

        The reader's attribute `type` is the column's type. Avro values are resolved from the writer's schema. JSON
        values are checked for types and required fields. Protobuf messages are matched by name, and their fields by
        number. Needs the extra "arrow".

        Raises `SchemaRegistryError` if the registry does not respond or rejects the request, and ValueError for a
        schema without a column type.
        """
        if (subject is None) == (schema is None):
            raise ValueError("Expected either a subject or schema=, not both")
        if schema is None:
            found = (self.get_version(str(subject), version)).schema
        else:
            found = schema_of(schema, None)
        parsed = parsed_schema(self, found, message, unknown_fields)
        return RegistryReader(self, subject, found, parsed)

    def writer(
        self,
        subject: str,
        schema: "Schema | str | pyarrow.Schema | pyarrow.StructType | None" = None,
        *,
        version: Version = "latest",
        register: bool = True,
        normalize: bool = False,
        message: Message = None,
    ) -> RegistryWriter:
        """Make a column writer that writes the schema's id before each value.

        Arguments:
            subject: the subject of the schema, such as "orders-value".
            schema: a `Schema`, the text of an Avro schema, or the `pyarrow.Schema` or struct type of columns, which is
                converted to an Avro schema; it is registered if necessary. None: use a schema that is already
                registered.
            version: the version to use if `schema` is None.
            register: whether to register the schema; False: only look it up.
            normalize: let the registry normalize the schema first.
            message: see `reader`.

        Raises `SchemaRegistryError` if the registry does not respond or rejects the request, for example because the
        schema is incompatible; ValueError for an unsuitable schema.
        """
        if schema is None:
            registered = self.get_version(subject, version)
            found = registered.schema
            parsed = parsed_schema(self, found, message)
        else:
            found = schema_of(schema, subject)
            parsed = parsed_schema(self, found, message)
            if register:
                registered = self.register_schema_full_response(subject, found, normalize)
            else:
                registered = self.lookup_schema(subject, found, normalize)
        if registered.schema_id is None:
            raise SchemaRegistryError(0, -1, f"the response has no id for the schema of subject {subject!r}")
        return RegistryWriter(found, registered.schema_id, parsed)


def parsed_schema(
    registry: SchemaCalls,
    schema: Schema,
    message: Message = None,
    unknown_fields: Literal["ignore", "error"] = "ignore",
) -> Any:
    """Parse a schema and its references into an Avro schema, a `Json` or a `Protobuf`; raises ValueError if invalid."""
    kind = kind_of(schema)
    if message is not None and kind != "PROTOBUF":
        raise ValueError(f"Expected message only for a schema of type PROTOBUF, got {kind}")
    if unknown_fields != "ignore" and kind != "JSON":
        raise ValueError(f"Expected unknown_fields={unknown_fields!r} only for a schema of type JSON, got {kind}")
    if kind == "AVRO":
        return parsed_avro(schema, registry)
    texts = referenced_texts(schema, registry, kind)
    if kind == "PROTOBUF":
        from kafka.formats.protobuf.codec import Protobuf

        return Protobuf(schema.schema_str or "", message, references=texts)
    from kafka.formats.json.codec import Json

    return Json(schema.schema_str or "", references=texts, unknown_fields=unknown_fields)
