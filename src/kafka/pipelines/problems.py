"""Describes the problems of a declaration: the path of the value, what was expected, and what was found.

The problems come from pydantic. To word a kind of problem differently: a case in `problem_text`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, get_args

from pydantic import BaseModel

from kafka.config import secrecy
from kafka.config.option import nearest
from kafka.pipelines.field_types import shown

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

Location = tuple[str | int, ...]
"""The path to a value in a declaration: keys and indexes, outermost first."""

OPTION_KEYS = ("kafka", "registry", "options")
"""Keys whose values are options of clients, which may be secrets."""


def problem_text(location: Location, problem: ErrorDetails, model: type[BaseModel]) -> str:
    """Describe a problem of a value at a location within a model. The text contains no secrets."""
    path = path_text(location)
    given = problem["input"]
    match problem["type"]:
        case "extra_forbidden":
            known = _keys_at(model, location[:-1])
            return f"{path}: unknown key{nearest(str(location[-1]), known)}; known are {', '.join(known)}"
        case "missing":
            return f"{path}: this key is missing"
        case "value_error":
            text = str(problem["ctx"]["error"])
            return f"{path}: {text}" if path else text
        case "enum" | "literal_error":
            expected = problem["ctx"]["expected"]
            names = re.findall(r"'([^']*)'", expected)
            return f"{path}: expected {expected}, got {_found(location, given)}{nearest(str(given), names)}"
        case "string_pattern_mismatch":
            return f"{path}: expected text that matches {problem['ctx']['pattern']}, got {_found(location, given)}"
        case _:
            expected = re.sub("Input should be a valid dictionary( or .*)?", "expected keys and values", problem["msg"])
            return f"{path}: {expected.replace('Input should be', 'expected')}, got {_found(location, given)}"


def _found(location: Location, value: Any) -> str:
    """Format a value that was found at a location; show only the type of options."""
    if any(part in OPTION_KEYS for part in location):
        return secrecy.kind_of(value)
    return shown(value)


def path_text(location: Location) -> str:
    """Format a location as text, such as ``source.rules[2].holds``."""
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _keys_at(model: type[BaseModel], location: Location) -> list[str]:
    """Return the keys of the model at a location within another model."""
    for part in location:
        fields = {field.alias or name: field.annotation for name, field in model.model_fields.items()}
        if part in fields:  # the other parts are indexes and names of sources
            model = _model_of(fields[part]) or model
    return [field.alias or name for name, field in model.model_fields.items()]


def _model_of(annotation: Any) -> type[BaseModel] | None:
    """Return the model in a field, directly or within an optional, a tuple or a dict; None if there is none."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((model for inner in get_args(annotation) if (model := _model_of(inner))), None)
