"""The layers of docs/DESIGN.md hold: an import points down the table there, or sideways inside its own package."""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Iterator, Mapping
from pathlib import Path

import pytest

from kafka.legacy.addresses import ADDRESSES, file_of, source_of

pytestmark = pytest.mark.once

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"
BASE = (
    "_addresses",
    "_compression",
    "_variant",
    "_cython",
    "_file_locks",
    "_imported_names",
    "_name_hints",
    "_loop_services",
    "_old_names",
    "version",
)
"""Below all layers."""
FACES = ("__main__", "aio", "pytest_plugin", "testing")
"""Above all layers."""
USES_BROKER = "kafka.pipelines.testing"
"""Within the layers, the package that imports the embedded broker: tests of pipelines run on it."""
BROKER_MAY_USE = {*BASE, "errors", "wire", "record", "formats", "broker"}
RESERVED = (
    "kafka.producer.buffer",
    "kafka.producer.record_accumulator",
    "kafka.producer.sender",
    "kafka.scram",
    "kafka.socks5_wrapper",
)
"""Import paths of kafka-python that are not served; no module may have such a name and be something else."""
OLD_PATHS = (*ADDRESSES, *RESERVED)
"""They may use `kafka.legacy`. Nothing imports them."""


def layer_table() -> list[list[str]]:
    """Read the table: one list of packages a layer, from the bottom."""
    rows = re.findall(r"^\| (\d+) \| (.*?) \|", (ROOT / "docs" / "DESIGN.md").read_text(), re.MULTILINE)
    assert [int(number) for number, _ in rows] == list(range(8)), "docs/DESIGN.md has lost its table of layers"
    return [[name.removesuffix("/").removesuffix(".py") for name in re.findall(r"`(.+?)`", cell)] for _, cell in rows]


def lazy_homes() -> dict[str, str]:
    """Read where `kafka.NAME` lives for the names that `kafka/__init__.py` loads when they are used."""
    for node in ast.walk(ast.parse((SOURCE / "kafka" / "__init__.py").read_text())):
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "_HOMES":
            homes: dict[str, str] = ast.literal_eval(node.value)
            return homes
    raise AssertionError("kafka/__init__.py has no _HOMES")


LAYERS = layer_table()
ORDER = {name: position for position, name in enumerate(name for layer in LAYERS for name in layer)}
LEGACY_MAY_USE = {"", *BASE, *(name for layer in LAYERS[:7] for name in layer)}
HOMES = lazy_homes()


def module_name(path: Path) -> str:
    """The dotted name of a file below src."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(tree: ast.AST, module: str, is_package: bool) -> Iterator[str]:
    """Every dotted name of the package that a file imports, wherever in the file it does so."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            home = node.module or ""
            if node.level:
                parent = module.split(".")[: len(module.split(".")) - node.level + is_package]
                home = ".".join([*parent, home]).rstrip(".")
            if home == "kafka":
                yield from (HOMES.get(alias.name, f"kafka.{alias.name}") for alias in node.names)
            else:
                yield home
                yield from (name for alias in node.names if is_old(name := f"{home}.{alias.name}"))
        elif isinstance(node, ast.Call) and "import_module" in ast.unparse(node.func):
            yield from (a.value for a in node.args[:1] if isinstance(a, ast.Constant) and isinstance(a.value, str))


def files_imported(tree: ast.AST, module: str, is_package: bool, files: Container[str]) -> set[str]:
    """The files of the package that a file imports, as dotted names."""
    found = set(imported(tree, module, is_package))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            submodules = {alias.name for alias in node.names if f"{node.module}.{alias.name}" in files}
            found |= {f"{node.module}.{name}" for name in submodules}
            if len(submodules) == len(node.names):
                found.discard(node.module)
    return {name for name in found if name in files} - {module}


def circles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """The ways through a graph that lead back to where they began, one of each group of nodes that reach each other."""
    done: set[str] = set()
    found: list[list[str]] = []

    def follow(node: str, way: list[str]) -> None:
        if node in way:
            found.append(way[way.index(node) :])
        elif node not in done:
            for following in sorted(graph.get(node, ())):
                follow(following, [*way, node])
            done.add(node)

    for start in sorted(graph):
        follow(start, [])
    return found


def is_old(name: str) -> bool:
    """Whether a module is of an old generation: an old path, or in `kafka.legacy`."""
    return any(name == old or name.startswith(f"{old}.") for old in (*OLD_PATHS, "kafka.legacy"))


def problem(module: str, target: str) -> str | None:
    """Say what is wrong with an import; None if nothing is."""
    if target != "kafka" and not target.startswith("kafka."):
        return None
    user, used = package_of(module), package_of(target)
    if module == "kafka._old_names" and target.startswith(("kafka.legacy.addresses", "kafka._name_hints")):
        return None  # a table, which imports nothing of the package
    if is_old(module):
        allowed = is_old(target) or used == user or used in LEGACY_MAY_USE
        return None if allowed else f"{module}, of an old generation, imports {target}"
    if is_old(target):
        return f"{module} imports {target}, of an old generation"
    if user in ("", used) or user in FACES or used in ("", *BASE):
        return None
    if user in BASE:
        return f"{module} stands below all layers and imports {target}"
    if user == "broker":
        return None if used in BROKER_MAY_USE else f"the embedded broker imports {target} (in {module})"
    if used == "broker":
        may = user == "cli" or module.startswith(USES_BROKER)
        return None if may else f"{module} imports the embedded broker"
    if user not in ORDER or used not in ORDER:
        return f"{user if user not in ORDER else used} is not in the table of layers (seen in {module})"
    return None if ORDER[used] < ORDER[user] else f"{module} imports upwards: {target}"


def package_of(module: str) -> str:
    """The package that a module belongs to, as the table of layers names it."""
    parts = module.split(".")[1:]
    inner = "/".join(parts[:2])
    return inner if inner in ORDER else parts[0] if parts else ""


SOURCES = sorted((SOURCE / "kafka").rglob("*.py"))
PACKAGES = {module_name(path) for path in SOURCES if path.name == "__init__.py"}
PACKAGES |= {path for path in ADDRESSES if file_of(path).endswith("__init__.py")}
CODE = {module_name(path): path.read_text() for path in SOURCES} | {path: source_of(path) for path in ADDRESSES}
"""The text of each module, the old import paths included."""


def test_every_import_points_down_the_table() -> None:
    problems = []
    for module, text in CODE.items():
        names = imported(ast.parse(text), module, module in PACKAGES)
        problems += sorted({found for name in names if (found := problem(module, name))})
    assert not problems, "\n".join(problems)


def test_no_file_imports_itself_by_way_of_others() -> None:
    """Wherever in a file an import stands, and also if it is for annotations alone."""
    graph = {
        module: files_imported(ast.parse(text), module, module in PACKAGES, CODE)
        for module, text in CODE.items()
        if module != "kafka"  # it loads each public name when that is first used
    }
    assert sum(map(len, graph.values())) > 2_000
    assert circles(graph) == []


def test_the_packages_of_the_producer_import_each_other_in_one_direction() -> None:
    graph: dict[str, set[str]] = {}
    for module, text in CODE.items():
        used = files_imported(ast.parse(text), module, module in PACKAGES, CODE)
        if package := inner_package(module):
            graph.setdefault(package, set()).update({inner_package(name) for name in used} - {"", package})
    assert graph.keys() >= {"appending", "batch", "delivery", "send", "transactions"}
    assert circles(graph) == []


def inner_package(module: str) -> str:
    """The package below `kafka.producer` that a file belongs to; empty for any other file."""
    _, _, inner = module.partition("kafka.producer.")
    return inner.partition(".")[0] if "." in inner or module in PACKAGES else ""


def test_a_circle_of_files_is_seen() -> None:
    code = {
        "kafka.a": "from kafka.b import f",
        "kafka.b": "def f():\n    from kafka import c",
        "kafka.c": "import kafka.d\nimport kafka.e",
        "kafka.d": "if TYPE_CHECKING:\n    import kafka.a",
        "kafka.e": "import kafka.f",
        "kafka.f": "",
    }
    graph = {name: files_imported(ast.parse(text), name, False, code) for name, text in code.items()}
    assert circles(graph) == [["kafka.a", "kafka.b", "kafka.c", "kafka.d"]]


def test_every_package_stands_in_the_table() -> None:
    found = {path.relative_to(SOURCE / "kafka").parts[0].removesuffix(".py") for path in SOURCES}
    assert (
        found - {*ORDER, *BASE, *FACES, "__init__", "broker", "legacy"} - {path.split(".")[1] for path in OLD_PATHS}
        == set()
    )


def test_no_old_path_is_a_file_or_a_folder() -> None:
    """A folder that an earlier version left there, with bytecode alone, hides the path: build again to remove it."""
    found = {module_name(path) for path in (SOURCE / "kafka").rglob("*") if path.is_dir() or path.suffix == ".py"}
    assert sorted(found & set(OLD_PATHS)) == []


@pytest.mark.parametrize(
    ("module", "code"),
    [
        ("kafka.wire.codec", "from kafka.record import Columns"),
        ("kafka.wire.codec", "def f():\n    import kafka.net.loop_thread"),
        ("kafka.errors", "from kafka import structs"),
        ("kafka.record.reader", "from ..cluster import cluster_client"),
        ("kafka.consumer.core", "from kafka import KafkaAdminClient"),
        ("kafka.broker.broker_server", "from kafka.net import Connection"),
        ("kafka.broker.registry.subject_queries", "from kafka.formats.registry.schema_objects import Schema"),
        ("kafka.formats.avro.column_decoder", "from kafka.formats.registry.schema_objects import Schema"),
        ("kafka.net.loop", "from kafka.formats.registry.registry_clients import SchemaRegistryClient"),
        ("kafka.net.loop", "import kafka.broker"),
        ("kafka._variant", "from kafka import errors"),
        ("kafka.net.loop_thread", "importlib.import_module('kafka.spark')"),
        ("kafka.wire.codec", "from kafka.invented import thing"),
        ("kafka.producer.core", "from kafka.legacy import anything"),
        ("kafka.producer.core", "from kafka.producer import simple"),
        ("kafka.consumer.core", "from .simple import SimpleConsumer"),
        ("kafka.cli.demo", "import kafka.common"),
        ("kafka", "from kafka.common import KafkaError"),
        ("kafka.legacy.simple", "from kafka.spark import anything"),
        ("kafka.producer.simple", "from kafka.broker import EmbeddedBroker"),
    ],
)
def test_an_import_upwards_is_seen(module: str, code: str) -> None:
    assert [name for name in imported(ast.parse(code), module, False) if problem(module, name)]


@pytest.mark.parametrize(
    ("module", "code"),
    [
        ("kafka.record.reader", "from kafka.wire.api import fetch"),
        ("kafka.record.reader", "from . import columns"),
        ("kafka.config.table", "from kafka.errors import KafkaConfigurationError"),
        ("kafka.cli.demo", "from kafka.broker import EmbeddedBroker"),
        ("kafka.broker.broker_server", "from kafka.wire import framing"),
        ("kafka.broker.registry.subject_queries", "from kafka.formats.avro import schema"),
        ("kafka.formats.registry.exchange", "from kafka.cluster.retry import RetryPolicy"),
        ("kafka.consumer.core", "import asyncio, kafka._variant"),
        ("kafka.producer.simple", "from kafka.legacy.simple import SimpleProducer"),
        ("kafka.legacy.simple", "from kafka import KafkaProducer"),
        ("kafka.legacy.simple", "from kafka.common import ProduceRequestPayload"),
    ],
)
def test_an_import_downwards_is_allowed(module: str, code: str) -> None:
    assert [name for name in imported(ast.parse(code), module, False) if problem(module, name)] == []
