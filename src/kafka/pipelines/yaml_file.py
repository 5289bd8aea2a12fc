"""Reads pipelines from YAML files, and reports the line of each problem."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any

import yaml

from kafka.pipelines.declaration import Declaration, InvalidDeclaration, Location, declare, path_text
from kafka.pipelines.field_types import kind_text

_INDENTATION = ": is the line indented like its neighbours, and is text with ': ' in quotes?"
"""Added to the parser's messages for wrong indentation, which name tokens."""


def load(path: str | Path) -> Declaration:
    """Read the declaration of a pipeline.

    Arguments:
        path: the YAML file, in UTF-8.

    Returns the declaration. Its relative paths (`checkpoint`, `schema_file`) start from the directory of the YAML
    file, and are made absolute.

    Raises an `InvalidDeclaration` whose message has a line for each problem. Each line contains the file, the line
    number, the key, what was expected, and what was found.
    """
    path = Path(path)
    return parse(text_of(path), str(path), path.absolute().parent)


def text_of(path: Path) -> str:
    """Return the content of a file in UTF-8. Raises `InvalidDeclaration` if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidDeclaration(f"{path}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise InvalidDeclaration(f"{path}: expected text in UTF-8, got another encoding ({error.reason})") from error


def read(path: str | Path) -> tuple[dict[str, Any], Callable[[Location], int]]:
    """Read a YAML file without checking its keys.

    Arguments:
        path: the YAML file, in UTF-8.

    Returns its content, and a function that returns the line of a location, or of the closest value that encloses it.
    Raises `InvalidDeclaration` for text that is not YAML, and for a key that occurs twice.
    """
    document = _Document(text_of(Path(path)), str(path))
    return document.content, document.line


def parse(text: str, name: str = "<text>", directory: Path | None = None) -> Declaration:
    """Create a declaration from YAML text, like `load`.

    Arguments:
        text: the content of the file.
        name: the name of the file in errors.
        directory: the directory that relative paths start from; None to leave them as they are.
    """
    document = _Document(text, name)
    return declare(document.content, document.place, directory)


MAX_VALUES = 20_000
"""Maximum number of values in a file. The values of an alias count each time: nested aliases are an error."""

_TAGS = (yaml.resolver.BaseResolver.DEFAULT_SEQUENCE_TAG, yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG)


class _Document:
    """The content of a YAML document, with the line of each value.

    Raises `InvalidDeclaration` for text that is not YAML, and for a key that occurs twice.
    """

    def __init__(self, text: str, name: str) -> None:
        self._name = name
        self._lines: dict[Location, int] = {}
        self._problems: list[str] = []
        loader = None
        try:
            loader = yaml.SafeLoader(text)
            root = loader.get_single_node()
            if not isinstance(root, yaml.MappingNode):
                raise InvalidDeclaration(f"{name}: expected keys and values, such as 'pipeline: NAME', got none")
            self._check_size(root)
            self._loader = loader
            self.content = self._value(root, (), ())
        except RecursionError:
            raise InvalidDeclaration(f"{name}: expected fewer levels, the file is nested too deeply") from None
        except yaml.MarkedYAMLError as error:
            line = f":{error.problem_mark.line + 1}" if error.problem_mark else ""
            problem = error.problem or error.context or ""
            hint = _INDENTATION if problem.startswith(("mapping values", "expected <block end>")) else ""
            raise InvalidDeclaration(f"{name}{line}: not YAML: {problem}{hint}") from error
        except yaml.YAMLError as error:
            raise InvalidDeclaration(f"{name}: not YAML: {' '.join(str(error).split())}") from error
        finally:
            if loader is not None:
                loader.dispose()
        if self._problems:
            raise InvalidDeclaration("\n".join(self._problems))

    def place(self, location: Location) -> str:
        """Return the file and line of a value, or of the closest value that encloses it."""
        return f"{self._name}:{self.line(location)}: "

    def line(self, location: Location) -> int:
        """Return the line of a value, or of the closest value that encloses it."""
        while location not in self._lines and location:
            location = location[:-1]
        return self._lines.get(location, 1)

    def _check_size(self, root: yaml.Node) -> None:
        """Raise `InvalidDeclaration` if the document has too many values after its aliases are replaced."""
        sizes: dict[yaml.Node, int] = {}

        def size(node: yaml.Node) -> int:
            if node not in sizes:
                sizes[node] = 0  # of a node that contains itself, which _value reports
                inner = node.value if isinstance(node, yaml.CollectionNode) else []
                parts = (part for each in inner for part in (each if isinstance(each, tuple) else (each,)))
                sizes[node] = 1 + sum(map(size, parts))
                if sizes[node] > MAX_VALUES:
                    raise InvalidDeclaration(
                        f"{self._name}:{node.start_mark.line + 1}: expected at most {MAX_VALUES} values, got more: "
                        "aliases repeat the values that they stand for"
                    )
            return sizes[node]

        size(root)

    def _value(self, node: yaml.Node, location: Location, around: tuple[yaml.Node, ...]) -> Any:
        self._lines.setdefault(location, node.start_mark.line + 1)
        if node in around:
            raise InvalidDeclaration(
                f"{self.place(location)}{path_text(location)}: contains itself: an alias in it stands for a value "
                "around it; write the value out"
            )
        if not isinstance(node, yaml.ScalarNode) and node.tag not in _TAGS:
            self._problems.append(f"{self.place(location)}{path_text(location)}: unknown tag {node.tag}")
            return None
        if isinstance(node, yaml.SequenceNode):
            return [self._value(each, (*location, i), (*around, node)) for i, each in enumerate(node.value)]
        if isinstance(node, yaml.MappingNode):
            self._loader.flatten_mapping(node)
            return self._mapping(node, location, (*around, node))
        try:
            return self._loader.construct_object(node)
        except ValueError as error:  # such as for 2024-02-30, which looks like a date
            self._problems.append(f"{self.place(location)}{path_text(location)}: not a valid value: {error}")
            return None

    def _mapping(self, node: yaml.MappingNode, location: Location, around: tuple[yaml.Node, ...]) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            key = self._loader.construct_object(key_node, deep=True)
            line = key_node.start_mark.line + 1
            if not isinstance(key, Hashable):
                self._problems.append(f"{self._name}:{line}: expected text as a key, got {kind_text(key)}")
                continue
            inner = (*location, str(key))
            if str(key) in found:
                self._problems.append(
                    f"{self._name}:{line}: {path_text(inner)}: this key is already on line {self._lines[inner]}"
                )
            self._lines[inner] = line
            found[str(key)] = self._value(value_node, inner, around)
        return found
