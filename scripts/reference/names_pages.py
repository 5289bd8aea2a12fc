"""The pages of public names, one a module, as directives that Sphinx fills with the docstrings."""

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

OLD = {
    *("BrokerConnection", "HashedPartitioner", "KafkaClient", "KafkaConnection", "KeyedProducer", "Murmur2Partitioner"),
    *("MultiProcessConsumer", "RoundRobinPartitioner", "SimpleClient", "SimpleConsumer", "SimpleProducer"),
    *("LegacyPartitioner", "create_gzip_message", "create_message", "create_snappy_message"),
}
"""What only old programs use: `docs/MIGRATION.md` says what stands for it."""


def pages() -> dict[str, str]:
    """Every page by the name of its file, below the folder of names; `index.md` leads to all."""
    found = {f"{name}.md": _page(name, title) for name, title in MODULES.items()}
    rows = [f"| [`{name}`]({name}.md) | {title} |\n" for name, title in MODULES.items()]
    hidden = "".join(f"{name}\n" for name in MODULES)
    found["index.md"] = (
        "# Names\n\nEvery public name, from the docstrings. Types of arguments are in the signatures, units in the "
        "names (`_ms`, `_bytes`).\nOptions are in [OPTIONS.md](../OPTIONS.md), errors in [ERRORS.md](../ERRORS.md).\n\n"
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


def _page(name: str, title: str) -> str:
    module = importlib.import_module(name)
    parts = [f"# {title}\n\n`{name}`\n"]
    for each in public_names(module):
        kind = "autoclass" if inspect.isclass(getattr(module, each)) else "autofunction"
        members = "   :members:\n   :inherited-members: BaseException, dict, int, str, tuple, object\n" * (
            kind == "autoclass"
        )
        parts.append(f"\n## {each}\n\n```{{eval-rst}}\n.. {kind}:: {name}.{each}\n{members}```\n")
    return "".join(parts)
