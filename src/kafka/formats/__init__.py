"""Converts bytes to typed Arrow columns or objects, and back. Layer 2: imports `record/` and the layers below it.

`column_builders` defines the columns that a decoder fills value by value. If a value cannot be decoded, its row becomes
null, and the error is reported separately (`bad_values`). `column_io` defines the column readers and writers that
clients accept, for all formats. `plain_columns` converts the values of Kafka's own serializers, and `value_framing`
reads and writes the prefixes and headers that identify schemas.

`avro`, `json` and `protobuf` implement one format each; `codec` contains the public class. In `avro`, `schema` parses
schemas, and `resolution` matches the writer's types with the reader's. `column_decoder` decodes into columns, with
readers from `scalar_readers` and `nested_readers`; `column_encoder` encodes columns, with `arrow_writers` and
`arrow_nested`; `arrow_types` maps types to Arrow's and back. `object_decoder` decodes and encodes objects:
`object_plan` makes the readers (`object_readers`, `nested_objects`) and the writers (`object_writers`,
`logical_writers`, `nested_writers`).

This module exports the public names: `Avro`, `Json` and `Protobuf`, and their errors and results.
"""

from typing import TYPE_CHECKING, Any

from kafka._old_names import of_a_package

if TYPE_CHECKING:
    from kafka.formats.avro.codec import Avro
    from kafka.formats.avro.errors import AvroDecodeError, AvroEncodeError
    from kafka.formats.avro.resolution import AvroResolutionError
    from kafka.formats.avro.schema import AvroDuration, AvroSchemaError
    from kafka.formats.bad_values import BadValue
    from kafka.formats.json.codec import Json
    from kafka.formats.json.column_encoder import JsonEncodeError
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
        "avro.errors": ("AvroDecodeError", "AvroEncodeError"),
        "avro.resolution": ("AvroResolutionError",),
        "avro.schema": ("AvroDuration", "AvroSchemaError"),
        "bad_values": ("BadValue",),
        "json.codec": ("Json",),
        "json.column_encoder": ("JsonEncodeError",),
        "json.errors": ("JsonSchemaError",),
        "json.rows": ("json_syntax_error",),
        "protobuf.codec": ("Protobuf",),
        "protobuf.errors": ("ProtobufDecodeError", "ProtobufEncodeError", "ProtobufSchemaError"),
    }.items()
    for name in names
}


def __getattr__(name: str) -> Any:
    """Load a public name on first use. Spark often starts new processes, which need only a few of these modules."""
    return of_a_package(__name__, name, _HOMES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
