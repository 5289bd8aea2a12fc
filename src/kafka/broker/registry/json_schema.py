"""JSON Schemas in the registry: their text in one form, and whether two of them are compatible."""

from __future__ import annotations

import json
from collections.abc import Mapping

from kafka.formats.json.compatibility import incompatibilities
from kafka.formats.json.schema_nodes import Document
from kafka.formats.json.validation import parse_json_schema


class JsonSchema:
    """A schema that was parsed.

    Attributes:
        text: without white space.
        normalized: likewise, with all properties sorted by their names.
    """

    def __init__(self, text: str, references: Mapping[str, JsonSchema]) -> None:
        """Parse a text.

        Arguments:
            text: JSON.
            references: the schemas it refers to, by the names that it has for them.

        Raises `JsonSchemaError` for what is no schema, or refers to what is not there.
        """
        value = parse_json_schema(text)
        self._document: Document = Document(value, {name: each._document for name, each in references.items()})
        self.text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
        self.normalized = json.dumps(value, separators=(",", ":"), ensure_ascii=False, sort_keys=True)

    def reasons_not_to_read(self, writer: JsonSchema) -> list[str]:
        """Why values of another schema may not be what this one describes; nothing where they are."""
        return [
            f'{{errorType:"{kind}", description:"{_SENTENCES.get(kind, _OTHERWISE).format(path=path)}"}}'
            for kind, path in incompatibilities(writer._document, self._document)
        ]


_OTHERWISE = "The new schema allows less than the old one at path '{path}'"
_SENTENCES = {
    "TYPE_CHANGED": "The type at path '{path}' is another one in the new schema",
    "TYPE_NARROWED": "The new schema asks for a whole number at path '{path}', the old one for any number",
    "PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL": "The new schema has a property at path '{path}' that the old one does not "
    "list and, as further properties are allowed there, may have been anything",
    "PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL": "The new schema lacks the property at path '{path}' and allows no "
    "further properties",
    "REQUIRED_ATTRIBUTE_ADDED": "The property at path '{path}' is required in the new schema and has no default value",
    "REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL": "The new schema has a required property at path '{path}' "
    "without a default value, which the old one does not have",
    "ADDITIONAL_PROPERTIES_REMOVED": "The old schema allows further properties at path '{path}', the new one does not",
}
