"""Files of schemas, and what they import."""

import json
import pathlib
import re

_IMPORT = re.compile(
    r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/|\bimport\s+(?:public\s+|weak\s+)?["\']([^"\']+)["\']', re.DOTALL
)
"""Imports, and what they may seem to stand in: texts and comments."""

_PROTO = re.compile(
    r"(?:\s|//[^\n]*\n|/\*.*?\*/)*(?:syntax|edition|package|import|option|message|enum|service)\b", re.DOTALL
)


def proto_imports(text: str, file: str | None) -> dict[str, str]:
    """The texts of the .proto files that one imports, and those import, by the names in ``import``.

    Arguments:
        text: the file's.
        file: its path: imports are looked for in its folder; None: it has none.

    Files that are not there are left out; so are Google's, which every library brings.
    """
    from kafka.formats.protobuf.descriptors import is_known

    found: dict[str, str] = {}
    if file is None:
        return found
    folder = pathlib.Path(file).parent
    texts = [text]
    while texts:
        for name in imported_names(texts.pop()):
            path = folder / name
            if name not in found and not is_known(name) and path.is_file():
                found[name] = path.read_text("utf-8")
                texts.append(found[name])
    return found


def is_json(text: str) -> bool:
    """Whether a file seems to be JSON."""
    return text.lstrip()[:1] in ("{", "[")


def is_proto(text: str) -> bool:
    """Whether a file seems to be a .proto file."""
    return _PROTO.match(text) is not None


def is_json_schema(text: str) -> bool:
    """Whether a file seems to be a JSON Schema, and not a schema of Avro."""
    try:
        schema = json.loads(text)
    except ValueError:
        return False
    return isinstance(schema, dict) and (
        "$schema" in schema or "properties" in schema or schema.get("type") in ("object", "integer", "number")
    )


def imported_names(text: str) -> list[str]:
    """The names in the ``import`` statements of a .proto file."""
    return [each[1] for each in _IMPORT.finditer(text) if each[1]]
