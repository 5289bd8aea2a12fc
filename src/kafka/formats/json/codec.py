"""Values of a JSON schema, as rows of Arrow columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from kafka.formats.json.columns import JsonColumnDecoder
from kafka.formats.json.encoder import JsonColumnEncoder
from kafka.formats.json.inference import infer_type
from kafka.formats.json.options import DecodeOptions, EncodeOptions
from kafka.formats.json.schema import arrow_type

if TYPE_CHECKING:
    import pyarrow as pa

    from kafka.formats.bad_values import BadValue


class Json:
    """Encodes and decodes values of one schema. Thread-safe."""

    def __init__(
        self,
        schema: Any,
        *,
        references: Mapping[str, Any] | None = None,
        unknown_fields: Literal["ignore", "error"] = "ignore",
        duplicate_keys: Literal["error", "last"] = "error",
        null_document: Literal["error", "null"] = "error",
        non_finite_numbers: Literal["error", "null", "allow"] = "error",
        lone_surrogates: Literal["error", "replace"] = "error",
        epoch_unit: Literal["s", "ms", "us", "ns"] | None = None,
        nulls: Literal["write", "omit"] = "write",
    ) -> None:
        """Find the type of values.

        Args:
            schema: an Arrow schema or type; a Spark type, or its JSON; columns as in SQL, `"id bigint, name string"`;
                or a JSON Schema, as a text or as objects.
            references: schemas that a JSON Schema refers to, by the names that it has for them.
            unknown_fields: how to treat fields that the schema lacks.
            duplicate_keys: how to treat a key that occurs twice in an object; `"last"`: the last one counts.
            null_document: how to treat the document `null`; a missing value is always null.
            non_finite_numbers: how to treat NaN and infinities: as an error; `"allow"`: numbers, written as Python's
                json does; `"null"`: written as null and an error when they are read.
            lone_surrogates: how to treat half a surrogate pair in a string; `"replace"` puts U+FFFD in its place.
            epoch_unit: also read whole numbers as timestamps, in this unit since 1970.
            nulls: `"omit"` leaves out fields that are null.

        Raises:
            JsonSchemaError: the schema is not valid, or JSON has no values of its type.
            ValueError: an argument has a value that is not allowed.
        """
        self._decode_options = DecodeOptions(
            unknown_fields=unknown_fields,
            duplicate_keys=duplicate_keys,
            null_document=null_document,
            non_finite_numbers="error" if non_finite_numbers == "null" else non_finite_numbers,
            lone_surrogates=lone_surrogates,
            epoch_unit=epoch_unit,
        )
        self._encode_options = EncodeOptions(nulls=nulls, non_finite_numbers=non_finite_numbers)
        self.type: pa.DataType = arrow_type(schema, references)
        """The type of the column that `decode_rows` returns."""
        JsonColumnDecoder(self.type, self._decode_options)

    def __repr__(self) -> str:
        return f"Json({self.type!s:.200})"

    @classmethod
    def infer(
        cls,
        values: pa.BinaryArray | Iterable[bytes | str | None],
        *,
        mixed: Literal["error", "json"] = "error",
        times: bool = False,
        **options: Any,
    ) -> Json:
        """Infer the schema from all values of a bounded read, or from a sample.

        Args:
            values: an array of binary, or any bytes or texts; null is skipped.
            mixed: how to treat a field with values of several types: as an error, or as JSON text.
            times: whether strings that are all dates, or all timestamps with an offset, are of these types.
            options: as for `Json`.

        Raises:
            JsonSchemaError: a value is not JSON, there is no value, or one field has values of several types.
        """
        as_objects = values.to_pylist() if hasattr(values, "to_pylist") else values
        return cls(infer_type(as_objects, mixed=mixed, times=times), **options)

    def decode_rows(self, values: pa.BinaryArray, *, framed: bool = False) -> tuple[pa.Array[Any], list[BadValue]]:
        """Decode values into a column.

        Args:
            values: an array of binary, or of strings, or a chunked array; null is null.
            framed: whether each value begins with a zero byte and a schema id, four bytes, as Confluent's serializers
                write them.

        Returns:
            The column, with as many rows as there are values, and which values could not be decoded; their rows are
            null.

        Raises:
            OverflowError: the column has more than 2 GiB.
        """
        return JsonColumnDecoder(self.type, self._decode_options).decode(_whole(values), framed=framed)

    def encode_rows(self, rows: Any) -> pa.BinaryArray:
        """Encode rows, each as one compact value in UTF-8; a row that is null is null.

        Args:
            rows: an array, a chunked array, a record batch or a table of the schema's type.

        Raises:
            JsonEncodeError: JSON cannot represent a value: NaN, infinities, years before 1 or after 9999. Says which
                row and field.
            OverflowError: the values have more than 2 GiB.
            ValueError: the rows are of another type, or damaged.
        """
        encoded: pa.BinaryArray = JsonColumnEncoder(self.type, self._encode_options).encode(_whole(rows))
        return encoded


def _whole(rows: Any) -> Any:
    """Return a chunked array or a table in one piece, and anything else as it is."""
    import pyarrow as pa

    if isinstance(rows, pa.Table):
        return rows.to_struct_array().combine_chunks()
    return rows.combine_chunks() if isinstance(rows, pa.ChunkedArray) else rows
