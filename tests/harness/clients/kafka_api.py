"""The API that kafka-python and this package share. Which of the two is used depends on what `import kafka` gives.

`KafkaPython` runs this module as a program in a process where that is kafka-python; `Ours` calls its functions.
"""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import kafka
from harness.exchange import PATIENCE_S, Record


def produce(bootstrap_servers: str, topic: str, codec: str, records: Sequence[Record]) -> None:
    """Write with futures."""
    producer = kafka.KafkaProducer(
        bootstrap_servers=bootstrap_servers,
        compression_type=None if codec == "none" else codec,
        acks="all",
        linger_ms=20,
    )
    futures = [
        producer.send(
            topic,
            value=_bytes(record.value),
            key=_bytes(record.key),
            headers=[(name, text.encode()) for name, text in record.headers],
            partition=0,
            timestamp_ms=record.timestamp_ms,
        )
        for record in records
    ]
    producer.flush()
    for future in futures:
        future.get(timeout=PATIENCE_S)
    producer.close()


def consume(bootstrap_servers: str, topic: str, group: str, count: int) -> list[Record]:
    """Read as a member of a group, and commit what was read."""
    consumer = kafka.KafkaConsumer(
        topic,
        bootstrap_servers=bootstrap_servers,
        group_id=group,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
    )
    found: list[Record] = []
    while len(found) < count:
        batches = consumer.poll(timeout_ms=PATIENCE_S * 1000, max_records=count - len(found))
        if not batches:
            break
        found += [_record(message) for messages in batches.values() for message in messages]
    consumer.commit()
    consumer.close()
    return found


class Ours:
    """This package."""

    name = "ours"

    def produce(self, bootstrap_servers: str, topic: str, codec: str, records: Sequence[Record]) -> None:
        """Write with futures."""
        produce(bootstrap_servers, topic, codec, records)

    def consume(self, bootstrap_servers: str, topic: str, group: str, count: int) -> list[Record]:
        """Read as a member of a group, and commit what was read."""
        return consume(bootstrap_servers, topic, group, count)


class KafkaPython:
    """kafka-python as it is, in a process of its own."""

    name = "kafka-python"

    def produce(self, bootstrap_servers: str, topic: str, codec: str, records: Sequence[Record]) -> None:
        """Write with futures."""
        self._call("produce", bootstrap_servers, topic, codec, [dataclasses.astuple(record) for record in records])

    def consume(self, bootstrap_servers: str, topic: str, group: str, count: int) -> list[Record]:
        """Read as a member of a group, and commit what was read."""
        return [_from_json(fields) for fields in self._call("consume", bootstrap_servers, topic, group, count)]

    def _call(self, *call: object) -> Any:
        from harness.cache import ROOT
        from harness.peers import peers_environment

        environment = peers_environment()
        environment["PYTHONPATH"] += f":{ROOT / 'tests'}"
        done = subprocess.run(
            [sys.executable, "-m", __name__],
            input=json.dumps(call),
            env=environment,
            capture_output=True,
            text=True,
            timeout=2 * PATIENCE_S,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return json.loads(done.stdout)


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def _record(message: Any) -> Record:
    return Record(
        key=None if message.key is None else message.key.decode(),
        value=None if message.value is None else message.value.decode(),
        headers=tuple((name, data.decode()) for name, data in message.headers or ()),
        timestamp_ms=message.timestamp,
    )


def _from_json(fields: list[Any]) -> Record:
    key, value, headers, timestamp_ms = fields
    return Record(key, value, tuple((name, text) for name, text in headers), timestamp_ms)


def main() -> None:
    """Do what standard input asks for, with kafka-python, and print what came of it."""
    if hasattr(kafka, "_variant"):
        raise SystemExit("this is not kafka-python: its folder must come first in PYTHONPATH")
    name, bootstrap_servers, topic, *rest = json.load(sys.stdin)
    if name == "produce":
        produce(bootstrap_servers, topic, rest[0], [_from_json(fields) for fields in rest[1]])
        print("null")
    else:
        print(json.dumps([dataclasses.astuple(r) for r in consume(bootstrap_servers, topic, rest[0], rest[1])]))


if __name__ == "__main__":
    main()
