"""Values of a Protobuf message, as objects and as rows of Arrow columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kafka.formats.protobuf.errors import ProtobufDecodeError, ProtobufEncodeError, library
from kafka.formats.protobuf.files import file_of, indexes_of, message_of
from kafka.formats.protobuf.prefix import PrefixError, read_prefix

if TYPE_CHECKING:
    import pyarrow as pa

    from kafka.formats.bad_values import BadValue
    from kafka.formats.protobuf.columns import ProtobufColumns


class Protobuf:
    """Encodes and decodes values of one message. Several threads may use it."""

    def __init__(
        self, schema: Any, message: str | Sequence[int] | None = None, *, references: Mapping[str, Any] | None = None
    ) -> None:
        """Find the message.

        Args:
            schema: the class of a message, as the compiler generates it; the text of a .proto file; a
                `FileDescriptorSet` or `FileDescriptorProto`, serialized or not, or in base64.
            message: its full name, its name within the package, or its position in the file (and those of the messages
                it stands in, from the outside); None: the first one. A class has none.
            references: the schemas that are imported, by the names in ``import``. Google's well-known types need none.

        Raises:
            ProtobufSchemaError: the schema is none, imports what is missing, or has no such message.
            KafkaConfigurationError: the libraries are not installed.
        """
        descriptor = getattr(schema, "DESCRIPTOR", None) if isinstance(schema, type) else None
        if descriptor is None:
            descriptor = message_of(file_of(schema, references), message)
            self.message_class = library("google.protobuf.message_factory").GetMessageClass(descriptor)
        else:
            self.message_class = schema
        """The class of the messages that `decode` returns."""
        self.descriptor = descriptor
        self._indexes = indexes_of(descriptor)
        self._error = library("google.protobuf.message")
        self._columns: ProtobufColumns | None = None

    @property
    def type(self) -> pa.DataType:
        """The type of the column that `decode_rows` returns."""
        return self._column_codec().type

    def decode(self, data: bytes) -> Any:
        """Decode a value into a message; raises `ProtobufDecodeError`.

        Args:
            data: the value.
        """
        try:
            return self.message_class.FromString(bytes(data))
        except self._error.DecodeError as error:
            raise ProtobufDecodeError(f"expected a message {self.descriptor.full_name}: {error}") from error

    def encode(self, message: Any) -> bytes:
        """Encode a message of the class, or a dict of its fields; raises `ProtobufEncodeError`.

        Args:
            message: the message.
        """
        try:
            if isinstance(message, Mapping):
                message = self.message_class(**message)
            if message.DESCRIPTOR.full_name != self.descriptor.full_name:
                raise ProtobufEncodeError(
                    f"expected a message {self.descriptor.full_name}, got {message.DESCRIPTOR.full_name}"
                )
            data: bytes = message.SerializeToString()
        except (TypeError, ValueError, AttributeError, self._error.EncodeError) as error:
            if isinstance(error, ProtobufEncodeError):
                raise
            raise ProtobufEncodeError(f"expected a message {self.descriptor.full_name}: {error}") from error
        return data

    def decode_rows(self, values: Any, *, framed: bool = False) -> tuple[Any, list[BadValue]]:
        """Decode values into a column of structs.

        Args:
            values: an array of binary, or a chunked array; null is null.
            framed: whether a zero byte, a schema id of four bytes and the position of the message in its schema stand
                before each value, as Confluent's serializers write them.

        Returns:
            The column, with as many rows as there are values, and which values could not be decoded; their rows are
            null.

        Raises:
            ProtobufSchemaError: the message cannot be a column.
        """
        import pyarrow as pa

        from kafka.formats.bad_values import BadValue

        columns = self._column_codec()
        whole = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
        if whole.type != pa.binary():
            whole = whole.cast(pa.binary())
        bad: list[BadValue] = []

        def fail(row: int, why: str) -> None:
            bad.append(BadValue(row, int.from_bytes(whole[row].as_py()[1:5]) if framed else None, why))

        column = columns.decode(self._unframed(whole, bad) if framed else whole, fail)
        return column, sorted(bad)

    def encode_rows(self, rows: Any) -> pa.BinaryArray:
        """Encode rows, each as one value; a row that is null is null.

        Args:
            rows: an array of structs, a chunked array, a record batch or a table; fields that it lacks are not set.

        Raises:
            ProtobufEncodeError: a row is no message.
            ProtobufSchemaError: the message cannot be a column.
        """
        import pyarrow as pa

        if isinstance(rows, pa.Table):
            rows = rows.to_struct_array()
        if isinstance(rows, pa.ChunkedArray):
            rows = rows.combine_chunks()
        encoded: pa.BinaryArray = self._column_codec().encode(rows)
        return encoded

    def _column_codec(self) -> ProtobufColumns:
        if self._columns is None:
            from kafka.formats.protobuf.columns import ProtobufColumns

            self._columns = ProtobufColumns(self.descriptor)
        return self._columns

    def _unframed(self, values: Any, bad: list[BadValue]) -> Any:
        """Take what stands before the values away; those without are bad, and null."""
        import pyarrow as pa
        import pyarrow.compute

        from kafka.formats.bad_values import BadValue

        pc: Any = pyarrow.compute
        is_short = pc.less(pc.binary_length(values), 6)
        whole = pc.if_else(is_short, b"\1" * 6, values) if pc.any(is_short).as_py() else values
        quick = pc.and_(pc.equal(pc.binary_slice(whole, 0, 1), b"\0"), pc.equal(pc.binary_slice(whole, 5, 6), b"\0"))
        if self._indexes != [0]:
            quick = pc.if_else(quick, False, False)
        odd_rows = pc.indices_nonzero(pc.invert(pc.fill_null(quick, True))).to_pylist()
        rest = pc.binary_slice(whole, 6, max(6, pc.max(pc.binary_length(whole)).as_py() or 0))
        if not odd_rows:
            return rest
        kept: list[bytes | None] = []
        for row in odd_rows:
            data = values[row].as_py()
            kept.append(None)
            try:
                schema_id, indexes, at = read_prefix(data)
            except PrefixError as error:
                bad.append(BadValue(row, None, str(error)))
                continue
            if indexes == self._indexes:
                kept[-1] = data[at:]
            else:
                why = f"expected the message at position {self._indexes} of its schema, got that at {indexes}"
                bad.append(BadValue(row, schema_id, why))
        if len(kept) == len(values):
            return pa.array(kept, pa.binary())
        return pc.replace_with_mask(rest, pc.invert(pc.fill_null(quick, True)), pa.array(kept, pa.binary()))
