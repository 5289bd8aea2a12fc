"""Converts values of a Protobuf message type to objects or rows of Arrow columns, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kafka.formats.protobuf.descriptors import file_of, indexes_of, message_of
from kafka.formats.protobuf.errors import ProtobufDecodeError, ProtobufEncodeError, library
from kafka.formats.value_framing import PrefixError, index_bytes, read_prefix

if TYPE_CHECKING:
    import pyarrow as pa

    from kafka.formats.bad_values import BadValue
    from kafka.formats.protobuf.column_codec import ProtobufColumns

    FindPosition = Callable[[int], Sequence[int]]
    """Returns the indexes of a schema's message type for the schema's id."""

_HEAD = 5
"""Size in bytes of a prefix's zero byte and schema id."""


class Protobuf:
    """Encodes and decodes values of one message type. Thread-safe."""

    def __init__(
        self, schema: Any, message: str | Sequence[int] | None = None, *, references: Mapping[str, Any] | None = None
    ) -> None:
        """Find the message type in the schema.

        Args:
            schema: the generated class of a message; the text of a .proto file; a `FileDescriptorSet` or
                `FileDescriptorProto`, serialized or not, or in base64.
            message: the message's full name, its name within the package, or its position in the file (preceded by the
                positions of the enclosing messages, outermost first); None: the first message. Ignored for a class.
            references: the imported schemas, by the names in ``import``. Google's well-known types are not needed.

        Raises:
            ProtobufSchemaError: the schema is invalid, imports a missing file, or lacks the message.
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

    def __repr__(self) -> str:
        return f"Protobuf(message {self.descriptor.full_name})"

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

    def decode_rows(
        self, values: Any, *, framed: bool = False, find: FindPosition | None = None
    ) -> tuple[Any, list[BadValue]]:
        """Decode values into a column of structs.

        Args:
            values: a binary array, or a chunked array; null stays null.
            framed: whether each value begins with a zero byte, a schema id in four bytes and the position of the
                message in its schema, as written by Confluent's serializers.
            find: called with a schema id; returns the message's position in that schema, or raises LookupError with the
                reason if there is none. None: use the position in this schema.

        Returns:
            The column, with one row per value, and the values that could not be decoded, whose rows are null.

        Raises:
            ProtobufSchemaError: the message type has no column type.
        """
        import pyarrow as pa

        from kafka.formats.bad_values import BadValue, prefix_hint

        columns = self._column_codec()
        whole = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
        if whole.type != pa.binary():
            whole = whole.cast(pa.binary())
        bad: list[BadValue] = []

        def fail(row: int, why: str, field: str) -> None:
            data = whole[row].as_py()
            if framed:
                bad.append(BadValue(row, int.from_bytes(data[1:5]), why, field or None))
            else:
                bad.append(BadValue(row, None, why + prefix_hint(data), field or None))

        column = columns.decode(self._unframed(whole, bad, find) if framed else whole, fail)
        return column, sorted(bad)

    def encode_rows(self, rows: Any) -> pa.BinaryArray:
        """Encode rows, each as one value; a null row stays null.

        Args:
            rows: an array of structs, a chunked array, a record batch or a table; missing fields are not set.

        Raises:
            ProtobufEncodeError: a row is not a valid message.
            ProtobufSchemaError: the message type has no column type.
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
            from kafka.formats.protobuf.column_codec import ProtobufColumns

            self._columns = ProtobufColumns(self.descriptor)
        return self._columns

    def _unframed(self, values: Any, bad: list[BadValue], find: FindPosition | None) -> Any:
        """Remove prefixes. Values without a prefix or of another message type become null and are added to `bad`."""
        import pyarrow as pa
        import pyarrow.compute

        from kafka.formats.bad_values import BadValue

        pc: Any = pyarrow.compute
        longest = pc.max(pc.binary_length(values)).as_py() or 0
        heads = pc.if_else(pc.less(pc.binary_length(values), _HEAD), None, pc.binary_slice(values, 0, _HEAD))
        rest = pa.nulls(len(values), pa.binary())
        taken: Any = pa.repeat(False, len(values))
        expected: dict[int, list[int] | str] = {}
        by_position: dict[bytes, list[bytes]] = {}
        for head in pc.unique(heads).to_pylist():
            if head is None or head[0]:
                continue
            schema_id = int.from_bytes(head[1:])
            try:
                expected[schema_id] = position = self._indexes if find is None else list(find(schema_id))
            except LookupError as error:
                expected[schema_id] = str(error.args[0])
                continue
            by_position.setdefault(index_bytes(position), []).append(head)
        for written, its_heads in by_position.items():  # invalid bytes may look like any number of ids
            end = _HEAD + len(written)
            has_head = pc.is_in(heads, pa.array(its_heads, pa.binary()))
            is_so = pc.fill_null(pc.and_(has_head, pc.equal(pc.binary_slice(values, _HEAD, end), written)), False)
            rest = pc.if_else(is_so, pc.binary_slice(values, end, max(longest, end)), rest)
            taken = pc.or_(taken, is_so)
        others: list[bytes | None] = []
        is_other = pc.and_(pc.invert(taken), values.is_valid())
        for row in pc.indices_nonzero(is_other).to_pylist():
            others.append(None)
            data = values[row].as_py()
            try:
                schema_id, indexes, at = read_prefix(data)
            except PrefixError as error:
                bad.append(BadValue(row, None, str(error)))
                continue
            wanted = expected[schema_id]
            if indexes == wanted:  # the position of the first message also has a longer form
                others[-1] = data[at:]
            elif isinstance(wanted, str):
                bad.append(BadValue(row, schema_id, wanted))
            else:
                name = self.descriptor.full_name
                why = f"expected a message {name}, got the one at position {indexes} of its schema"
                bad.append(BadValue(row, schema_id, why))
        return pc.replace_with_mask(rest, is_other, pa.array(others, pa.binary())) if others else rest
