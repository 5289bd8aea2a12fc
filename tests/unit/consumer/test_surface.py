"""`KafkaConsumer` and `AsyncKafkaConsumer` have the same methods, arguments, defaults and documentation."""

from __future__ import annotations

import inspect

import pytest

from kafka import KafkaConsumer
from kafka.consumer.async_consumer import AsyncKafkaConsumer
from kafka.consumer.kafka_python_0_9 import OldMethods

ASYNCIO_ONLY = {"start", "stop"}
"""The constructor cannot wait there, and other asyncio clients have `stop` for `close`."""
OLD_METHODS = {name for name in vars(OldMethods) if not name.startswith("_")}
SESSION_TIMEOUTS = {"DEFAULT_SESSION_TIMEOUT_MS_0_9", "DEFAULT_SESSION_TIMEOUT_MS_PRE_KIP_735"}
SYNC_ONLY = {*SESSION_TIMEOUTS, "next", "next_v1", "next_v2", *OLD_METHODS}
SPECIAL = {"__enter__": "__aenter__", "__exit__": "__aexit__", "__iter__": "__aiter__", "__next__": "__anext__"}
WAITING = {
    *("poll", "poll_arrow", "poll_columns", "getone", "getmany", "commit", "committed", "position", "close"),
    *("beginning_offsets", "end_offsets", "offsets_for_times", "partitions_for_topic", "topics", "bootstrap_connected"),
    *("bootstrap", "client_instance_id"),
    *("assign", "unsubscribe", "__next__", "__enter__", "__exit__"),
}
"""What is awaited."""


def public(consumer: type) -> set[str]:
    return {name for name in dir(consumer) if not name.startswith("_")}


def test_both_have_the_same_names() -> None:
    assert public(KafkaConsumer) - SYNC_ONLY == public(AsyncKafkaConsumer) - ASYNCIO_ONLY
    for ours, theirs in SPECIAL.items():
        assert hasattr(KafkaConsumer, ours)
        assert hasattr(AsyncKafkaConsumer, theirs)


NAMES = sorted(public(KafkaConsumer) - SYNC_ONLY) + sorted(SPECIAL)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_means_the_same_on_both(name: str) -> None:
    ours, theirs = getattr(KafkaConsumer, name), getattr(AsyncKafkaConsumer, SPECIAL.get(name, name))
    if not inspect.isfunction(ours):
        assert type(ours) is type(theirs)
        return
    assert inspect.signature(ours) == inspect.signature(theirs)
    documented = inspect.getdoc(theirs)
    assert documented
    assert inspect.getdoc(ours) == documented.replace("StopAsyncIteration", "StopIteration")
    assert inspect.iscoroutinefunction(theirs) is (name in WAITING)
    assert not inspect.iscoroutinefunction(ours)
