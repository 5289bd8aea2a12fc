"""Advice for imports of names that do not exist, such as ``from kafka import Producer``.

`kafka._old_names.OldPaths`, the last finder, asks `advice` when a name of a public package is neither an attribute nor
a module. The names are read from the sources, so that nothing is imported for an error. To advise on a name of another
library: a row in `_OF_OTHERS`. This module is below all layers.
"""

from __future__ import annotations

import ast
import os

_PACKAGES = (
    "kafka",
    "kafka.admin",
    "kafka.aio",
    "kafka.broker",
    "kafka.config",
    "kafka.consumer",
    "kafka.errors",
    "kafka.filters",
    "kafka.notebook",
    "kafka.partitioner",
    "kafka.pipelines",
    "kafka.probes",
    "kafka.producer",
    "kafka.schema_registry",
    "kafka.serializer",
    "kafka.structs",
    "kafka.testing",
    "kafka.testing.containers",
)
"""The public modules that are searched for a name. Their order decides between modules that have the same name."""

_SETTINGS = "; kafka.config.from_librdkafka_names converts its settings"
_REGISTRY = "with a serializer of kafka.schema_registry"
_OF_OTHERS = {
    "AIOConsumer": "confluent-kafka's AIOConsumer is AsyncKafkaConsumer here" + _SETTINGS,
    "AIOProducer": "confluent-kafka's AIOProducer is AsyncKafkaProducer here" + _SETTINGS,
    "AdminClient": "confluent-kafka's AdminClient is KafkaAdminClient here" + _SETTINGS,
    "AvroConsumer": f"confluent-kafka's AvroConsumer is KafkaConsumer {_REGISTRY} here" + _SETTINGS,
    "AvroProducer": f"confluent-kafka's AvroProducer is KafkaProducer {_REGISTRY} here" + _SETTINGS,
    "Consumer": "confluent-kafka's Consumer is KafkaConsumer here" + _SETTINGS,
    "ConsumerRecord": "write: from kafka.consumer.fetcher import ConsumerRecord",
    "DeserializingConsumer": f"confluent-kafka's DeserializingConsumer is KafkaConsumer {_REGISTRY} here" + _SETTINGS,
    "KafkaException": "confluent-kafka's KafkaException is KafkaError here: from kafka.errors import KafkaError",
    "Message": "confluent-kafka's Message is ConsumerRecord here: consumers return it, from kafka.consumer.fetcher",
    "Producer": "confluent-kafka's Producer is KafkaProducer here" + _SETTINGS,
    "SerializingProducer": f"confluent-kafka's SerializingProducer is KafkaProducer {_REGISTRY} here" + _SETTINGS,
    "ShareConsumer": "confluent-kafka's ShareConsumer is KafkaShareConsumer here" + _SETTINGS,
}
"""Names of confluent-kafka, and others that no public module lists, with what to write instead."""


def advice(package: str, name: str) -> str:
    """Return what to import instead of a name that a module lacks; "" if no name is similar.

    Arguments:
        package: the module, such as "kafka".
        name: the name.
    """
    if package not in _PACKAGES or name.startswith("_"):
        return ""
    if name in _OF_OTHERS:
        return _OF_OTHERS[name]
    import difflib

    names = {module: public_names(module) for module in _PACKAGES}
    for module, known in names.items():
        if name in known and module != package:
            return f"write: from {module} import {name}"
    everyones = {each.lower(): (module, each) for module in reversed(_PACKAGES) for each in names[module]}
    own = {each.lower(): (package, each) for each in names[package]}
    for known_here in (own, everyones):
        if close := difflib.get_close_matches(name.lower(), known_here, n=1, cutoff=0.75):
            module, near = known_here[close[0]]
            return f"did you mean {near!r}? Write: from {module} import {near}"
    return ""


def public_names(module: str) -> list[str]:
    """Return the names in `__all__` of a module of this package, or else its public classes and functions.

    Arguments:
        module: the module; it is not imported.
    """
    path = os.path.join(os.path.dirname(__file__), *module.split(".")[1:])
    file = os.path.join(path, "__init__.py") if os.path.isdir(path) else f"{path}.py"
    try:
        with open(file, "rb") as source:
            tree = ast.parse(source.read())
    except (OSError, SyntaxError):  # an installation without sources
        return []
    found: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(
            isinstance(each, ast.Name) and each.id == "__all__" for each in node.targets
        ):
            return [
                each.value
                for each in ast.walk(node.value)
                if isinstance(each, ast.Constant) and isinstance(each.value, str)
            ]
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
            found.append(node.name)
    return found
