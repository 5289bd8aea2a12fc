"""`docs/ERRORS.md`: every error, and what to do about it, from the tree in `kafka.errors`."""

from __future__ import annotations

import importlib

from scripts.reference.remedies import REMEDIES

from kafka import errors

HEAD = """\
# Errors

All errors are below `KafkaError`, in `kafka.errors`. Written by `python -m scripts.reference` from that module.
Catch the narrowest that you can do something about; `error.retriable` tells whether the same call may succeed
later. Clients retry such errors by themselves, so what reaches you has outlasted that, or is not retriable.

A producer's errors come with the record: `future.get()`, the future's callbacks, `flush()` and the end of the
`with`, or the log if nobody looks. A consumer's come from `poll()` and from iteration, which leave the position
where it was; the next call goes on. An admin call raises the first error, or with `raise_errors=False` gives each
thing its own. Those whose results are error classes (groups' offsets, deletions, ACLs, quotas) raise none for a
single thing: look at the result.

*R*: retriable.
"""
CLIENTS = """
## What clients raise
| error | | what it says | what to do |
|---|---|---|---|
"""
BROKERS = """
## What brokers answer
| code | error | | what it says | what to do |
|---:|---|---|---|---|
"""
VALUES = """
## Errors of values
Of typed keys and values, see [FORMATS.md](FORMATS.md) and [SCHEMA_REGISTRY.md](SCHEMA_REGISTRY.md). Those of
`kafka.formats` are each a `ValueError`. Clients raise `RecordDeserializationError`, see above, for a record, with one
of these as its `__cause__`.

| error | from | what it says | what to do |
|---|---|---|---|
"""
OF_VALUES = (
    ("kafka.schema_registry", "SchemaRegistryError", "Its `error_code` is Confluent's, `http_status_code` HTTP's."),
    ("kafka.schema_registry", "SchemaRegistryConnectionError", "Look at `url`, `timeout`, and whether it runs."),
    ("kafka.serialization", "SerializationError", "Look at the schema id and the path of the field in its text."),
    ("kafka.formats", "AvroSchemaError", "Correct the schema at the place that the text names."),
    ("kafka.formats", "AvroResolutionError", "Read with a compatible schema, or with that of the writer."),
    ("kafka.formats", "AvroDecodeError", "Look who wrote these bytes, and with which schema."),
    ("kafka.formats", "AvroEncodeError", "Correct the value of the field that the text names."),
    ("kafka.formats", "JsonSchemaError", "Correct the schema at the place that the text names."),
    ("kafka.formats", "JsonEncodeError", "Correct the value of the row and field that the text names."),
    ("kafka.formats", "ProtobufSchemaError", "Correct the schema, or give what it imports as references."),
    ("kafka.formats", "ProtobufDecodeError", "Look who wrote these bytes, and as which message."),
    ("kafka.formats", "ProtobufEncodeError", "Correct the value of the row and field that the text names."),
)
NAMES = """
## Other names
Generations of kafka-python called these otherwise; each is the same class.

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
