"""The pages of public names, as directives that Sphinx fills with the docstrings.

Each module has a page, each class with many members has one of its own, and those of admin clients have two.
"""

from __future__ import annotations

import importlib
import inspect
from types import ModuleType

MODULES: dict[str, str] = {
    "kafka": "Clients and other top-level names",
    "kafka.structs": "Values: partitions, offsets, records",
    "kafka.admin": "Administration",
    "kafka.producer": "Results of producers",
    "kafka.consumer": "Consumers, listeners",
    "kafka.consumer._async.bounded_read": "Results of bounded reads",
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

OWN_PAGE = 20
"""A class with more public members than this has a page of its own."""
PART = 40
"""A class with more than one and a half times as many members has several pages, with at most this many on each."""
MODULE_PART = 18
"""A module with more names than this has several pages."""

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
    rows = [f"| [`{name}`]({name}.md) | {title} |\n" for name, title in MODULES.items()]
    hidden = "".join(f"{name}\n" for name in MODULES)
    found["index.md"] = (
        "# Names\n\nEvery public name, from the docstrings. Types of arguments are in the signatures, units in the "
        "names (`_ms`, `_bytes`).\n[Options](../OPTIONS.md) and [errors](../ERRORS.md) have pages of their own.\n\n"
        "| module | |\n|---|---|\n" + "".join(rows) + f"\n```{{toctree}}\n:hidden:\n\n{hidden}```\n"
    )
    return found


def public_names(module: ModuleType) -> list[str]:
    """The names of a module for which this is the page: what it offers, except old ones and those shown elsewhere."""
    listed = getattr(module, "__all__", None)
    if listed is None:
        listed = [
            name
            for name, value in vars(module).items()
            if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
        ]
    documented = (inspect.isclass, inspect.isroutine)
    return sorted(
        name
        for name in listed
        if name not in OLD
        and not name.startswith("_")
        and not (module.__name__ == "kafka.config" and name.endswith("Configs"))
        and any(check(getattr(module, name)) for check in documented)
        and shown_in(module, name) == module.__name__
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
    """The public members of a class that have a docstring, their own or inherited, sorted."""
    return [name for name in sorted(dir(cls)) if not name.startswith("_") and inspect.getdoc(getattr(cls, name, None))]


def _module_pages(name: str, title: str) -> dict[str, str]:
    module = importlib.import_module(name)
    parts: list[str] = []
    rows: list[str] = []
    found: dict[str, str] = {}
    for each in public_names(module):
        value = getattr(module, each)
        if inspect.isclass(value) and len(members(value)) > OWN_PAGE:
            own = _class_pages(f"{name}.{each}", each, members(value))
            rows.append(f"- [`{each}`]({name}.{each}.md)\n")
            found |= own
        else:
            parts.append(f"\n## {each}\n{_directive(f'{name}.{each}', inspect.isclass(value))}")
    for number, start in enumerate(range(MODULE_PART, len(parts), MODULE_PART), 2):
        rows.append(f"- [More names]({name}-{number}.md)\n")
        found[f"{name}-{number}.md"] = f"# {title}, part {number}\n" + "".join(parts[start : start + MODULE_PART])
    lead = ""
    if rows:
        hidden = "".join(f"{file.removesuffix('.md')}\n" for file in found)
        lead = "\n" + "".join(rows) + f"\n```{{toctree}}\n:hidden:\n\n{hidden}```\n"
    return {f"{name}.md": f"# {title}\n\n`{name}`\n{lead}" + "".join(parts[:MODULE_PART]), **found}


def _class_pages(path: str, title: str, names: list[str]) -> dict[str, str]:
    """The pages of a class with many members: its own, and more for the members that are too many for that."""
    if len(names) <= PART * 1.5:
        return {f"{path}.md": f"# {title}\n{_directive(path, True)}"}
    parts = [names[start : start + PART] for start in range(0, len(names), PART)]
    found: dict[str, str] = {}
    for number, part in enumerate(parts, 1):
        span = f"{part[0]} to {part[-1]}"
        if number == 1:
            others = "".join(f"- [{each[0]} to {each[-1]}]({path}-{n}.md)\n" for n, each in enumerate(parts[1:], 2))
            body = f"\nThis page has the methods from {span}; the others:\n\n{others}{_directive(path, True, part)}"
            found[f"{path}.md"] = f"# {title}\n{body}"
        else:
            lines = "".join(f".. automethod:: {path}.{each}\n" for each in part)
            found[f"{path}-{number}.md"] = f"# {title}: {span}\n\n```{{eval-rst}}\n{lines}```\n"
    return found


def _directive(path: str, is_class: bool, only: list[str] | None = None) -> str:
    kind = "autoclass" if is_class else "autofunction"
    options = ""
    if only:
        options = f"   :members: {', '.join(only)}\n"
    elif is_class:
        options = "   :members:\n   :inherited-members: BaseException, dict, int, str, tuple, object\n"
    return f"\n```{{eval-rst}}\n.. {kind}:: {path}\n{options}```\n"
