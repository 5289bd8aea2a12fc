"""Tags in the text of a schema: which of its records and fields have which."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kafka.formats.registry.contracts import given


@dataclass(frozen=True)
class SchemaEntity:
    """A record or a field of a schema.

    Attributes:
        entity_path: its name, below those of what it is in, such as ``shop.Order.email``.
        entity_type: "sr_record" or "sr_field".
    """

    entity_path: str | None
    entity_type: str | None

    def to_dict(self) -> dict[str, Any]:
        """As the registry's JSON has it."""
        return given(entityPath=self.entity_path, entityType=self.entity_type)

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> SchemaEntity:
        """Read the registry's JSON.

        Arguments:
            src_dict: a JSON object.
        """
        return cls(src_dict.get("entityPath"), src_dict.get("entityType"))


@dataclass(frozen=True)
class SchemaTags:
    """The tags of a record or a field.

    Attributes:
        schema_entity: what has them.
        tags: all of its tags.
    """

    schema_entity: SchemaEntity | None
    tags: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As the registry's JSON has it."""
        entity = None if self.schema_entity is None else self.schema_entity.to_dict()
        return given(schemaEntity=entity, tags=list(self.tags))

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> SchemaTags:
        """Read the registry's JSON.

        Arguments:
            src_dict: a JSON object.
        """
        entity = src_dict.get("schemaEntity")
        return cls(None if entity is None else SchemaEntity.from_dict(entity), tuple(src_dict.get("tags") or ()))
