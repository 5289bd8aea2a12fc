"""Readers and writers of columns, by the schemas of a registry."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from kafka.formats.header_ids import SchemaName
from kafka.formats.registry.async_references import parsed_avro, referenced_texts
from kafka.formats.registry.async_schema_calls import AsyncSchemaCalls, Version
from kafka.formats.registry.async_writers_schemas import writers_schema
from kafka.formats.registry.columns import Message, ReaderCore, RegistryWriter, kind_of, schema_of
from kafka.formats.registry.errors import SchemaRegistryError
from kafka.formats.registry.schemas import Schema
from kafka.formats.rows import SchemaNeeded

if TYPE_CHECKING:
    import pyarrow

    from kafka.formats.bad_values import BadValue


class AsyncRegistryReader(ReaderCore):
    """Decodes values into a column, and asks a registry for the schemas that they were written with, once each.

    `AsyncSchemaRegistryClient.reader` makes one.
    """

    def __init__(self, registry: AsyncSchemaCalls, subject: str | None, schema: Schema, parsed: Any) -> None:
        super().__init__(schema, parsed, subject)
        self._registry = registry

    async def decode(
        self, values: "pyarrow.BinaryArray", headers: Any = None, field: str = "value"
    ) -> "tuple[pyarrow.Array[Any], list[BadValue]]":
        """Decode values; null is null.

        Arguments:
            values: an array of binary, such as the column `value` of what `poll_arrow` returns.
            headers: the column `headers`, where a header may name the schema; None: its id stands before each value.
            field: what the values are of the records, "key" or "value".

        Returns the column, with a row for each value, and which values could not be decoded and why, such as those of
        an id that the registry does not know; these rows are null. Raises `SchemaRegistryError` where the registry does
        not answer, or refuses.
        """
        while True:
            try:
                return self.decode_known(values, headers, field)
            except SchemaNeeded as needed:
                await needed.look_up()

    async def look_up(self, names: Iterable[SchemaName]) -> None:
        """Ask the registry for schemas, by id or GUID; raises `SchemaRegistryError` if it does not answer."""
        for name in names:
            try:
                found = await writers_schema(self._registry, name, self._kind, self._message, self._subject)
                self._keep(name, found)
            except ValueError as error:
                self._keep_unusable(name, str(error))


class AsyncColumnCalls(AsyncSchemaCalls):
    """What makes readers and writers."""

    async def reader(
        self,
        subject: str | None = None,
        version: Version = "latest",
        *,
        schema: Schema | str | None = None,
        message: Message = None,
    ) -> AsyncRegistryReader:
        """A reader of columns: values of any schema become rows of one, the reader's.

        Arguments:
            subject: whose schema is the reader's, such as "orders-value".
            version: which one; it stays the reader's when others are registered.
            schema: the reader's schema instead, a `Schema` or the text of one of Avro.
            message: of Protobuf, the name of the message, or its position in the file; None: the first one.

        The column's type is `type`. Values of Avro are resolved from the schema that they were written with. Of JSON
        Schema, types and required fields count. A message of Protobuf is known by its name, and its fields by their
        numbers. Needs the extra "arrow".

        Raises `SchemaRegistryError` where the registry refuses or does not answer, ValueError for a schema that no
        column can hold.
        """
        if (subject is None) == (schema is None):
            raise ValueError("Expected a subject, or schema= without a subject: one of both is the reader's")
        if schema is None:
            found = (await self.get_version(str(subject), version)).schema
        else:
            found = schema_of(schema, None)
        return AsyncRegistryReader(self, subject, found, await parsed_schema(self, found, message))

    async def writer(
        self,
        subject: str,
        schema: "Schema | str | pyarrow.Schema | pyarrow.StructType | None" = None,
        *,
        version: Version = "latest",
        register: bool = True,
        normalize: bool = False,
        message: Message = None,
    ) -> RegistryWriter:
        """A writer of columns, with the schema's id before each value.

        Arguments:
            subject: where the schema is, such as "orders-value".
            schema: a `Schema`, the text of one of Avro, or the `pyarrow.Schema` or struct type of columns, of which
                one of Avro is made; it is registered. None: what is registered is used.
            version: which version, without a schema.
            register: False: the schema is only looked up.
            normalize: have the registry bring it into a normal form first.
            message: as of `reader`.

        Raises `SchemaRegistryError` where the registry refuses, as for a schema that is not compatible, or does not
        answer, ValueError for a schema that cannot be used.
        """
        if schema is None:
            registered = await self.get_version(subject, version)
            found = registered.schema
            parsed = await parsed_schema(self, found, message)
        else:
            found = schema_of(schema, subject)
            parsed = await parsed_schema(self, found, message)
            if register:
                registered = await self.register_schema_full_response(subject, found, normalize)
            else:
                registered = await self.lookup_schema(subject, found, normalize)
        if registered.schema_id is None:
            raise SchemaRegistryError(0, -1, f"the answer has no id for the schema of subject {subject!r}")
        return RegistryWriter(found, registered.schema_id, parsed)


async def parsed_schema(registry: AsyncSchemaCalls, schema: Schema, message: Message = None) -> Any:
    """A schema with what it refers to: of Avro a parsed schema, else a `Json` or `Protobuf`; raises ValueError."""
    kind = kind_of(schema)
    if message is not None and kind != "PROTOBUF":
        raise ValueError(f"Expected a message with a schema of the type PROTOBUF only, got one of {kind}")
    if kind == "AVRO":
        return await parsed_avro(schema, registry)
    texts = await referenced_texts(schema, registry, kind)
    if kind == "PROTOBUF":
        from kafka.formats.protobuf.codec import Protobuf

        return Protobuf(schema.schema_str or "", message, references=texts)
    from kafka.formats.json.codec import Json

    return Json(schema.schema_str or "", references=texts)
