"""`docs/ERRORS.md`: every error, and what to do about it, from the tree in `kafka.errors`."""

from __future__ import annotations

import importlib

from scripts.reference.remedies import REMEDIES

from kafka import errors

HEAD = """\
# Errors

All errors are subclasses of `KafkaError`, in `kafka.errors`. `python -m scripts.reference` generates this page
from that module. Catch the most specific error you can handle. `error.retriable` tells whether the same call may
succeed later. Clients retry such errors automatically, so an error that reaches you has persisted, or is not
retriable.

A producer reports errors for each record: through `future.get()`, the future's callbacks, `flush()` and the end
of the `with` block, or in the log if the error is not checked. A consumer raises errors from `poll()` and from
iteration, without changing the position; the next call continues there. An admin call raises the first error, or
with `raise_errors=False` returns an error for each item. Calls whose results are error classes (group offsets,
deletions, ACLs, quotas) do not raise errors for single items: check the result.

*R*: retriable.
"""
CLIENTS = """
## What clients raise
| error | | meaning | what to do |
|---|---|---|---|
"""
BROKERS = """
## What brokers return
| code | error | | meaning | what to do |
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
    ("kafka.schema_registry", "SchemaRegistryError", "Check its `error_code` (Confluent's) and `http_status_code`."),
    ("kafka.schema_registry", "SchemaRegistryConnectionError", "Check `url`, `timeout`, and that the registry runs."),
    ("kafka.serialization", "SerializationError", "Check the schema id and the path of the field in the message."),
    ("kafka.formats", "AvroSchemaError", "Correct the schema at the position that the message names."),
    ("kafka.formats", "AvroResolutionError", "Read with a compatible schema, or with the writer's schema."),
    ("kafka.formats", "AvroDecodeError", "Find out which program wrote these bytes, and with which schema."),
    ("kafka.formats", "AvroEncodeError", "Correct the value of the field that the message names."),
    ("kafka.formats", "JsonSchemaError", "Correct the schema at the position that the message names."),
    ("kafka.formats", "JsonEncodeError", "Correct the value of the row and field that the message names."),
    ("kafka.formats", "ProtobufSchemaError", "Correct the schema, or pass its imports as references."),
    ("kafka.formats", "ProtobufDecodeError", "Find out which program wrote these bytes, and as which message."),
    ("kafka.formats", "ProtobufEncodeError", "Correct the value of the row and field that the message names."),
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
    values = [
        f"| `{name}` | `{module}` | {says(getattr(importlib.import_module(module), name))} | {remedy} |\n"
        for module, name, remedy in OF_VALUES
    ]
    return "".join([HEAD, CLIENTS, *plain, BROKERS, *answered, VALUES, *values, NAMES, *same])


def classes() -> list[type[errors.KafkaError]]:
    """Every error by the order in which it is declared."""
    declared = [
        each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, errors.KafkaError)
    ]
    return list(dict.fromkeys(declared))


def remedy(cls: type[errors.KafkaError]) -> str:
    """What to do about an error: its own sentence, or that of the nearest base class that has one."""
    return next(REMEDIES[base.__name__] for base in cls.__mro__ if base.__name__ in REMEDIES)


def says(cls: type[Exception]) -> str:
    """What an error says, on one line of a table."""
    own = getattr(cls, "description", None)
    paragraph = own or (cls.__doc__ or "").partition("\n\n")[0]
    return " ".join(paragraph.replace("``", "`").replace("|", "\\|").split())


def _flag(cls: type[errors.KafkaError]) -> str:
    return "R" if cls.retriable else ""
