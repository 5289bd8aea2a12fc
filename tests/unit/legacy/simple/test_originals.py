"""`SimpleClient` and its producers behave like the originals: the same calls print the same as kafka-python 1.4.7.

The original ran on Python 3.6, with an empty embedded broker and two partitions per topic; the broker supports its old
versions. 1.0.2 on Python 2.7 printed the same, apart from the ``u`` before text. The partitions of keys are those of
1.0.2, because Python 2.7 hashes them alike in each process. Intended differences (see docs/COMPATIBILITY.md) are tested
elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kafka import KeyedProducer, SimpleProducer, create_gzip_message, create_message
from kafka.broker import EmbeddedBroker
from kafka.client import SimpleClient
from kafka.common import (
    FetchRequestPayload,
    OffsetCommitRequestPayload,
    OffsetFetchRequestPayload,
    OffsetRequestPayload,
    ProduceRequestPayload,
)

pytestmark = pytest.mark.filterwarnings("ignore:.* is deprecated:DeprecationWarning")

T = "topic"
GROUP = "group"
Call = Callable[[SimpleClient, SimpleProducer, KeyedProducer], Any]


def _written(*messages: Any, partition: int = 0) -> list[ProduceRequestPayload]:
    return [ProduceRequestPayload(T, partition, list(messages))]


def _fetch(client: SimpleClient, partition: int, offset: int, **options: Any) -> Any:
    return client.send_fetch_request([FetchRequestPayload(T, partition, offset, 100_000)], **options)


def _read(client: SimpleClient, offset: int) -> Any:
    ((topic, partition, error, high, messages),) = _fetch(client, 0, offset)
    found = [(offset, m.key, m.value, m.magic, m.attributes) for offset, m in messages]
    return topic, partition, error, high, found


def _offsets(client: SimpleClient, time: int) -> Any:
    return client.send_offset_request([OffsetRequestPayload(T, 0, time, 1)])


def _partition(answers: list[Any]) -> list[int]:
    return [answer.partition for answer in answers]


CALLS: list[tuple[Call, str]] = [
    (lambda c, _s, _k: c.ensure_topic_exists(T), "None"),
    (lambda c, _s, _k: T in c.topics, "True"),
    (lambda c, _s, _k: c.topic_partitions[T], "{0: 1, 1: 1}"),
    (lambda c, _s, _k: c.get_partition_ids_for_topic(T), "[0, 1]"),
    (lambda c, _s, _k: c.get_partition_ids_for_topic("other"), "[]"),
    (lambda c, _s, _k: c.has_metadata_for_topic(T), "True"),
    (
        lambda c, _s, _k: c.send_metadata_request([T]).topics,
        "[(0, 'topic', [(0, 0, 1, [1], [1]), (0, 1, 1, [1], [1])])]",
    ),
    (
        lambda c, _s, _k: c.send_produce_request(_written(create_message(b"a", b"k"), create_message(b"b"))),
        "[ProduceResponsePayload(topic='topic', partition=0, error=0, offset=0)]",
    ),
    (
        lambda c, _s, _k: c.send_produce_request(_written(create_gzip_message([(b"c", None), (b"d", b"k2")]))),
        "[ProduceResponsePayload(topic='topic', partition=0, error=0, offset=2)]",
    ),
    (
        lambda c, _s, _k: c.send_produce_request(
            _written(create_message(b"a"), partition=1), callback=lambda answer: answer.offset
        ),
        "[0]",
    ),
    (lambda c, _s, _k: c.send_produce_request(_written(create_message(b"a"), partition=1), acks=0), "[]"),
    (
        lambda c, _s, _k: _read(c, 0),
        (
            "('topic', 0, 0, 4, "
            "[(0, b'k', b'a', 0, 0), (1, None, b'b', 0, 0), (2, None, b'c', 0, 0), (3, b'k2', b'd', 0, 0)])"
        ),
    ),
    (
        lambda c, _s, _k: _fetch(c, 0, 4),
        "[FetchResponsePayload(topic='topic', partition=0, error=0, highwaterMark=4, messages=[])]",
    ),
    (
        lambda c, _s, _k: _fetch(c, 0, 40),
        (
            "OffsetOutOfRangeError "
            "(FetchResponsePayload(topic='topic', partition=0, error=1, highwaterMark=-1, messages=[]),)"
        ),
    ),
    (
        lambda c, _s, _k: _fetch(c, 0, 40, fail_on_error=False),
        "[FetchResponsePayload(topic='topic', partition=0, error=1, highwaterMark=-1, messages=[])]",
    ),
    (
        lambda c, _s, _k: _offsets(c, -1),
        "[OffsetResponsePayload(topic='topic', partition=0, error=0, offsets=(4,))]",
    ),
    (
        lambda c, _s, _k: _offsets(c, -2),
        "[OffsetResponsePayload(topic='topic', partition=0, error=0, offsets=(0,))]",
    ),
    (
        lambda c, _s, _k: c.send_offset_commit_request(GROUP, [OffsetCommitRequestPayload(T, 0, 2, "md")]),
        "[OffsetCommitResponsePayload(topic='topic', partition=0, error=0)]",
    ),
    (
        lambda c, _s, _k: c.send_offset_fetch_request(GROUP, [OffsetFetchRequestPayload(T, 0)]),
        "[OffsetFetchResponsePayload(topic='topic', partition=0, offset=2, metadata='md', error=0)]",
    ),
    (
        lambda c, _s, _k: c.send_produce_request(_written(create_message(b"a")) * 2),
        "AssertionError ('Duplicate ProduceRequestPayloads for topic 0',)",
    ),
    (lambda c, _s, _k: c.load_metadata_for_topics("no such"), "InvalidTopicError ('no such',)"),
    (lambda c, _s, _k: sorted(c.copy().topic_partitions[T].items()), "[(0, 1), (1, 1)]"),
    (lambda c, _s, _k: (c.reset_topic_metadata(T), c.has_metadata_for_topic(T)), "(None, False)"),  # type: ignore[func-returns-value]
    (lambda c, _s, _k: _fetch(c, 1, 0, callback=lambda answer: len(answer.messages)), "[2]"),
    (
        lambda _c, s, _k: s.send_messages(T, b"x", b"y"),
        "[ProduceResponsePayload(topic='topic', partition=0, error=0, offset=4)]",
    ),
    (
        lambda _c, s, _k: s.send_messages(T, b"x", b"y"),
        "[ProduceResponsePayload(topic='topic', partition=1, error=0, offset=2)]",
    ),
    (
        lambda _c, s, _k: s.send_messages(T, b"x", b"y"),
        "[ProduceResponsePayload(topic='topic', partition=0, error=0, offset=6)]",
    ),
    (
        lambda _c, s, _k: s.send_messages(T, "x"),  # type: ignore[arg-type]
        "TypeError ('all produce message payloads must be null or type bytes',)",
    ),
    (lambda _c, s, _k: s.send_messages(T, None), 'TypeError ("key and payload can\'t be null in one",)'),
    (lambda _c, _s, k: _partition(k.send_messages(T, b"key1", b"x")), "[0]"),
    (lambda _c, _s, k: _partition(k.send_messages(T, b"key2", b"x")), "[1]"),
    (lambda _c, _s, k: k.send_messages(T, "key1", b"x"), "TypeError ('the key must be type bytes',)"),
    (lambda _c, _s, k: _partition(k.send_messages(T, b"key1", None)), "[0]"),
]
"""Calls in order, each with its result, or its error and the error's arguments."""


def _printed(call: Call, *clients: Any) -> str:
    try:
        return str(call(*clients))
    except Exception as error:
        return f"{type(error).__name__} {error.args}"


def test_results_match_the_original() -> None:
    with EmbeddedBroker(num_partitions=2) as broker:
        client = SimpleClient(broker.bootstrap_servers)
        clients = client, SimpleProducer(client, random_start=False), KeyedProducer(client)
        printed = [_printed(call, *clients) for call, _ in CALLS]
        client.close()
    assert printed == [recorded for _, recorded in CALLS]
