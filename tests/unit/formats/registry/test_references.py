"""Schemas with references: each referenced schema is requested and parsed once, even if many paths lead to it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from kafka.formats.registry._sync.named_schemas import parsed_avro, referenced_schemas
from kafka.schema_registry import Schema, SchemaReference, SchemaRegistryClient
from kafka.serialization import SerializationError

from .scripted_registry import Request, ScriptedRegistry

pytestmark = [pytest.mark.once, pytest.mark.timeout(30)]
LEVELS = 40
"""Two references per level are a trillion paths."""


def answer(kind: str, below: Callable[[int], int | None]) -> Callable[[Request], tuple[int, Any]]:
    """A registry in which s<N> refers twice to the schema with the number that `below` returns."""

    def answered(request: Request) -> tuple[int, Any]:
        number = LEVELS if request.path.startswith("/schemas") else int(request.path.split("/")[2][1:])
        other = below(number)
        fields = [] if other is None else [{"name": name, "type": f"R{other}"} for name in "ab"]
        schema: Any = {"type": "record", "name": f"R{number}", "fields": fields} if kind == "AVRO" else {}
        references = [{"name": f"{way}{other}", "subject": f"s{other}", "version": 1} for way in "ab"]
        return 200, {"schema": json.dumps(schema), "schemaType": kind, "references": references if fields else []}

    return answered


def test_avro_schemas_with_many_paths_of_references() -> None:
    with (
        ScriptedRegistry(answer("AVRO", lambda number: number - 1 if number else None)) as registry,
        SchemaRegistryClient({"url": registry.url}) as client,
    ):
        assert parsed_avro(client.get_schema(1), client).kind == "record"
        assert len(registry.requests) == LEVELS + 1


@pytest.mark.parametrize("kind", ["AVRO", "JSON"])
def test_references_of_any_type(kind: str) -> None:
    top = Schema("{}", kind, [SchemaReference(way, f"s{LEVELS}", 1) for way in "ab"])
    with (
        ScriptedRegistry(answer(kind, lambda number: number - 1 if number else None)) as registry,
        SchemaRegistryClient({"url": registry.url}) as client,
    ):
        assert len(referenced_schemas(top, client, kind)) == 2 * (LEVELS + 1)
        assert len(registry.requests) == LEVELS + 1


@pytest.mark.parametrize("kind", ["AVRO", "JSON"])
def test_recursive_references(kind: str) -> None:
    with (
        ScriptedRegistry(answer(kind, lambda number: number)) as registry,
        SchemaRegistryClient({"url": registry.url}) as client,
    ):
        with pytest.raises(SerializationError, match="at most 50 levels deep"):
            referenced_schemas(client.get_schema(1), client, kind)
        assert len(registry.requests) == 2
