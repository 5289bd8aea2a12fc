"""Write the synchronous twin of each asyncio module that has one.

A step of a client is written once, as asyncio code. Its synchronous twin is the same text without `async` and `await`
and with the names of the table below exchanged; what really differs, how a wait is done, is behind those names. Both
files are in the tree, so that readers, type checkers and tracebacks see ordinary Python.

    python scripts/twins.py            write the twins
    python scripts/twins.py --check    exit 1, and name them, where a twin is not what would be written
"""

from __future__ import annotations

import argparse
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "kafka"

EVERYWHERE: dict[str, str] = {
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
    "__aiter__": "__iter__",
    "__anext__": "__next__",
    "AsyncIterator": "Iterator",
    "AsyncGenerator": "Generator",
    "StopAsyncIteration": "StopIteration",
    "aclose": "close",
    "aclosing": "closing",
    "anext": "next",
}
"""Names that are exchanged in every twin."""


@dataclass(frozen=True)
class Twin:
    """A pair of modules.

    Arguments:
        source: the asyncio module, below `src/kafka`.
        target: the synchronous one.
        names: identifiers, and whole words in texts, that are exchanged besides `EVERYWHERE`.
    """

    source: str
    target: str
    names: Mapping[str, str] = field(default_factory=dict)


_ADMIN = SOURCE / "admin" / "_async"
_ADMIN_NAMES = {
    "AsyncKafkaAdminClient": "KafkaAdminClient",
    "_async": "_sync",
    **{
        name: name.removeprefix("Async")
        for path in _ADMIN.glob("*.py")
        for name in re.findall(r"^class (Async\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    },
}
"""Every module of `_ADMIN` has a twin, and every class there loses its prefix."""

_REGISTRY = (
    "association_calls",
    "column_calls",
    "references",
    "requests",
    "schema_calls",
    "setting_calls",
)
_REGISTRY_NAMES = {
    "AsyncAssociationCalls": "AssociationCalls",
    "AsyncColumnCalls": "ColumnCalls",
    "AsyncNamedSchemas": "NamedSchemas",
    "AsyncRegistryReader": "RegistryReader",
    "AsyncRegistryRequests": "RegistryRequests",
    "AsyncSchemaCalls": "SchemaCalls",
    "AsyncSchemaRegistryClient": "SchemaRegistryClient",
    "AsyncSettingCalls": "SettingCalls",
    "AsyncVersions": "Versions",
    "async_references": "references",
    "async_requests": "requests",
    "async_schema_calls": "schema_calls",
}

_SERDES = ("avro", "json_schema", "protobuf")
_SERDE_NAMES = {
    "AsyncDeserializer": "SyncDeserializer",
    "AsyncRegistry": "Registry",
    "AsyncSchemaRegistryClient": "SchemaRegistryClient",
    "AsyncSerializer": "SyncSerializer",
    "AsyncWritingSchemas": "WritingSchemas",
    "async_lookup": "lookup",
    "async_references": "references",
    "checked_async_registry": "checked_registry",
    **{
        f"Async{kind}{end}": f"{kind}{end}"
        for kind in ("Avro", "JSON", "Protobuf")
        for end in ("Serializer", "Deserializer")
    },
}

_CONSUMER = ("calls", "offset_calls", "poll_loop")
_CONSUMER_NAMES = {
    "AsyncBoundedRead": "BoundedRead",
    "AsyncConsumerCalls": "ConsumerCalls",
    "AsyncKafkaConsumer": "KafkaConsumer",
    "AsyncKafkaShareConsumer": "KafkaShareConsumer",
    "AsyncOffsetCalls": "OffsetCalls",
    "AsyncPollLoop": "PollLoop",
    "AsyncShareCalls": "ShareCalls",
    "LoopRunner": "ThreadRunner",
    "_async": "_sync",
    "async_consumer": "kafka_consumer",
    "loop_runner": "thread_runner",
    "read_async": "read",
    "settled_async": "settled",
}

_PRODUCER_NAMES = {
    "AsyncKafkaProducer": "KafkaProducer",
    "AsyncProducerCalls": "ProducerCalls",
    "AsyncTransactionBlock": "TransactionBlock",
    "AsyncTransactionCalls": "TransactionCalls",
    "HasAsyncTransactions": "HasTransactions",
    "LoopRunner": "ThreadRunner",
    "_async": "_sync",
}

TWINS: tuple[Twin, ...] = (
    *(
        Twin(f"admin/_async/{path.name}", f"admin/_sync/{path.name}", _ADMIN_NAMES)
        for path in sorted(_ADMIN.glob("*.py"))
    ),
    *(Twin(f"consumer/_async/{name}.py", f"consumer/_sync/{name}.py", _CONSUMER_NAMES) for name in _CONSUMER),
    Twin("consumer/bounded/_async/read.py", "consumer/bounded/_sync/read.py", _CONSUMER_NAMES),
    Twin("consumer/share/_async/calls.py", "consumer/share/_sync/calls.py", _CONSUMER_NAMES),
    *(Twin(f"formats/registry/async_{name}.py", f"formats/registry/{name}.py", _REGISTRY_NAMES) for name in _REGISTRY),
    Twin("schema_registry/async_lookup.py", "schema_registry/lookup.py", _SERDE_NAMES),
    *(Twin(f"schema_registry/async_{name}.py", f"schema_registry/sync_{name}.py", _SERDE_NAMES) for name in _SERDES),
    *(
        Twin(f"producer/_async/{name}.py", f"producer/_sync/{name}.py", _PRODUCER_NAMES)
        for name in ("arrow_sender", "calls", "transaction_calls")
    ),
)
"""All pairs."""

_WITH_WORDS = (tokenize.NAME, tokenize.STRING, tokenize.COMMENT, getattr(tokenize, "FSTRING_MIDDLE", -1))
"""Tokens in which names are exchanged; from Python 3.12 on f-strings are several tokens."""
_HEADER = "# Written by scripts/twins.py from {source}: change that file, not this one.\n"


def synchronous(text: str, names: Mapping[str, str]) -> str:
    """The synchronous form of an asyncio module's text."""
    words = {**EVERYWHERE, **names}
    anywhere = re.compile(r"\b(" + "|".join(map(re.escape, sorted(words, key=len, reverse=True))) + r")\b")
    lines = text.splitlines(keepends=True)
    edits: list[tuple[int, int, int, str]] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        (row, start), (end_row, end) = token.start, token.end
        if token.type == tokenize.NAME and token.string in ("async", "await"):
            gap = len(lines[row - 1][end:]) - len(lines[row - 1][end:].lstrip(" "))
            edits.append((row, start, end + gap, ""))
        elif row == end_row and token.type in _WITH_WORDS:
            there = lines[row - 1][start:end]
            changed = anywhere.sub(lambda found: words[found[1]], there)
            if changed != there:
                edits.append((row, start, end, changed))
        elif row != end_row:  # a text of several lines
            for number in range(row, end_row + 1):
                first, last = (start if number == row else 0), (end if number == end_row else len(lines[number - 1]))
                part = lines[number - 1][first:last]
                edits.append((number, first, last, anywhere.sub(lambda found: words[found[1]], part)))
    for row, start, end, new in sorted(edits, reverse=True):
        line = lines[row - 1]
        lines[row - 1] = line[:start] + new + line[end:]
    return "".join(lines)


def tidy(text: str, name: str) -> str:
    """The text as ruff sorts its imports and formats it."""
    for command in (["check", "--quiet", "--fix-only", "--select", "I"], ["format", "--quiet"]):
        ruff = [sys.executable, "-m", "ruff", *command, "--stdin-filename", name, "-"]
        text = subprocess.run(ruff, input=text, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    return text


def written(twin: Twin) -> str:
    """The text of the synchronous module."""
    text = (SOURCE / twin.source).read_text(encoding="utf-8")
    target = str(SOURCE / twin.target)
    return tidy(_HEADER.format(source=f"kafka/{twin.source}") + synchronous(text, twin.names), target)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write, or check, all twins."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 where a twin is out of date")
    check = parser.parse_args(arguments).check
    stale = [twin for twin in TWINS if _read(twin.target) != written(twin)]
    for twin in stale:
        if check:
            print(f"src/kafka/{twin.target} is not the twin of src/kafka/{twin.source}: run python scripts/twins.py")
        else:
            (SOURCE / twin.target).write_text(written(twin), encoding="utf-8")
            print(f"wrote src/kafka/{twin.target}")
    return 1 if check and stale else 0


def _read(name: str) -> str:
    file = SOURCE / name
    return file.read_text(encoding="utf-8") if file.exists() else ""


if __name__ == "__main__":
    sys.exit(main())
