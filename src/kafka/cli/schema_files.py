"""Schema files and their imports."""

import json
import pathlib
import re

_IMPORT = re.compile(
    r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/|\bimport\s+(?:public\s+|weak\s+)?["\']([^"\']+)["\']', re.DOTALL
)
"""Matches imports, and strings and comments, which may contain similar text."""

_PROTO = re.compile(
    r"(?:\s|//[^\n]*\n|/\*.*?\*/)*(?:syntax|edition|package|import|option|message|enum|service)\b", re.DOTALL
)


def proto_imports(text: str, file: str | None) -> dict[str, str]:
    """Return the .proto files that a file imports, directly or indirectly: names in ``import`` to contents.

    Arguments:
        text: the contents of the file.
        file: the path of the file; imports are looked up in its folder. None: no imports are looked up.

    Missing files are omitted, and so are Google's, which are included in every library.
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
    """Return whether a file seems to be JSON."""
    return text.lstrip()[:1] in ("{", "[")


def is_proto(text: str) -> bool:
    """Return whether a file seems to be a .proto file."""
    return _PROTO.match(text) is not None


def is_json_schema(text: str) -> bool:
    """Return whether a file seems to be a JSON Schema rather than an Avro schema."""
    try:
        schema = json.loads(text)
    except ValueError:
        return False
    return isinstance(schema, dict) and (
        "$schema" in schema or "properties" in schema or schema.get("type") in ("object", "integer", "number")
    )


def imported_names(text: str) -> list[str]:
    """Return the names in the ``import`` statements of a .proto file."""
    return [each[1] for each in _IMPORT.finditer(text) if each[1]]
