"""The page of types that stand in the signatures of the reference, but that no public module offers.

`SIGNATURE_TYPES` of `subjects` lists them; `complaints` finds names in a built site's signatures that lead nowhere.
"""

from __future__ import annotations

import ast
import builtins
import collections.abc
import html
import importlib
import inspect
import itertools
import re
import typing
from collections.abc import Iterator
from pathlib import Path

from scripts.reference import subjects

SOURCES = Path(__file__).resolve().parents[2] / "src"
FOREIGN = frozenset(
    {
        *("AbstractEventLoop", "BytesIO", "Future", "Path", "PathLike", "Pattern", "Random", "TimerHandle"),
        *("UUID", "datetime", "timedelta"),
        *("BinaryArray", "DataType", "RecordBatch", "Schema", "Table"),  # pyarrow
        *("DataStreamWriter", "SparkSession", "StreamingQuery"),  # PySpark
        *("Config", "Figure", "FixtureRequest"),  # pytest, Matplotlib
        *("GaugeMetricFamily", "Meter", "Observation"),  # clients of Prometheus and OpenTelemetry
        *("C", "T", "Ts"),  # type variables, which stand for whatever the caller passes
    }
)
"""Types of Python's library and of other packages, by the names that signatures have for them."""
_KNOWN = FOREIGN | vars(builtins).keys() | set(typing.__all__) | set(collections.abc.__all__)
_SIGNATURE = re.compile(r'<dt class="sig sig-object[^>]* id="([^"]*)">(.*?)</dt>', re.DOTALL)
_LINKED = re.compile(r'<a class="reference.*?</a>', re.DOTALL)
_PARAMETER = re.compile(r'<em class="sig-param">(.*?)</em>', re.DOTALL)
_RETURNED = re.compile(r'<span class="sig-return-typehint">(.*)', re.DOTALL)
_ATTRIBUTE = re.compile(r'<span class="property"><span class="p"><span class="pre">(:.*)', re.DOTALL)
_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?![\w.])")


def text() -> str:
    """The page."""
    sections = "".join(
        f"\n## {subject}\n\n```{{eval-rst}}\n{''.join(_entry(path) for path in paths)}```\n"
        for subject, paths in subjects.SIGNATURE_TYPES.items()
    )
    return (
        "# Types in signatures\n\nSignatures name these types. Programs seldom import them: pass a value of one of the "
        "types that a definition lists, or use the object that a call returned.\n" + sections
    )


def path_of(name: str, module: str) -> str | None:
    """The path of the type that a name means in the signatures of a module; None if the page does not have it."""
    paths = [path for each in subjects.SIGNATURE_TYPES.values() for path in each if path.rpartition(".")[2] == name]
    is_of_aio = module.startswith("kafka.aio")
    return next((path for path in paths if path.startswith("kafka.aio.") is is_of_aio), paths[0] if paths else None)


def _entry(path: str) -> str:
    module, _, name = path.rpartition(".")
    value = getattr(importlib.import_module(module), name, None)
    if isinstance(value, type):
        made = "()" if path in subjects.RESULT_PATHS else ""
        members = "" if name in subjects.WITHOUT_MEMBERS else "   :members:\n"
        members += "   :special-members: __call__\n" if "__call__" in vars(value) else ""
        options = "\n   All options: :doc:`/OPTIONS`.\n" if name.endswith("Configs") else ""
        return f".. autoclass:: {path}{made}\n{members}{options}\n"
    definition, said = _alias(module, name)
    canonical = f"   :canonical: {definition}\n" if definition else ""
    return f".. py:type:: {name}\n   :module: {module}\n{canonical}\n   {said}\n\n"


def _alias(module: str, name: str) -> tuple[str, str]:
    """The definition of an alias and the text below it; type variables have no definition.

    Raises `ValueError` if it is not defined in the module or has no text.
    """
    file = SOURCES.joinpath(*module.split(".")).with_suffix(".py")
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        bodies = (getattr(node, each, None) for each in ("body", "orelse"))
        for each, after in (pair for body in bodies if isinstance(body, list) for pair in itertools.pairwise(body)):
            target = each.targets[0] if isinstance(each, ast.Assign) else getattr(each, "target", None)
            is_this = isinstance(target, ast.Name) and target.id == name
            if is_this and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                return _definition(each.value), " ".join(inspect.cleandoc(str(after.value.value)).split())
    raise ValueError(f"{module} has no type {name} with a text below it: the page of types needs one")


def _definition(value: ast.expr) -> str:
    if isinstance(value, ast.Call):
        return ""
    return str(value.value) if isinstance(value, ast.Constant) else ast.unparse(value)


def complaints(site: Path) -> Iterator[str]:
    """The names in the signatures of a built site that lead nowhere, a sentence each."""
    for page in sorted((site / "names").glob("*.html")):
        for anchor, signature in _SIGNATURE.findall(page.read_text(encoding="utf-8")):
            for name in sorted(unlinked(signature)):
                yield (
                    f"names/{page.name} has {name} in the signature of {anchor}, without a link to what it is: "
                    "add it to SIGNATURE_TYPES in scripts/reference/subjects.py"
                )


def unlinked(signature: str) -> set[str]:
    """The names of types in the HTML of a signature that are neither links nor well-known."""
    rest = _LINKED.sub("", signature)
    shown = [_plain(each).partition(":")[2] for each in _PARAMETER.findall(rest)]
    shown += [_plain(each) for each in [*_RETURNED.findall(rest), *_ATTRIBUTE.findall(rest)]]
    types = [re.sub(r"'[^']*'", "", each.partition(" = ")[0]) for each in shown]
    return {name for each in types for name in _NAME.findall(each)} - _KNOWN


def _plain(marked: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", "", marked)).replace("¶", "")
