"""Describes the problems of a declaration: the path of the value, what was expected, and what was found.

The problems come from pydantic, whose own texts name types of Python; `problem_text` words each of them as YAML does.
To word a kind of problem differently: its row in `_EXPECTED`, or its case in `_problem`.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, get_args

from pydantic import BaseModel

from kafka.config.option import nearest
from kafka.pipelines.field_types import PATTERNS, kind_text, shown

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

Location = tuple[str | int, ...]
"""The path to a value in a declaration: keys and indexes, outermost first."""

OPTION_KEYS = ("kafka", "registry", "options", "catalog", "url", "password")
"""Keys whose values are options of clients, or other values that may be secrets."""

_EXPECTED: Mapping[str, str] = {
    "bool_parsing": "true or false",
    "bool_type": "true or false",
    "float_parsing": "a number",
    "float_type": "a number",
    "finite_number": "a number",
    "greater_than": "a number above {gt}",
    "greater_than_equal": "a number of at least {ge}",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "int_parsing_size": "a smaller number",
    "int_type": "a whole number",
    "less_than": "a number below {lt}",
    "less_than_equal": "a number of at most {le}",
    "list_type": "a list",
    "string_too_long": "text of at most {max_length} characters",
    "string_too_short": "text that is not empty",
    "string_type": "text",
    "too_long": "a list of at most {max_length} entries",
    "too_short": "a list of at least {min_length} entries",
    "tuple_type": "a list",
}
"""What is expected, by pydantic's name of the problem. The braces contain names of its context."""
_KEYS_EXPECTED = ("dict_type", "mapping_type", "model_attributes_type", "model_type")


def problem_text(
    location: Location,
    problem: ErrorDetails,
    model: type[BaseModel],
    within: Location = (),
    keys: tuple[str, ...] = (),
) -> str:
    """Describe a problem of a value at a location within a model. The text contains no secrets.

    Arguments:
        location: the path of the value in the model.
        problem: the problem, from pydantic.
        model: the model that contains the location.
        within: the path of the model in the declaration.
        keys: other keys that the model could have contained, for suggestions.
    """
    path = path_text((*within, *location))
    text = _problem(location, problem, model, within, keys)
    if key_of(location, problem, model) != location:
        return f"{path}.{text}" if path else text  # the text begins with the key
    return f"{path}: {text}" if path else text


def _problem(
    location: Location, problem: ErrorDetails, model: type[BaseModel], within: Location, keys: tuple[str, ...]
) -> str:
    given, kind = problem["input"], problem["type"]
    context: dict[str, Any] = problem.get("ctx") or {}
    match kind:
        case "extra_forbidden":
            name, known = str(location[-1]), _keys_of(_model_at(model, location[:-1]))
            hint = nearest(name, [*known, *keys]) or _elsewhere(name, model, location[:-1])
            return f"unknown key{hint}; known are {', '.join(known)}"
        case "missing":
            return "this key is missing"
        case "value_error":
            return str(context["error"])
        case "enum" | "literal_error":
            names = re.findall(r"'([^']*)'", context["expected"])
            return f"expected {_alternatives(names)}, got {_found(location, given)}{nearest(str(given), names)}"
        case "string_pattern_mismatch":
            expected = PATTERNS.get(context["pattern"], f"text that matches {context['pattern']}")
            return f"expected {expected}, got {_found(location, given)}"
        case _ if kind in _KEYS_EXPECTED:
            inner = _keys_of(_model_at(model, location)) if _is_model(model, location) else []
            named = f" ({', '.join(inner)})" if inner else ""
            remedy = _written_with_keys((*within, *location), given, inner)
            return f"expected keys and values{named}, got {_found(location, given)}{remedy}"
        case _:
            limits = {name: f"{each:g}" if isinstance(each, float) else each for name, each in context.items()}
            expected = _EXPECTED.get(kind, "another value").format(**limits)
            return f"expected {expected}, got {_found(location, given)}{_remedy(location, kind, given, model)}"


def _alternatives(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def _remedy(location: Location, kind: str, given: Any, model: type[BaseModel]) -> str:
    """Return what to write instead, or "" if that is not obvious."""
    key = next((part for part in reversed(location) if isinstance(part, str)), "")
    is_secret = _is_secret(location)
    if kind in ("tuple_type", "list_type") and not is_secret:
        if _is_model(model, location):
            inner = _keys_of(_model_at(model, location))
            return f": begin each entry with '- ', followed by its keys ({', '.join(inner)})"
        if isinstance(given, str) and given:
            return f": write {key}: [{given}]"
    if kind == "string_type":
        if isinstance(given, bool | int | float | datetime.date) and not is_secret:
            plain = given.isoformat() if isinstance(given, datetime.date) else shown(given)
            return f': put it in quotes: "{plain}"'
        if given is None and not isinstance(location[-1], int):
            return ": write a value, or remove the key"
    return ""


def _written_with_keys(location: Location, given: Any, inner: list[str]) -> str:
    """Return what to write for text where keys are expected, such as ``value: json`` instead of a format."""
    if isinstance(given, str) and given and inner and not _is_secret(location) and re.fullmatch(r"[\w.-]+", given):
        return f": write {location[-1]}: {{{inner[0]}: {given}}}" if isinstance(location[-1], str) else ""
    return ""


def _is_secret(location: Location) -> bool:
    return any(part in OPTION_KEYS for part in location)


def _found(location: Location, value: Any) -> str:
    """Format a value that was found at a location; show only the kind of options."""
    return f"{kind_text(value)} (not shown here)" if _is_secret(location) else shown(value)


def path_text(location: Location) -> str:
    """Format a location as text, such as ``source.rules[2].holds``."""
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def key_of(location: Location, problem: ErrorDetails, model: type[BaseModel]) -> Location:
    """Return the location of a problem, with the key of the model there that the text of the problem begins with."""
    if problem["type"] != "value_error":
        return location
    key = str(problem["ctx"]["error"]).partition(":")[0]
    return (*location, key) if _is_model(model, location) and key in _keys_of(_model_at(model, location)) else location


def _elsewhere(name: str, model: type[BaseModel], location: Location) -> str:
    """Return a hint for a key that belongs to another part of the declaration, or ""."""
    places = [path for path, keys in _parts(model) if name in keys and path != path_text(location)]
    return f"; it belongs in {' or '.join(path or 'the file itself' for path in places)}" if places else ""


def _parts(model: type[BaseModel], path: str = "", depth: int = 3) -> Iterator[tuple[str, list[str]]]:
    """Yield the path and the keys of a model, and of the models in its fields."""
    yield path, _keys_of(model)
    for key, annotation in _annotations(model).items():
        inner = _model_of(annotation)
        if inner is not None and depth and key != "sources":
            yield from _parts(inner, f"{path}.{key}" if path else key, depth - 1)


def _annotations(model: type[BaseModel]) -> dict[str, Any]:
    return {field.alias or name: field.annotation for name, field in model.model_fields.items()}


def _keys_of(model: type[BaseModel]) -> list[str]:
    return list(_annotations(model))


def _model_at(model: type[BaseModel], location: Location) -> type[BaseModel]:
    """Return the model at a location within another model, or the closest one around it."""
    for part in location:
        fields = _annotations(model)
        if part in fields:  # the other parts are indexes and names of sources
            model = _model_of(fields[str(part)]) or model
    return model


def _is_model(model: type[BaseModel], location: Location) -> bool:
    """Return whether the value at a location is a model, or a list of them."""
    at: Any = model
    for part in location:
        fields = _annotations(model)
        if part in fields:
            at = _model_of(fields[str(part)])
            model = at or model
    return at is not None


def _model_of(annotation: Any) -> type[BaseModel] | None:
    """Return the model in a field, directly or within an optional, a tuple or a dict; None if there is none."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((model for inner in get_args(annotation) if (model := _model_of(inner))), None)
