"""The pages of public names, as directives that Sphinx fills with the docstrings.

A module's page starts with a table of its names. A class with many methods has a page of its own, with a table of its
methods by subject; the methods follow, or are on a page for each subject if there are many. Subjects and the guides
that each page names are in `subjects`, how docstrings become text in `scripts/site/reference_texts.py`.
"""

from __future__ import annotations

import ast
import enum
import functools
import importlib
import inspect
import itertools
import re
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from scripts.reference import subjects

MODULES: dict[str, str] = {
    "kafka": "Clients and other top-level names",
    "kafka.structs": "Values: partitions, offsets, records",
    "kafka.admin": "Administration",
    "kafka.producer": "Results of producers",
    "kafka.consumer": "Records, results of reads, listeners",
    "kafka.serializer": "Serializers",
    "kafka.formats": "Value formats",
    "kafka.schema_registry": "Schema registry clients",
    "kafka.schema_registry.avro": "Avro serializers",
    "kafka.schema_registry.json_schema": "JSON serializers",
    "kafka.schema_registry.protobuf": "Protobuf serializers",
    "kafka.serialization": "confluent-kafka's serializers for plain values",
    "kafka.partitioner": "Partitioners",
    "kafka.interceptor": "Interceptors",
    "kafka.coordinator.assignors.abstract": "Assignors",
    "kafka.record": "Batches of records, columns, codecs",
    "kafka.config": "Options as objects",
    "kafka.health": "Health",
    "kafka.metrics": "Metrics",
    "kafka.metrics.prometheus": "Metrics for Prometheus",
    "kafka.metrics.opentelemetry": "Metrics for OpenTelemetry",
    "kafka.broker": "The embedded broker",
    "kafka.broker.faults": "Faults of the embedded broker",
    "kafka.pytest_plugin": "Fixtures for pytest",
    "kafka.spark": "Spark",
    "kafka.aio": "aiokafka's names",
    "kafka.testing": "Simulations",
}
"""Public modules, and what they are about. Errors and options have pages of their own."""

SOURCES = Path(__file__).resolve().parents[2] / "src"
OWN_PAGE = 18
"""A class with more public members than this has a page of its own."""
SPLIT = 24
"""A class with more public members than this has a page for each subject."""
MODULE_SPLIT = 18
"""A module with subjects and with more names than this has a page for each subject."""
MOST_LISTED = 5
"""How many names of a module the table of modules has."""
RESULTS_PAGE = "results"
"""The end of the names of the pages about what calls return."""
OLD = {
    *("BrokerConnection", "HashedPartitioner", "KafkaClient", "KafkaConnection", "KeyedProducer", "Murmur2Partitioner"),
    *("MultiProcessConsumer", "RoundRobinPartitioner", "SimpleClient", "SimpleConsumer", "SimpleProducer"),
    *("LegacyPartitioner", "create_gzip_message", "create_message", "create_snappy_message"),
}
"""What only old programs use: `docs/MIGRATION.md` says what stands for it."""


def pages() -> dict[str, str]:
    """Every page by the name of its file, below the folder of names; `index.md` leads to all."""
    found: dict[str, str] = {}
    for name, title in MODULES.items():
        found |= _module_pages(name, title)
    rows = [f"| [`{name}`]({name}.md) | {title}: {_listed(name)} |\n" for name, title in MODULES.items()]
    found["index.md"] = (
        "# Names\n\nEvery public name, with its docstring. Signatures show the types and defaults of arguments. The "
        "names of arguments end in their units: `_ms` in milliseconds, `_s` in seconds, `_bytes` in bytes.\n"
        "[Options](../OPTIONS.md) and [errors](../ERRORS.md) have pages of their own.\n\n"
        "| module | |\n|---|---|\n" + "".join(rows) + "\n[Types in signatures](types.md) describes the types that "
        "signatures name and that these modules do not offer.\n" + _contents([*MODULES, "types"])
    )
    return {file: _with_python(text) for file, text in found.items()}


def _with_python(text: str) -> str:
    """A page whose examples are Python; the directive applies to what follows it, so it comes after the title."""
    title, _, rest = text.partition("\n")
    return title + "\n" + _rst(".. highlight:: python\n") + rest


def public_names(module: ModuleType) -> list[str]:
    """The names of a module for which this is the page: what it offers, except old ones and those shown elsewhere."""
    return [name for name in offered(module) if shown_in(module, name) == module.__name__]


def offered(module: ModuleType) -> list[str]:
    """The classes and functions that a module offers, except old ones, sorted."""
    listed = getattr(module, "__all__", None)
    if listed is None:
        listed = [
            name
            for name, value in vars(module).items()
            if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
        ]
    return sorted(
        name
        for name in listed
        if name not in OLD
        and not name.startswith("_")
        and not (module.__name__ == "kafka.config" and name.endswith("Configs"))
        and (inspect.isclass(value := getattr(module, name)) or inspect.isroutine(value))
    )


def shown_in(module: ModuleType, name: str) -> str:
    """The module on whose page a name is: of those that offer the same object, the first."""
    value = getattr(module, name)
    for other in MODULES:
        loaded = importlib.import_module(other)
        if name in getattr(loaded, "__all__", vars(loaded)) and getattr(loaded, name, None) is value:
            return other
    return module.__name__


def members(cls: type) -> list[str]:
    """The public members of a class that have a docstring and come from this package, sorted."""
    return [name for name in sorted(dir(cls)) if not name.startswith("_") and docstring(cls, name)]


def docstring(owner: Any, name: str) -> str:
    """The docstring of a name of a module or a class; empty for what others define, and for values without one."""
    value = getattr(owner, name)
    if inspect.ismodule(owner):
        return inspect.getdoc(value) or ""
    definer = next((base for base in owner.__mro__ if name in vars(base)), object)
    if not definer.__module__.startswith("kafka"):
        return ""
    static = vars(definer)[name]
    if callable(value) or isinstance(static, property) or inspect.ismethoddescriptor(static):
        found = inspect.getdoc(value) or ""
        return "" if found.startswith("Alias for field number") else found
    return _attribute_texts(definer.__module__).get((definer.__name__, name), "")


@functools.cache
def _attribute_texts(module: str) -> dict[tuple[str, str], str]:
    """The texts below the attributes of a module's classes, by class and name."""
    found: dict[tuple[str, str], str] = {}
    file = SOURCES.joinpath(*module.split("."))
    file = file / "__init__.py" if file.is_dir() else file.with_suffix(".py")  # compiled modules have no source
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        for each, after in itertools.pairwise(node.body) if isinstance(node, ast.ClassDef) else ():
            text = after.value if isinstance(after, ast.Expr) else None
            target = each.target if isinstance(each, ast.AnnAssign) else None
            if isinstance(node, ast.ClassDef) and isinstance(target, ast.Name) and isinstance(text, ast.Constant):
                found[node.name, target.id] = inspect.cleandoc(str(text.value))
    return found


def summary(docstring: str) -> str:
    """The first sentence of a docstring, on one line and without the full stop."""
    paragraph = " ".join(docstring.partition("\n\n")[0].split())
    for end in re.finditer(r"[.:](?= |$)", paragraph):
        before = paragraph[: end.start()]
        is_whole = before.count("`") % 2 == 0 and before.count("(") == before.count(")")
        if is_whole and not paragraph[: end.end()].endswith(("e.g.", "i.e.")):
            return before
    return paragraph


def _module_pages(name: str, title: str) -> dict[str, str]:
    module = importlib.import_module(name)
    names = public_names(module)
    own = [each for each in names if _has_own_page(getattr(module, each))]
    here = [each for each in names if each not in own]
    found: dict[str, str] = {}
    for each in own:
        found |= _class_pages(f"{name}.{each}", each, getattr(module, each))
    lead = f"# {title}\n\n`import {name}`\n{_guides(name)}"
    if elsewhere := [each for each in offered(module) if each not in names]:
        links = ", ".join(f":py:obj:`~{shown_in(module, each)}.{each}`" for each in elsewhere)
        lead += _rst(f"The module also offers {links}.\n")
    if own:
        lead += _table(name, module, own)
    by_subject = subjects.of_names(name, here)
    is_split = bool(by_subject) and len(here) > MODULE_SPLIT
    if is_split:
        for subject, listed in by_subject.items():
            file = f"{name}-{_slug(subject)}"
            lead += f"\n## {subject}\n{_marks(name, file, listed)}{_table(name, module, listed)}"
            found[f"{file}.md"] = f"# {name}: {_inside(subject)}\n{_described(name, module, listed)}"
    elif len(here) > 1:
        lead += _table(name, module, here)
    if name in subjects.RESULTS:
        tables, found[f"{name}-{RESULTS_PAGE}.md"] = _results(name)
        lead += tables
    described = "" if is_split else _described(name, module, here)
    return {f"{name}.md": lead + _contents(file.removesuffix(".md") for file in found) + described, **found}


def _described(path: str, module: ModuleType, names: Iterable[str]) -> str:
    return "".join(f"\n## {each}\n{_directive(f'{path}.{each}', getattr(module, each))}" for each in names)


def _results(name: str) -> tuple[str, str]:
    """The tables of what a module's calls return, and the page that describes it."""
    tables, page = "\n## What calls return\n", f"# {name}: what calls return\n\nPrograms do not create these objects.\n"
    rows = ""
    for home, listed in subjects.RESULTS[name].items():
        module = importlib.import_module(home)
        rows += _rows(home, module, listed.split())
        page += _described(home, module, listed.split())
    return tables + _table_of(rows), page


def _has_own_page(value: Any) -> bool:
    return inspect.isclass(value) and len(members(value)) > OWN_PAGE


def _class_pages(path: str, title: str, cls: type) -> dict[str, str]:
    """The pages of a class with many members: its own, and one for each subject if they are too many for that."""
    names = members(cls)
    by_subject = subjects.of_admin(cls, names) if "AdminClient" in title else subjects.of_names(title, names)
    own = f"# {title}\n{_guides(title)}" + _rst(f".. autoclass:: {path}\n")
    if not by_subject:
        return {f"{path}.md": f"# {title}\n{_guides(title)}{_directive(path, cls)}"}
    found: dict[str, str] = {}
    split = len(names) > SPLIT
    for subject, listed in by_subject.items():
        methods = _rst("".join(_member(f"{path}.{each}", cls, each) for each in listed))
        file = f"{path}-{_slug(subject)}"
        marks = _marks(path, file, listed) if split else ""
        own += f"\n## {subject}\n{marks}{_table(path, cls, listed)}"
        if split:
            others = _others(path, title, [each for each in by_subject if each != subject])
            found[f"{file}.md"] = f"# {title}: {_inside(subject)}\n\n{others}\n{methods}"
        else:
            own += methods
    return {f"{path}.md": own + _contents(file.removesuffix(".md") for file in found), **found}


def _others(path: str, title: str, others: Iterable[str]) -> str:
    """The line of a subject's page that leads to the class and to its other subjects."""
    links = ", ".join(f"[{_inside(each)}](<{path}-{_slug(each)}.md>)" for each in others)
    return f"Other methods of [{title}](<{path}.md>): {links}."


def _directive(path: str, value: Any) -> str:
    if not inspect.isclass(value):
        return _rst(f".. autofunction:: {path}\n")
    if issubclass(value, enum.Enum):
        return _rst(f".. autoclass:: {path}\n   :members:\n   :undoc-members:\n   :member-order: bysource\n")
    signature = "()" if path in subjects.RESULT_PATHS else ""
    inherited = ", ".join(_foreign_bases(value))
    return _rst(f".. autoclass:: {path}{signature}\n   :members:\n   :inherited-members: {inherited}\n")


def _foreign_bases(cls: type) -> list[str]:
    """The base classes from Python and other packages, such as `list`: what they define is not repeated.

    Protocols are left out, because Sphinx fails to compare them with the members of a class.
    """
    foreign = [base for base in cls.__mro__ if not base.__module__.startswith("kafka")]
    return [base.__name__ for base in foreign if not getattr(base, "_is_protocol", False)]


def _member(path: str, cls: type, name: str) -> str:
    value = inspect.getattr_static(cls, name)
    kind = "property" if isinstance(value, property) else "method" if callable(getattr(cls, name)) else "attribute"
    return f".. auto{kind}:: {path}\n"


def _table(path: str, owner: Any, names: Iterable[str]) -> str:
    """A table of names, each a link to where it is described, with the first sentence of that."""
    return _table_of(_rows(path, owner, names))


def _rows(path: str, owner: Any, names: Iterable[str]) -> str:
    names = [*names]
    if inspect.ismodule(owner):
        names.sort(key=lambda name: (name.removeprefix("Async"), name.startswith("Async")))
    return "".join(f"   * - :py:obj:`~{path}.{each}`\n     - {summary(docstring(owner, each))}\n" for each in names)


def _table_of(rows: str) -> str:
    return _rst(f".. list-table::\n   :class: names\n   :widths: 30 70\n\n{rows}")


def _marks(path: str, file: str, names: Iterable[str]) -> str:
    """The anchors of names that are on another page, where `docs/_static/site.js` leads to them."""
    spans = (f'<span id="{path}.{each}" data-page="{file}.html#{path}.{each}"></span>' for each in names)
    return _rst(f".. raw:: html\n\n   <div>{''.join(spans)}</div>\n")


def _guides(key: str) -> str:
    links = ", ".join(f"[](<../{page}.md>)" for page in subjects.GUIDES.get(key, ()))
    return f"\nGuides: {links}.\n" if links else ""


def _listed(module: str) -> str:
    """The first names of a module, for the table of modules."""
    loaded = importlib.import_module(module)
    names = public_names(loaded)
    names.sort(key=lambda name: (not _has_own_page(getattr(loaded, name)), name.startswith("Async"), name))
    return ", ".join(f"`{each}`" for each in names[:MOST_LISTED]) + (", ..." if len(names) > MOST_LISTED else "")


def _contents(files: Iterable[str]) -> str:
    hidden = "".join(f"{file}\n" for file in files)
    return f"\n```{{toctree}}\n:hidden:\n\n{hidden}```\n" if hidden else ""


def _inside(subject: str) -> str:
    """A subject behind a colon."""
    return subject if re.match(r"[A-Z]{2}", subject) else subject[0].lower() + subject[1:]


def _slug(subject: str) -> str:
    return "-".join(re.findall(r"[a-z]+", subject.lower()))


def _rst(text: str) -> str:
    return f"\n```{{eval-rst}}\n{text}```\n"
