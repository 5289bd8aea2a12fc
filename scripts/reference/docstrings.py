"""Whether the public docstrings name every argument: what is on the pages of names says what each is.

KAFKA_PURE=1 python -m scripts.reference.docstrings    print what is not named; exit 1 if there is any

Members of enumerations need a text, too.

An option of a client is described in the option table, a field of a value in the text below it. It reads sources, so
the compiled modules have to be left out.
"""

from __future__ import annotations

import ast
import enum
import importlib
import inspect
import re
import sys
import textwrap
import typing
from collections.abc import Callable, Iterator
from typing import Any, is_typeddict

from scripts.reference import names_pages

from kafka.config import option_table

OPTIONS = option_table()


def unnamed(module: str) -> Iterator[str]:
    """What is not named of the public names of a module: a line for each callable, with the arguments."""
    loaded = importlib.import_module(module)
    for name in names_pages.public_names(loaded):
        value = getattr(loaded, name)
        for path, function, text in callables(name, value):
            missing = [each for each in arguments(function) if not is_named(each, text)]
            if missing:
                yield f"{module}.{path}: {', '.join(missing)}"


def members_without_text(module: str) -> Iterator[str]:
    """The members of a module's public enumerations that have no text below them, a line each."""
    loaded = importlib.import_module(module)
    for name in names_pages.public_names(loaded):
        value = getattr(loaded, name)
        if isinstance(value, type) and issubclass(value, enum.Enum):
            yield from (f"{module}.{name}.{member}: no text" for member in undescribed(source(value)))


def undescribed(text: str) -> list[str]:
    """The names in the source of a class whose assignment is followed by no text."""
    body = ast.parse(textwrap.dedent(text)).body[0]
    assert isinstance(body, ast.ClassDef)
    found = []
    for each, after in zip(body.body, [*body.body[1:], ast.Pass()], strict=True):
        has_text = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
        if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name) and not has_text:
            found.append(each.targets[0].id)
    return [name for name in found if not name.startswith("_")]


def callables(name: str, value: Any) -> Iterator[tuple[str, Any, str]]:
    """What can be called of a public name, by its path, with all the text that says how."""
    if not isinstance(value, type):
        yield name, value, inspect.getdoc(value) or ""
        return
    if not is_made_by_others(value):
        yield name, value, text_of_class(value)
    for member in sorted(set(dir(value))):
        owner = next((base for base in value.__mro__ if member in vars(base)), object)
        function = inspect.getattr_static(value, member)
        function = function.__func__ if isinstance(function, classmethod | staticmethod) else function
        if member.startswith("_") or not owner.__module__.startswith("kafka") or not inspect.isroutine(function):
            continue
        yield f"{name}.{member}", function, text_of_method(value, member)


def is_made_by_others(cls: type) -> bool:
    """Whether no program makes an object by calling the class: members of an enumeration, and protocols."""
    return issubclass(cls, enum.Enum) or getattr(cls, "_is_protocol", False) or is_typeddict(cls)


def text_of_class(cls: type) -> str:
    """The text of a class, of its constructor, and of its fields, which have one each or are options of the table."""
    made_by = [getattr(cls, name) for name in ("__init__", "__new__") if name in vars(cls)]
    texts = [inspect.getdoc(cls) or "", *(each.__doc__ or "" for each in made_by)]
    return "\n".join([*texts, *(f"{field}: {text}" for field, text in fields(cls))])


def fields(cls: type) -> Iterator[tuple[str, str]]:
    """The fields of a class that have a text below them, and those that are options."""
    for base in cls.__mro__:
        if not base.__module__.startswith("kafka"):
            continue
        for name, field in getattr(base, "__dataclass_fields__", {}).items():
            if field.metadata and name in OPTIONS:
                yield name, OPTIONS[name].doc
        body = ast.parse(textwrap.dedent(source(base))).body[0]
        assert isinstance(body, ast.ClassDef)
        for each, after in zip(body.body, body.body[1:], strict=False):
            text = after.value if isinstance(after, ast.Expr) else None
            if isinstance(each, ast.AnnAssign) and isinstance(text, ast.Constant) and isinstance(each.target, ast.Name):
                yield each.target.id, str(text.value)


def source(cls: type) -> str:
    """The source of a class; a class made by a call has none."""
    try:
        return inspect.getsource(cls)
    except (OSError, TypeError):
        return "class Made: ..."


def text_of_method(cls: type, member: str) -> str:
    """The text of a method; one that overrides another keeps the contract, and need not say it twice."""
    texts = [vars(base)[member].__doc__ for base in cls.__mro__ if member in vars(base)]
    return "\n".join(text or "" for text in texts)


def arguments(function: Callable[..., Any]) -> list[str]:
    """The arguments of a signature by name; the keywords that a client takes are those of the table of options."""
    try:
        signature = inspect.signature(function)
    except ValueError:
        return []
    if "_pytest.fixtures" in type(function).__module__:
        return []  # pytest gives a fixture its arguments
    if forms := typing.get_overloads(function):
        named = {name: None for form in forms for name in inspect.signature(form).parameters}
        return [name for name in named if name != "self"]
    names = [name for name in signature.parameters if name not in ("self", "cls") and not name.startswith("_")]
    return [name for name in names if not needs_no_text(signature.parameters[name])]


def needs_no_text(parameter: inspect.Parameter) -> bool:
    """Return whether a parameter needs no description.

    The options of a client are all in the constructor's text, which is written from the table. Positional arguments of
    the type `Never` are always refused.
    """
    if parameter.kind is parameter.VAR_POSITIONAL:
        return "Never" in str(parameter.annotation)
    return parameter.kind is parameter.VAR_KEYWORD and "Configs" in str(parameter.annotation)


def is_named(argument: str, text: str) -> bool:
    """Whether a text has the name of an argument as a word."""
    return re.search(rf"\b{re.escape(argument)}\b", text) is not None


def main() -> int:
    """See the module."""
    found = [line for module in names_pages.MODULES for line in [*unnamed(module), *members_without_text(module)]]
    print("\n".join(found) or "every argument is named")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
