"""`docs/ERRORS.md`: every error, and what to do about it, from the tree in `kafka.errors`."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from typing import Any

from kafka import errors

HEAD = """\
# Errors

All errors are subclasses of `KafkaError`, in `kafka.errors`. Catch the most specific error that you can handle.

- `error.retriable` is True if the same call may succeed later. Clients retry such errors automatically, so if one
  reaches you, its cause has lasted for the whole timeout.
- `error.remedy` says what to do.

The tables have a column for each.

| client | how it reports errors |
|---|---|
| producer | A delivery error belongs to a record: `future.get()` and the future's callbacks report it. \
If the program neither keeps nor checks the future, `flush()` or the end of the `with` block raises the error. Without \
these calls, the producer logs it. |
| consumer | `poll()` and iteration raise errors. The position does not change; the next call continues there. |
| admin client | A call raises its first error. With `raise_errors=False`, it returns an error for each item that \
failed. Some calls return error classes as results (group offsets, deletions, ACLs, quotas). These calls do not raise \
errors of single items: check the result. |
"""
CLIENTS = """
## What clients raise
The names are in `kafka.errors`.

| error | retriable | meaning | what to do |
|---|---|---|---|
"""
BROKERS = """
## What brokers return
These errors have the codes of Kafka's protocol. Their messages begin with code and name, such as
`[Error 3] UnknownTopicOrPartitionError`. There is a table for each topic.
"""
BROKER_TABLE = """
### {topic}
| error | code | retriable | meaning | what to do |
|---|---:|---|---|---|
"""
GROUPS_CODES = (12, 14, 15, 16, *range(22, 29), 68, 69, 79, 81, 82, 86, 88, *range(110, 114), 128, *range(130, 133))
TRANSACTIONS_CODES = (*range(45, 53), 59, 90, 105, 120)
SECURITY_CODES = (*range(29, 32), 33, 34, 53, 54, 58, *range(61, 68), 93, 97)
SHARE_CODES = (*range(121, 125), 133)
CLUSTER_CODES = (8, 11, 41, 77, *range(94, 97), 98, 99, 101, 102, 104, *range(114, 120), *range(125, 128), 129)
ADMIN_CODES = (*range(36, 41), 44, 55, 57, 60, 73, 80, *range(83, 86), 89, 91, 92, 107, 108)
TOPICS = {
    "Reading and writing": (),
    "Groups and offsets": GROUPS_CODES,
    "Transactions and idempotence": TRANSACTIONS_CODES,
    "Share groups": SHARE_CODES,
    "Security": SECURITY_CODES,
    "Topics, configs and quotas": ADMIN_CODES,
    "The cluster itself": CLUSTER_CODES,
}
"""By title of a table: the codes in it. The first table has the codes that are in no other, such as new ones."""
VALUES = """
## Errors of values
These errors concern typed keys and values; see [FORMATS.md](FORMATS.md) and
[SCHEMA_REGISTRY.md](SCHEMA_REGISTRY.md). Those in `kafka.formats` are also `ValueError`s. For a record, clients
raise [`RecordDeserializationError`](#what-clients-raise), with one of these as its `__cause__`.

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
    others = sorted(name for name, value in vars(errors).items() if value in found and value.__name__ != name)
    same = [f"- `{name}`: `{getattr(errors, name).__name__}`\n" for name in others]
    of_values = [(module, getattr(importlib.import_module(module), name)) for module, name in OF_VALUES]
    values = [f"| `{cls.__name__}` | `{module}` | {says(cls)} | {remedy(cls)} |\n" for module, cls in of_values]
    return "".join([HEAD, CLIENTS, *plain, BROKERS, *_answered(coded), VALUES, *values, NAMES, *same])


def _answered(coded: list[type[errors.KafkaError]]) -> Iterator[str]:
    """The tables of errors that brokers return, by topic, from errors in the order of their codes."""
    topics = {code: topic for topic, codes in TOPICS.items() for code in codes}
    for topic in TOPICS:
        yield BROKER_TABLE.format(topic=topic)
        for cls in coded:
            code = getattr(cls, "errno", 0)
            if topics.get(code, next(iter(TOPICS))) == topic:
                yield f"| `{cls.__name__}` | {code} | {_flag(cls)} | {says(cls)} | {remedy(cls)} |\n"


def classes() -> list[type[errors.KafkaError]]:
    """Every error by the order in which it is declared."""
    declared = [
        each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, errors.KafkaError)
    ]
    return list(dict.fromkeys(declared))


def remedy(cls: Any) -> str:
    """Return the remedy of an error class, in which names of guides are links."""
    return re.sub(r"`?(?:docs/)?\b([A-Z_]+\.md)(#[\w-]+)?`?", r"[\1](\1\2)", cls.remedy)


def says(cls: type[Exception]) -> str:
    """What an error says, on one line of a table."""
    own = getattr(cls, "description", None)
    paragraph = own or (cls.__doc__ or "").partition("\n\n")[0]
    return " ".join(paragraph.replace("``", "`").replace("|", "\\|").split())


def _flag(cls: type[errors.KafkaError]) -> str:
    return "yes" if cls.retriable else ""
