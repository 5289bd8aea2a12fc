"""The options with which runs read their sources and dead letters, and write: what decides that nothing is doubled."""

from __future__ import annotations

import pytest

from kafka.pipelines.declaration import Declaration, Sink, Source
from kafka.pipelines.kafka_rows import write_options
from kafka.pipelines.replay import replay_options
from kafka.pipelines.source_rows import by_topic, read_options, start_options, topic_options
from kafka.pipelines.yaml_file import parse

pytestmark = pytest.mark.once


def declared(
    source: str = "value: {format: bytes}", sink: str = "value: {format: bytes}", more: str = ""
) -> Declaration:
    """A pipeline with these keys of its source and its sink."""
    return parse(
        "pipeline: p\nkafka: {bootstrap.servers: 'h:9092', client.id: c}\n"
        "registry: {url: 'http://r', user: u, wait: 5 s, ssl.ca: f}\n"
        f"source: {{topic: in, {source}}}\nsink: {{topic: out, {sink}}}\n{more}"
    )


def source_of(declaration: Declaration) -> Source:
    """The only source."""
    (source,) = declaration.all_sources.values()
    return source


def sink_of(declaration: Declaration) -> Sink:
    """The topic of the result."""
    assert isinstance(declaration.sink, Sink)
    return declaration.sink


LETTERS = "dead_letters: {topic: dead}"
CLIENT = {"kafka.bootstrap.servers": "h:9092", "kafka.client.id": "c"}
ONCE = {"exactlyOnce": "true", "transactionalIdPrefix": "prefix"}
REGISTRY = {
    "schemaRegistryUrl": "http://r",
    "schemaRegistryUser": "u",
    "schemaRegistryWait": "5 s",
    "schemaRegistry.ssl.ca": "f",
}


def test_rows_and_dead_letters_are_written_once_unless_the_sink_says_otherwise() -> None:
    declaration = declared()
    assert write_options(declaration, sink_of(declaration), "prefix") == CLIENT | ONCE
    assert write_options(declaration, None, "prefix") == CLIENT | ONCE, "dead letters next to a table"
    loose = declared(sink="exactly_once: false, value: {format: bytes}")
    assert write_options(loose, sink_of(loose), "prefix") == CLIENT
    assert write_options(loose, None, "prefix") == CLIENT | ONCE


def test_a_writer_has_the_options_of_its_format() -> None:
    declaration = declared(sink="value: {format: json}, options: {kafka.acks: '1'}", more=LETTERS)
    found = write_options(declaration, sink_of(declaration), "prefix")
    assert found == CLIENT | ONCE | {"valueFormat": "json", "originalBytes": "true", "kafka.acks": "1"}
    assert "originalBytes" not in write_options(declared(sink="value: {format: json}"), sink_of(declaration), "prefix")
    avro = declared(sink="value: {format: avro}")
    found = write_options(avro, sink_of(avro), "prefix")
    assert found == CLIENT | REGISTRY | ONCE | {"valueFormat": "avro", "valueSubject": "out-value"}
    named = declared(sink="value: {format: avro, subject: s}")
    assert write_options(named, sink_of(named), "prefix")["valueSubject"] == "s"


def test_only_committed_records_are_read_unless_the_declaration_says_otherwise() -> None:
    declaration = declared()
    read = CLIENT | {"kafka.isolation.level": "read_committed", "includeHeaders": "true"}
    assert read_options(declaration, source_of(declaration)) == read
    dirty = declared(source="value: {format: bytes}, options: {kafka.isolation.level: read_uncommitted, groupId: g}")
    changed = {"kafka.isolation.level": "read_uncommitted", "groupId": "g"}
    assert read_options(dirty, source_of(dirty)) == read | changed
    whole = declaration.model_copy(update={"kafka": {**declaration.kafka, "isolation.level": "read_uncommitted"}})
    assert read_options(whole, source_of(whole))["kafka.isolation.level"] == "read_uncommitted"
    assert "kafka.isolation.level" not in write_options(whole, sink_of(whole), "prefix")


@pytest.mark.parametrize("letters", [True, False])
def test_what_does_not_decode_becomes_a_column_and_dead_letters_need_its_bytes(letters: bool) -> None:
    declaration = declared("key: {format: int}, value: {format: json, schema: n int}", more=LETTERS if letters else "")
    found = read_options(declaration, source_of(declaration))
    assert (found["keyErrors"], found["valueErrors"]) == ("column", "column")
    assert ("originalBytes" in found) is letters
    plain = declared("value: {format: json, schema: n int}", more=LETTERS)
    assert "keyErrors" not in read_options(plain, source_of(plain))


def test_a_replay_reads_dead_letters_as_records_of_their_source() -> None:
    declaration = declared("value: {format: avro}, options: {kafka.fetch.min.bytes: '1'}", more=LETTERS)
    found = replay_options(declaration, source_of(declaration))
    assert found == read_options(declaration, source_of(declaration)) | {
        "failOnDataLoss": "false",
        "valueSubject": "in-value",
    }
    text = declared(
        'value: {format: avro, schema: \'{"type": "int"}\'}, options: {failondataloss: "true"}', more=LETTERS
    )
    found = replay_options(text, source_of(text))
    assert found == read_options(text, source_of(text)), "what is declared stays"
    several = Source.model_validate(
        {"topics": ["a", "b"], "key": {"format": "avro"}, "value": {"format": "json-schema"}}
    )
    found = replay_options(declaration, several)
    assert (found["keySubject"], found["valueSubject"]) == ("a-key", "a-value")
    bare = parse(
        "pipeline: p\nkafka: {bootstrap.servers: h}\nsource: {topic: in, value: {format: bytes}}\nsink: {topic: o}"
    )
    assert "valueSubject" not in replay_options(bare, source_of(bare))


def test_where_a_source_starts_and_which_topics_it_reads() -> None:
    def source(**given: object) -> Source:
        return Source.model_validate({"value": {"format": "bytes"}, **given})

    assert start_options(source(topic="t")) == {"startingOffsets": "earliest"}
    assert start_options(source(topic="t", start="latest")) == {"startingOffsets": "latest"}
    assert start_options(source(topic="t", start=5)) == {"startingTimestamp": "5"}
    given = {"StartingOffsets": "latest", "groupId": "g"}
    assert start_options(source(topic="t", options=given)) == {"StartingOffsets": "latest"}
    assert topic_options(source(topic="t")) == {"subscribe": "t"}
    assert topic_options(source(topics=["a", "b"])) == {"subscribe": "a,b"}
    assert topic_options(source(pattern="a.*")) == {"subscribePattern": "a.*"}
    sources = {"one": source(topic="a"), "two": source(topics=["b", "c"]), "three": source(pattern="^[a-d]x?$")}
    topics = {topic: by_topic(sources, topic) for topic in ("a", "b", "c", "d", "bx", "bxx", "e")}
    assert topics == {"a": "one", "b": "two", "c": "two", "d": "three", "bx": "three", "bxx": None, "e": None}
