"""Validates objects against a JSON Schema (drafts 3 to 2020-12), with the library jsonschema."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import importlib
import json
import uuid
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import urljoin

from kafka.errors import KafkaConfigurationError
from kafka.formats.json.errors import JsonSchemaError, place

_MAX_REASON = 300


class JsonInvalidError(ValueError):
    """An object does not match its schema.

    Attributes:
        path: the path of the invalid part, such as ``lines[1].price``; empty for the whole object.
        reason: what was expected and found.
    """

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{place(path)}{reason}")
        self.path = path
        self.reason = reason

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.path, self.reason)


class JsonValidator:
    """Validates objects against one schema. Thread-safe."""

    def __init__(self, schema: str, references: Mapping[str, str] | None = None) -> None:
        """Parse a schema.

        Args:
            schema: the schema's text; without ``$schema``, draft 2020-12 applies.
            references: the texts of the schemas that it refers to, directly or indirectly, by the names in ``$ref``.
                Nothing is fetched. Draft 7 applies to texts without ``$schema``.

        Raises:
            JsonSchemaError: a text is not a JSON Schema.
            KafkaConfigurationError: the library is not installed.
        """
        jsonschema, referencing = _library("jsonschema"), _library("referencing")
        default = importlib.import_module("referencing.jsonschema").DRAFT7
        root = parse_json_schema(schema)
        base = root.get("$id", "") if isinstance(root, dict) else ""
        registry = referencing.Registry()
        for name, text in (references or {}).items():
            resource = referencing.Resource.from_contents(parse_json_schema(text), default_specification=default)
            names = {name, urljoin(base, name) if isinstance(base, str) else name}
            registry = registry.with_resources((each, resource) for each in names)
        kind = jsonschema.validators.validator_for(root)
        try:
            kind.check_schema(root)
        except jsonschema.SchemaError as error:
            at = path_text(error.absolute_path)
            raise JsonSchemaError(f"{place(at)}expected a JSON Schema: {error.message:.{_MAX_REASON}}") from None
        self._validator = kind(root, registry=registry)
        self._unresolvable = referencing.exceptions.Unresolvable
        self._best = jsonschema.exceptions.best_match

    def check(self, value: Any) -> None:
        """Raise `JsonInvalidError` if an object does not match the schema.

        Args:
            value: an object as returned by `json.loads`.

        Raises:
            JsonSchemaError: the schema has an unknown reference.
        """
        try:
            found = self._best(self._validator.iter_errors(value))
        except self._unresolvable as error:
            raise JsonSchemaError(f"the schema refers to {error.ref!r}, which is not among its references") from error
        if found is not None:
            raise JsonInvalidError(path_text(found.absolute_path), f"{found.message:.{_MAX_REASON}}")


def parse_json_schema(text: str) -> Any:
    """Parse the text of a JSON Schema, a dict or a boolean; raises `JsonSchemaError`."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise JsonSchemaError(f"expected a JSON Schema, which is JSON: {error}") from error
    if not isinstance(value, (dict, bool)):
        raise JsonSchemaError(f"expected a JSON Schema as an object or a boolean, got {text:.60}")
    return value


def path_text(parts: Iterable[Any]) -> str:
    """Format names and indexes as a path such as ``lines[1].price``."""
    return "".join(f"[{each}]" if isinstance(each, int) else f".{each}" for each in parts).removeprefix(".")


def plain_object(value: Any) -> Any:
    """Convert a dataclass, attrs or pydantic instance to a dict; return anything else unchanged."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return plain_value(dataclasses.asdict(value), _scalar)
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if hasattr(type(value), "__attrs_attrs__"):
        return plain_value(importlib.import_module("attr").asdict(value), _scalar)
    return value


def _scalar(value: Any) -> Any:
    return str(value) if isinstance(value, decimal.Decimal) else value


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise KafkaConfigurationError(
            "validation against a JSON Schema needs the library jsonschema: pip install 'kafka-columnar[json-schema]'"
        ) from error


def plain_value(value: Any, of_scalar: Callable[[Any], Any]) -> Any:
    """Convert a value to JSON types: dates, times and UUIDs become strings, enum members their values.

    Args:
        value: the value; the contents of dicts, lists, tuples and sets are also converted.
        of_scalar: converts values of all other types, such as numbers and bytes.
    """
    if isinstance(value, Mapping):
        return {name: plain_value(each, of_scalar) for name, each in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain_value(each, of_scalar) for each in value]
    if isinstance(value, enum.Enum):
        return plain_value(value.value, of_scalar)
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    return str(value) if isinstance(value, uuid.UUID) else of_scalar(value)
