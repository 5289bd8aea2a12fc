"""The synchronous and the asyncio producer are one: same methods, arguments, defaults and documentation."""

from __future__ import annotations

import inspect
import re
from typing import Any

import pytest

from kafka import AsyncKafkaProducer, KafkaProducer
from kafka.errors import IllegalStateError

ASYNC_ALONE = {"start", "stop", "send_and_wait"}
"""A program with a loop begins and ends a producer in coroutines; `send_and_wait` is `send` and `get` in one."""
SYNC_ALONE: set[str] = set()


def public(face: type) -> set[str]:
    return {name for name in dir(face) if not name.startswith("_")}


def signature(face: type, name: str) -> list[tuple[str, Any, Any]]:
    """Names, kinds and defaults of the arguments; Cython keeps no annotations that could be compared."""
    found = getattr(face, name)
    if isinstance(found, property):
        return []
    parameters = inspect.signature(found).parameters.values()
    return [(each.name, each.kind, each.default) for each in parameters]


def test_import_paths_of_programs_exist() -> None:
    from kafka.producer.future import FutureRecordMetadata, RecordMetadata
    from kafka.producer.kafka import KafkaProducer as ByOldPath

    assert ByOldPath is KafkaProducer
    assert {FutureRecordMetadata.__name__, RecordMetadata.__name__} == {"FutureRecordMetadata", "RecordMetadata"}


OPTIONS = {"DEFAULT_CONFIG", "DEPRECATED_CONFIGS", "config"}
SHARED = sorted((public(KafkaProducer) & public(AsyncKafkaProducer)) - OPTIONS)


async def test_an_unstarted_producer_names_the_call_that_starts_it() -> None:
    producer = AsyncKafkaProducer()
    with pytest.raises(IllegalStateError, match=r"start\(\) it first, or use it as a context manager"):
        await producer.send("t", b"x")


def test_both_producers_have_the_same_methods() -> None:
    assert public(AsyncKafkaProducer) - public(KafkaProducer) == ASYNC_ALONE
    assert public(KafkaProducer) - public(AsyncKafkaProducer) == SYNC_ALONE
    assert {"send", "send_arrow", "flush", "close", "partitions_for", "metrics"} <= set(SHARED)


@pytest.mark.parametrize("name", SHARED)
def test_methods_of_both_producers_have_the_same_signatures(name: str) -> None:
    assert signature(AsyncKafkaProducer, name) == signature(KafkaProducer, name)
    documented = [inspect.getdoc(getattr(face, name)) for face in (AsyncKafkaProducer, KafkaProducer)]
    asynchronous, synchronous = (re.sub(r"\bAsync(?=Kafka)|\basync (?=with\b)", "", text or "") for text in documented)
    assert asynchronous == synchronous != ""


def test_both_producers_show_their_options() -> None:
    for face in (KafkaProducer, AsyncKafkaProducer):
        assert public(face) >= OPTIONS
    assert AsyncKafkaProducer.DEFAULT_CONFIG is KafkaProducer.DEFAULT_CONFIG
    given = {"bootstrap_servers": ["one:9092"], "client_id": "me", "linger_ms": 7, "api_version": (2, 6)}
    producer = AsyncKafkaProducer(**given)
    assert {name: producer.config[name] for name in given} == given
    assert "sasl_plain_password" not in producer.config
