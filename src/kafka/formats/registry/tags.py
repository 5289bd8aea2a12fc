"""Tags in the text of a schema: which of its records and fields have which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kafka.formats.registry.json_objects import JsonObject, Readers, optional


@dataclass(frozen=True)
class SchemaEntity(JsonObject):
    """A record or a field of a schema.

    Attributes:
        entity_path: its name, below those of what it is in, such as ``shop.Order.email``.
        entity_type: "sr_record" or "sr_field".
    """

    entity_path: str | None
    entity_type: str | None


@dataclass(frozen=True)
class SchemaTags(JsonObject):
    """The tags of a record or a field.

    Attributes:
        schema_entity: what has them.
        tags: all of its tags.
    """

    schema_entity: SchemaEntity | None
    tags: tuple[str, ...] = ()

    _READ: ClassVar[Readers] = {
        "schema_entity": optional(SchemaEntity.from_dict),
        "tags": lambda tags: tuple(tags or ()),
    }
