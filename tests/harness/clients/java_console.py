"""Kafka's Java clients, through the console producer and consumer."""

from __future__ import annotations

from collections.abc import Sequence

from harness.exchange import PATIENCE_S, Record
from harness.tools import JavaTools

NULL = "<null>"
SEPARATOR = "\x01"
"""Between the parts of a record in what the console tools read and print."""


class JavaConsole:
    """The console producer and consumer as they are. The producer cannot set timestamps."""

    name = "java"

    def __init__(self, tools: JavaTools) -> None:
        self._tools = tools

    def produce(self, bootstrap_servers: str, topic: str, codec: str, records: Sequence[Record]) -> None:
        """Write lines of headers, key and value."""
        lines = []
        for record in records:
            headers = ",".join(f"{name}:{text}" for name, text in record.headers) or NULL
            lines.append(SEPARATOR.join([headers, record.key or NULL, record.value or NULL]))
        reader = {
            "parse.headers": "true",
            "parse.key": "true",
            "headers.delimiter": SEPARATOR,
            "key.separator": SEPARATOR,
            "null.marker": NULL,
        }
        self._tools.run(
            "org.apache.kafka.tools.ConsoleProducer",
            *("--bootstrap-server", bootstrap_servers, "--topic", topic, "--compression-codec", codec),
            *(part for name, value in reader.items() for part in ("--reader-property", f"{name}={value}")),
            stdin="".join(line + "\n" for line in lines),
        )

    def consume(self, bootstrap_servers: str, topic: str, group: str, count: int) -> list[Record]:
        """Read as a member of a group; the console consumer commits when it ends."""
        formatter = {
            **{f"print.{part}": "true" for part in ("timestamp", "headers", "key", "value")},
            "key.separator": SEPARATOR,
            "headers.separator": ",",
            "null.literal": NULL,
        }
        done = self._tools.run(
            "org.apache.kafka.tools.consumer.ConsoleConsumer",
            *("--bootstrap-server", bootstrap_servers, "--topic", topic, "--group", group, "--from-beginning"),
            *("--max-messages", str(count), "--timeout-ms", str(PATIENCE_S * 1000)),
            *(part for name, value in formatter.items() for part in ("--formatter-property", f"{name}={value}")),
        )
        return [_record(line) for line in done.stdout.splitlines() if SEPARATOR in line]


def _record(line: str) -> Record:
    """Read `CreateTime:123`, `name:value,...`, key and value from a printed line."""
    timestamp, headers, key, value = line.split(SEPARATOR)
    pairs = [] if headers in ("NO_HEADERS", NULL) else [header.split(":", 1) for header in headers.split(",")]
    return Record(
        key=None if key == NULL else key,
        value=None if value == NULL else value,
        headers=tuple((name, text) for name, text in pairs),
        timestamp_ms=int(timestamp.partition(":")[2]),
    )
