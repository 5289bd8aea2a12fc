"""confluent-kafka (librdkafka)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import confluent_kafka

from harness.exchange import PATIENCE_S, Record


class Confluent:
    """confluent-kafka as it is."""

    name = "confluent-kafka"

    def produce(self, bootstrap_servers: str, topic: str, codec: str, records: Sequence[Record]) -> None:
        """Write with callbacks; idempotence on, as it is recommended."""
        settings = {"compression.type": codec, "enable.idempotence": True, "linger.ms": 20}
        producer = confluent_kafka.Producer({"bootstrap.servers": bootstrap_servers, **settings})
        errors: list[object] = []
        for record in records:
            producer.produce(
                topic,
                record.value,
                record.key,
                0,
                on_delivery=lambda error, _message: errors.append(error) if error else None,
                timestamp=record.timestamp_ms or 0,
                headers=list(record.headers),
            )
        left = producer.flush(PATIENCE_S)
        assert not errors, errors[0]
        assert not left, f"{left} records were not delivered in {PATIENCE_S} s"

    def consume(self, bootstrap_servers: str, topic: str, group: str, count: int) -> list[Record]:
        """Read as a member of a group, and commit what was read."""
        settings = {"group.id": group, "auto.offset.reset": "earliest", "enable.auto.commit": False}
        consumer = confluent_kafka.Consumer({"bootstrap.servers": bootstrap_servers, **settings})
        consumer.subscribe([topic])
        found: list[Record] = []
        try:
            while len(found) < count:
                messages = consumer.consume(count - len(found), PATIENCE_S)
                if not messages:
                    break
                for message in messages:
                    assert message.error() is None, message.error()
                    found.append(_record(message))
            consumer.commit(asynchronous=False)
        finally:
            consumer.close()
        return found


def _record(message: confluent_kafka.Message) -> Record:
    key, value = message.key(), message.value()
    headers: Any = message.headers() or ()
    return Record(
        key=None if key is None else key.decode(),
        value=None if value is None else value.decode(),
        headers=tuple((name, data.decode()) for name, data in headers),
        timestamp_ms=message.timestamp()[1],
    )
