"""Checks of what brokers and the schema registry know, on the embedded broker and with prepared answers."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka import KafkaAdminClient, KafkaProducer
from kafka.admin import NewTopic
from kafka.broker import EmbeddedBroker
from kafka.pipelines.checks import all_checks, check, check_file
from kafka.pipelines.checks.cluster_state import ClusterState, TopicState
from kafka.pipelines.checks.permissions import check_permissions
from kafka.pipelines.checks.problem import Findings, Places
from kafka.pipelines.checks.topics import check_clock, check_topics, duration
from kafka.pipelines.declaration import Declaration, declare
from kafka.schema_registry import Schema, SchemaRegistryClient
from kafka.structs import TopicPartition

DAY_MS = 86_400_000
AVRO = '{"type":"record","name":"F","fields":[{"name":"a","type":"int"},{"name":"b","type":["null","string"]}]}'
OUT = (
    '{"type":"record","name":"out_value","fields":[{"name":"a","type":["null","int"],"default":null},'
    '{"name":"b","type":["null","string"],"default":null}]}'
)


def declared(**changes: Any) -> Declaration:
    """Return a declaration."""
    given: dict[str, Any] = {
        "pipeline": "p",
        "kafka": {"bootstrap.servers": "localhost:9092"},
        "source": {"topic": "in", "value": {"format": "json", "schema": "a int"}},
        "rules": [{"name": "a", "holds": "a > 0"}],
        "sink": {"topic": "out"},
        "dead_letters": {"topic": "dead"},
    }
    return declare(given | changes)


@pytest.fixture
def broker() -> Iterator[EmbeddedBroker]:
    """A broker with a registry, and the topics of the pipeline."""
    with EmbeddedBroker(registry=True) as running:
        create(running, NewTopic("in", 3, 1), NewTopic("out", 1, 1), NewTopic("dead", 2, 1))
        yield running


def create(broker: EmbeddedBroker, *topics: NewTopic) -> None:
    """Create topics."""
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
        admin.create_topics(list(topics))


def problems(broker: EmbeddedBroker, **changes: Any) -> list[str]:
    """Return the problems of a declaration."""
    declaration = declared(kafka={"bootstrap.servers": broker.bootstrap_servers}, **changes)
    return [str(each) for each in check(declaration, limit_s=60, is_patient=True).problems]


def test_a_pipeline_whose_topics_exist_has_no_problem(broker: EmbeddedBroker) -> None:
    found = check(declared(kafka={"bootstrap.servers": broker.bootstrap_servers}), limit_s=60)
    assert found.problems == ()
    texts = {each.text for each in found.passed}
    assert texts >= {
        "topic 'in' exists, with 3 partitions",
        "permission READ for topic 'in'",
        "permission WRITE for topic 'out'",
        "topic 'dead' exists, with 2 partitions",
        "dead letters are kept for 7 days",
    }


def test_missing_topics(broker: EmbeddedBroker) -> None:
    source = {"topic": "inn", "value": {"format": "json", "schema": "a int"}}
    found = problems(broker, source=source, sink={"topic": "outt"})
    created = "the brokers will create it with num.partitions=1 and default.replication.factor=1, unless you create it"
    assert found == [
        "sources.source.topic: topic 'inn' does not exist; did you mean 'in'?",
        f"sink.topic: warning: topic 'outt' does not exist: {created}",
    ]


def test_missing_topics_that_brokers_do_not_create() -> None:
    with EmbeddedBroker(auto_create_topics=False) as broker:
        found = problems(broker)
    assert [each.partition(": create it")[0] for each in found] == [
        "sources.source.topic: topic 'in' does not exist",
        "sink.topic: topic 'out' does not exist",
        "dead_letters.topic: topic 'dead' does not exist",
    ]


def test_patterns(broker: EmbeddedBroker) -> None:
    def source(pattern: str) -> dict[str, Any]:
        return {"pattern": pattern, "value": {"format": "json", "schema": "a int"}}

    assert problems(broker, source=source("^i")) == []
    assert problems(broker, source=source("^x")) == [
        "sources.source.pattern: the pattern selects no topic: a query starts only if there is one"
    ]


def test_dead_letters_that_do_not_stay(broker: EmbeddedBroker) -> None:
    configs = {
        "cleanup.policy": "compact",
        "retention.ms": "3600000",
        "retention.bytes": "1000",
        "max.message.bytes": "9",
    }
    create(broker, NewTopic("gone", 1, 1, topic_configs=configs))
    found = problems(broker, dead_letters={"topic": "gone"})
    assert [each.removeprefix("dead_letters.topic: ")[:60] for each in found] == [
        "topic 'gone' is compacted, so that a dead letter replaces ea",
        "warning: topic 'gone' deletes dead letters after 1:00:00: se",
        "warning: topic 'gone' keeps at most 1,000 bytes for each par",
        "warning: topic 'gone' accepts records up to 9 bytes, 'in' up",
    ]


def test_a_compacted_sink_needs_keys(broker: EmbeddedBroker) -> None:
    create(broker, NewTopic("table", 1, 1, topic_configs={"cleanup.policy": "compact"}))
    (found,) = problems(broker, sink={"topic": "table"})
    assert found.startswith("sink: topic 'table' is compacted")
    assert problems(broker, sink={"topic": "table", "key": "a"}) == []


def test_start_positions_against_the_log(broker: EmbeddedBroker) -> None:
    now_ms = round(time.time() * 1000)
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for number in range(4):
            producer.send("in", b"{}", partition=0, timestamp_ms=now_ms - DAY_MS + number).get(timeout=60)
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
        admin.delete_records({TopicPartition("in", 0): 2})

    def found(start: int | str = "earliest", **options: str) -> list[str]:
        source = {"topic": "in", "value": {"format": "json", "schema": "a int"}, "start": start, "options": options}
        return problems(broker, source=source)

    assert found() == []
    (early,) = found(now_ms - 2 * DAY_MS)
    assert "sources.source.start: warning: the start, " in early
    assert "the records of in-0 before offset 2 are deleted (retention.ms: 7 days)" in early
    assert found(now_ms - DAY_MS + 3) == []
    (without,) = found(now_ms - 1000)
    assert "in-0 have no record since the start" in without
    (future,) = found(now_ms + DAY_MS)
    assert "in the future" in future
    at = "sources.source.options.startingOffsets: "
    assert found(startingOffsets='{"in": {"0": 1, "1": 0, "2": 0}}') == [
        f"{at}in-0 starts at offset 1, but the records before 2 are deleted"
    ]
    assert found(startingOffsets='{"in": {"0": 5, "1": 0, "2": -2}}') == [
        f"{at}in-0 starts at offset 5, but its log ends at 4"
    ]
    assert found(startingOffsets='{"in": {"0": 2, "1": 0, "2": -1}}') == []


def test_a_pipeline_that_has_run_resumes_at_its_checkpoint(broker: EmbeddedBroker, tmp_path: Path) -> None:
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for _ in range(4):
            producer.send("in", b"{}", partition=0).get(timeout=60)

    def resumes_at(offset: int) -> list[str]:
        for folder, lines in (("offsets", ["v1", "{}", f'{{"in": {{"0": {offset}}}}}']), ("commits", ["v1", "{}"])):
            (tmp_path / "stream" / folder).mkdir(parents=True, exist_ok=True)
            (tmp_path / "stream" / folder / "0").write_text("\n".join(lines))
        source = {"topic": "in", "value": {"format": "json", "schema": "a int"}, "start": 5}
        return problems(broker, source=source, checkpoint=str(tmp_path))

    assert resumes_at(4) == []
    assert resumes_at(1) == []
    assert resumes_at(5) == ["checkpoint: in-0 resumes at offset 5, but its log ends at 4: was the topic recreated?"]
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
        admin.delete_records({TopicPartition("in", 0): 2})
    assert resumes_at(1) == ["checkpoint: in-0 resumes at offset 1, but the records before 2 are deleted"]


def test_subjects_and_compatibility(broker: EmbeddedBroker) -> None:
    registry = {"url": broker.registry_url}
    avro: dict[str, Any] = {"topic": "in", "value": {"format": "avro"}}
    (missing,) = problems(broker, registry=registry, source=avro)
    assert missing.startswith("sources.source.value: the schema registry has no usable schema: ")
    with SchemaRegistryClient({"url": broker.registry_url}) as client:
        client.register_schema("in-value", Schema(AVRO, "AVRO"))
        client.register_schema("out-value", Schema(OUT, "AVRO"))
    assert problems(broker, registry=registry, source=avro) == []
    assert problems(broker, registry=registry, source=avro, rules=[{"name": "x", "holds": "zz > 0"}]) == [
        "sources.source.rules[0].holds: there is no column 'zz'; the columns are a, b, kafka"
    ]
    sink = {"topic": "out", "value": {"format": "avro"}}
    assert problems(broker, registry=registry, source=avro, sink=sink) == []
    query = "select cast(a as string) as a, b from source"
    found = problems(broker, registry=registry, source=avro, sink=sink, query=query)
    assert found
    refused = "sink.value: warning: the schema is not compatible with subject 'out-value': "
    assert all(each.startswith(refused) for each in found), "a warning, because Spark may derive other types"
    pinned = {"topic": "out", "value": {"format": "avro", "version": 1}}
    (wide,) = problems(broker, registry=registry, source=avro, sink=pinned, query="select a, b, 1 as c from source")
    assert "do not fit the schema: record out_value has no field for the columns 'c'" in wide
    other = {"topic": "out", "value": {"format": "avro", "subject": "out-valu", "version": 1}}
    (similar,) = problems(broker, registry=registry, source=avro, sink=other)
    assert "did you mean 'out-value'?" in similar


def silent() -> socket.socket:
    """Return a server that accepts connections and never answers."""
    server = socket.create_server(("127.0.0.1", 0))
    server.listen(16)
    return server


def test_servers_that_do_not_answer_are_problems_among_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(all_checks, "_ANSWER_S", 0.1)  # of the connection; a busy machine may take longer for the rest
    with silent() as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        given = {
            "pipeline": "p",
            "kafka": {"bootstrap.servers": address},
            "registry": {"url": f"http://{address}"},
            "source": {"topic": "in", "value": {"format": "avro"}},
            "rules": [{"name": "x", "holds": "a >", "otherwise": "drop"}],
            "sink": {"topic": "out"},
        }
        file = tmp_path / "p.yaml"
        file.write_text(json.dumps(given))
        found = [each.place.key for each in check_file(file, limit_s=120.0).problems]
    assert sorted(found) == ["kafka.bootstrap.servers", "registry.url", "rules[0].holds"]


def test_no_server_at_all(unused_tcp_port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(all_checks, "_ANSWER_S", 0.1)
    declaration = declared(kafka={"bootstrap.servers": f"127.0.0.1:{unused_tcp_port}"})
    (found,) = check(declaration, limit_s=120.0).problems
    assert found.place.key == "kafka.bootstrap.servers"
    assert "brokers" in found.text


# -- with prepared answers ---------------------------------------------------------------------------------------------


def state(**changes: Any) -> ClusterState:
    """Return a state in which the user may do nothing but describe."""
    nothing: frozenset[str] = frozenset({"DESCRIBE"})
    topics = {each: TopicState(each, (0,), nothing) for each in ("in", "out", "dead")}
    return ClusterState(**{"topics": topics, "groups": {"p-decision": nothing, "p-replay": nothing}} | changes)


def test_missing_permissions() -> None:
    findings = Findings(Places())
    check_permissions(findings, declared(), state(transactional_id_denied=True))
    *others, transactions = [str(each) for each in findings.problems]
    assert transactions.startswith(
        "sink.exactly_once: no permission DESCRIBE for transactional ids that begin with 'p': grant DESCRIBE and WRITE"
    )
    assert others == [
        "sources.source.topic: no permission READ for topic 'in'",
        "sink.topic: no permission WRITE for topic 'out'",
        "dead_letters.topic: no permission WRITE for topic 'dead'",
        "dead_letters.topic: warning: no permission READ for topic 'dead': you cannot list or replay dead letters",
        "sink.exactly_once: no permission READ for group 'p-decision', to which the pipeline commits",
        "dead_letters: warning: no permission READ for group 'p-replay': tools for lag will not show progress",
    ]


def test_a_topic_that_cannot_be_described_is_not_called_missing() -> None:
    findings = Findings(Places())
    denied = ClusterState(denied=frozenset({"in", "out", "dead"}))
    check_topics(findings, declared(), denied)
    assert findings.problems == []
    check_permissions(findings, declared(), denied)
    assert [each.text.partition(": ")[0] for each in findings.problems] == [
        f"no permission DESCRIBE for topic '{each}', so that it cannot be seen" for each in ("in", "out", "dead")
    ]


def test_brokers_that_do_not_tell_are_no_problem() -> None:
    findings = Findings(Places())
    topics = {each: TopicState(each, (0,)) for each in ("in", "out", "dead")}
    check_permissions(findings, declared(), ClusterState(topics=topics, groups={"p-decision": None}))
    assert findings.problems == []


def test_one_partition_for_the_dead_letters_of_many() -> None:
    findings = Findings(Places())
    topics = {
        "in": TopicState("in", tuple(range(12))),
        "out": TopicState("out", (0,)),
        "dead": TopicState("dead", (0,)),
    }
    check_topics(findings, declared(), ClusterState(topics=topics))
    assert [each.text.partition(":")[0] for each in findings.problems] == [
        "topic 'dead' has 1 partition, the sources 12"
    ]


def test_clocks() -> None:
    findings = Findings(Places())
    newest = {TopicPartition("in", 0): 1_000_000, TopicPartition("in", 1): 9_000_000}
    check_clock(findings, ClusterState(newest_ms=newest), clock=lambda: 1_000.0)
    (found,) = findings.problems
    assert found.text.startswith("the newest record of in-1 is 2:13:20 in the future")


def test_durations() -> None:
    assert [duration(each) for each in (0, 1_000, DAY_MS, 7 * DAY_MS, DAY_MS + 1_000)] == [
        "0:00:00",
        "0:00:01",
        "1 day",
        "7 days",
        "1 day, 0:00:01",
    ]
