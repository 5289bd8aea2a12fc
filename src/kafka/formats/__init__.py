"""Formats of values: bytes to typed Arrow columns or objects. Layer 2: imports `record/` and the layers below it.

`columns` has the columns that a decoder fills value by value; a value that cannot be decoded is removed again and
becomes null, with its cause next to the column. `avro` has Avro: `schema` has the types, `matching` and `resolution`
decide which type of the writer is read as which of the reader. `types` maps them to Arrow's types, `plan` makes the
readers that fill columns (`byte_readers`, `number_readers`, `nested_readers`), `columns` has the decoder; `object_plan`
makes those that return objects (`object_readers`, `logical_objects`, `nested_objects`), `object_decoder` has the
decoder. `writer_plan` makes what writes objects (`object_writers`, `logical_writers`, `nested_writers`,
`union_writers`, into an `output`), `object_encoder` has the encoder; `arrow_binding` what writes the rows of Arrow
columns (`arrow_writers`, `arrow_nested`), `column_encoder` has the encoder, and `arrow_schema` the schema of columns.
`json` has JSON likewise, `plain` the values of Kafka's own serializers; `rows` is the common part of readers and
writers of columns in any format.

This module has the names for programs: `Avro` and `Json`, their errors and their results.
"""

from typing import TYPE_CHECKING, Any

from kafka._old_names import of_a_package

if TYPE_CHECKING:
    from kafka.formats.avro.codec import Avro
    from kafka.formats.avro.duration import AvroDuration
    from kafka.formats.avro.errors import AvroDecodeError, AvroEncodeError
    from kafka.formats.avro.resolution import AvroResolutionError
    from kafka.formats.avro.schema import AvroSchemaError
    from kafka.formats.bad_values import BadValue
    from kafka.formats.json.codec import Json
    from kafka.formats.json.encoder import JsonEncodeError
    from kafka.formats.json.errors import JsonSchemaError
    from kafka.formats.json.rows import json_syntax_error
    from kafka.formats.protobuf.codec import Protobuf
    from kafka.formats.protobuf.errors import ProtobufDecodeError, ProtobufEncodeError, ProtobufSchemaError

__all__ = [
    "Avro",
    "AvroDecodeError",
    "AvroDuration",
    "AvroEncodeError",
    "AvroResolutionError",
    "AvroSchemaError",
    "BadValue",
    "Json",
    "JsonEncodeError",
    "JsonSchemaError",
    "Protobuf",
    "ProtobufDecodeError",
    "ProtobufEncodeError",
    "ProtobufSchemaError",
    "json_syntax_error",
]

_HOMES = {
    name: f"kafka.formats.{module}"
    for module, names in {
        "avro.codec": ("Avro",),
        "avro.duration": ("AvroDuration",),
        "avro.errors": ("AvroDecodeError", "AvroEncodeError"),
        "avro.resolution": ("AvroResolutionError",),
        "avro.schema": ("AvroSchemaError",),
        "bad_values": ("BadValue",),
        "json.codec": ("Json",),
        "json.encoder": ("JsonEncodeError",),
        "json.errors": ("JsonSchemaError",),
        "json.rows": ("json_syntax_error",),
        "protobuf.codec": ("Protobuf",),
        "protobuf.errors": ("ProtobufDecodeError", "ProtobufEncodeError", "ProtobufSchemaError"),
    }.items()
    for name in names
}


def __getattr__(name: str) -> Any:
    """Load a public name on first use: Spark's processes are new each time, and need few of them."""
    return of_a_package(__name__, name, _HOMES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
