"""`docs/ERRORS.md`: every error, and what to do about it, from the tree in `kafka.errors`."""

from __future__ import annotations

import importlib
import re
from typing import Any

from kafka import errors

HEAD = """\
# Errors

All errors are subclasses of `KafkaError`, in `kafka.errors`. `python -m scripts.reference` generates this page
from that module. Catch the most specific error that you can handle. `error.retriable` is True if the same call may
succeed later. Clients retry such errors automatically, so if one reaches you, its cause has lasted for the whole
timeout. `error.remedy` says what to do. Both are columns of the tables.

**Producer.** A delivery error belongs to a record. `future.get()` and the future's callbacks report it. If the program
neither keeps nor checks the future, `flush()` or the end of the `with` block raises the error; without these calls, the
producer logs it.

**Consumer.** `poll()` and iteration raise errors. The position does not change; the next call continues there.

**Admin client.** A call raises its first error. With `raise_errors=False`, it returns an error for each item that
failed. Calls whose results are error classes (group offsets, deletions, ACLs, quotas) do not raise errors of single
items: check the result.
"""
CLIENTS = """
## What clients raise
The names are in `kafka.errors`.

| error | retriable | meaning | what to do |
|---|---|---|---|
"""
BROKERS = """
## What brokers return
The codes are those of Kafka's protocol.

| code | error | retriable | meaning | what to do |
|---:|---|---|---|---|
"""
VALUES = """
## Errors of values
These errors concern typed keys and values; see [FORMATS.md](FORMATS.md) and
[SCHEMA_REGISTRY.md](SCHEMA_REGISTRY.md). Those in `kafka.formats` are also `ValueError`s. For a record, clients
raise `RecordDeserializationError` (see above), with one of these as its `__cause__`.

| error | from | meaning | what to do |
|---|---|---|---|
"""
OF_VALUES = (
    ("kafka.schema_registry", "SchemaRegistryError"),
    ("kafka.schema_registry", "SchemaRegistryConnectionError"),
    ("kafka.serialization", "SerializationError"),
    ("kafka.formats", "AvroSchemaError"),
    ("kafka.formats", "AvroResolutionError"),
    ("kafka.formats", "AvroDecodeError"),
    ("kafka.formats", "AvroEncodeError"),
    ("kafka.formats", "JsonSchemaError"),
    ("kafka.formats", "JsonEncodeError"),
    ("kafka.formats", "ProtobufSchemaError"),
    ("kafka.formats", "ProtobufDecodeError"),
    ("kafka.formats", "ProtobufEncodeError"),
)
NAMES = """
## Other names
Names used by various kafka-python releases; each is the same class as the one after the colon.

"""


def text() -> str:
    """The page."""
    found = classes()
    ours = [cls for cls in found if getattr(cls, "errno", None) is None]
    coded = sorted((cls for cls in found if cls not in ours), key=lambda cls: getattr(cls, "errno", 0))
    plain = [f"| `{cls.__name__}` | {_flag(cls)} | {says(cls)} | {remedy(cls)} |\n" for cls in ours]
    answered = [
        f"| {getattr(cls, 'errno', '')} | `{cls.__name__}` | {_flag(cls)} | {says(cls)} | {remedy(cls)} |\n"
        for cls in coded
    ]
    others = sorted(name for name, value in vars(errors).items() if value in found and value.__name__ != name)
    same = [f"- `{name}`: `{getattr(errors, name).__name__}`\n" for name in others]
    of_values = [(module, getattr(importlib.import_module(module), name)) for module, name in OF_VALUES]
    values = [f"| `{cls.__name__}` | `{module}` | {says(cls)} | {remedy(cls)} |\n" for module, cls in of_values]
    return "".join([HEAD, CLIENTS, *plain, BROKERS, *answered, VALUES, *values, NAMES, *same])


def classes() -> list[type[errors.KafkaError]]:
    """Every error by the order in which it is declared."""
    declared = [
        each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, errors.KafkaError)
    ]
    return list(dict.fromkeys(declared))


def remedy(cls: Any) -> str:
    """Return the remedy of an error class, in which names of guides are links."""
    return re.sub(r"(?<!/)\b([A-Z_]+\.md)(#[\w-]+)?", r"[\1](\1\2)", cls.remedy)


def says(cls: type[Exception]) -> str:
    """What an error says, on one line of a table."""
    own = getattr(cls, "description", None)
    paragraph = own or (cls.__doc__ or "").partition("\n\n")[0]
    return " ".join(paragraph.replace("``", "`").replace("|", "\\|").split())


def _flag(cls: type[errors.KafkaError]) -> str:
    return "yes" if cls.retriable else ""
