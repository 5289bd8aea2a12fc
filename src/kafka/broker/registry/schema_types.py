"""The types of schema that the registry takes, and what it asks of one that was parsed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, Self, cast

from kafka.broker.registry.avro import AvroSchema
from kafka.broker.registry.json_schema import JsonSchema
from kafka.broker.registry.protobuf import ProtobufSchema
from kafka.broker.registry.refusals import Refused, invalid_schema


class ParsedSchema(Protocol):
    """A schema that was parsed."""

    @property
    def text(self) -> str:
        """Its text, without what means nothing."""

    @property
    def normalized(self) -> str:
        """Its text in a form in which schemas that mean the same are more often the same."""

    def reasons_not_to_read(self, writer: Self) -> list[str]:
        """Why values of another schema cannot be read with this one; nothing where they can."""


_TYPES: Mapping[str, Any] = {"AVRO": AvroSchema, "JSON": JsonSchema, "PROTOBUF": ProtobufSchema}
TYPES = tuple(_TYPES)


def parsed(kind: str, text: str, references: Mapping[str, ParsedSchema]) -> ParsedSchema:
    """Parse a schema; raises `Refused` for what is none.

    Arguments:
        kind: one of `TYPES`.
        text: the schema.
        references: the schemas it refers to, by the names that it has for them.
    """
    if kind not in _TYPES:
        raise Refused(
            42201, f"The embedded schema registry takes schemas of the types {', '.join(TYPES)}, not {kind[:40]!r}"
        )
    for name, each in references.items():
        if not isinstance(each, _TYPES[kind]):
            raise invalid_schema(f"the reference {name!r} is to a schema of another type than {kind}")
    try:
        return cast("ParsedSchema", _TYPES[kind](text, references))
    except (ValueError, RecursionError) as error:
        raise invalid_schema(str(error) or type(error).__name__) from error
