"""What the source and sink of Spark need to be allowed, and that each right is needed: the table of docs/SPARK.md.

The parts that ask brokers are called as Spark calls them, without Spark.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from kafka import KafkaAdminClient
from kafka.admin import (
    ACL,
    ACLFilter,
    ACLOperation,
    ACLPermissionType,
    ACLResourcePatternType,
    ResourcePattern,
    ResourcePatternFilter,
    ResourceType,
)
from kafka.errors import KafkaError
from kafka.spark.client_cache import CONSUMERS, PRODUCERS
from kafka.spark.exactly_once import driver_steps
from kafka.spark.exactly_once.decision import BATCH_WRITE
from kafka.spark.exactly_once.prefix_access import admin_configs, ask_brokers
from kafka.spark.exactly_once.replay_check import Write
from kafka.spark.exactly_once.task import TransactionalProducers, write_in_transaction
from kafka.spark.options.parsing import parse_read, parse_write
from kafka.spark.planning.batch_plan import plan_batch
from kafka.spark.planning.cluster_lookup import ClusterLookup
from kafka.spark.tasks.read_task import read_task
from kafka.spark.tasks.write_task import write_task

pytestmark = [pytest.mark.apache, pytest.mark.needs(broker=(4, 0), why="KRaft")]
ROWS = pa.table({"value": [b"1", b"2"]})
TOPIC, GROUP, ID = ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID
READ, WRITE = ACLOperation.READ, ACLOperation.WRITE
PAGE = Path(__file__).resolve().parents[3] / "docs" / "SPARK.md"
Rights = frozenset[tuple[ResourceType, ACLOperation]]


@pytest.fixture(scope="module")
def secured(java_tools: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A real broker that allows nothing that is not written down."""
    from harness.apache import ApacheKafka

    properties = {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
    }
    listeners = ("plaintext", "sasl")
    folder = tmp_path_factory.mktemp("spark-rights")
    with ApacheKafka(folder, version=java_tools.version, listeners=listeners, properties=properties) as kafka:
        yield kafka
        for cache in (CONSUMERS, PRODUCERS):
            while cache._idle:
                cache._close(cache._idle.popleft()[1])


@pytest.fixture(scope="module")
def admin(secured: Any) -> Iterator[KafkaAdminClient]:
    with KafkaAdminClient(bootstrap_servers=secured.bootstrap_servers) as client:
        yield client


class Alice:
    """A user of the broker: what she is allowed, and what Spark does in her name.

    Her names begin alike, as a team's do: with ``alices-``.
    """

    def __init__(self, secured: Any, admin: KafkaAdminClient) -> None:
        self._admin = admin
        self._numbers = itertools.count()
        login = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="alice" password='
        self.options = {
            "kafka.bootstrap.servers": secured.bootstrap("sasl"),
            "kafka.security.protocol": "SASL_PLAINTEXT",
            "kafka.sasl.mechanism": "PLAIN",
            "kafka.sasl.jaas.config": f'{login}"alice-secret";',
        }

    def name(self, kind: str) -> str:
        """A new name of hers."""
        return f"alices-{kind}-{next(self._numbers)}"

    def topic(self) -> str:
        """A new topic of hers, with records."""
        name = self.name("topic")
        self._admin.create_topics({name: {"num_partitions": 2, "replication_factor": 1}}, wait_for_metadata=True)
        return name

    def may(self, rights: Rights) -> None:
        """Allow this and nothing else, and wait until the broker has heard of it."""
        everything = ResourcePatternFilter(ResourceType.ANY, None, ACLResourcePatternType.ANY)
        hers = ACLFilter("User:alice", None, ACLOperation.ANY, ACLPermissionType.ANY, everything)
        self._admin.delete_acls([hers])
        self._await(hers, frozenset())
        given = [
            ACL("User:alice", "*", operation, ACLPermissionType.ALLOW, ResourcePattern(kind, "alices-", _PREFIXED))
            for kind, operation in sorted(rights)
        ]
        if given:
            assert not self._admin.create_acls(given)["failed"]
        self._await(hers, rights)

    def _await(self, hers: ACLFilter, rights: Rights) -> None:
        seen: set[tuple[ResourceType, ACLOperation]] | None = None
        while seen != rights:
            found, _ = self._admin.describe_acls(hers)
            seen = {(each.resource_pattern.resource_type, each.operation) for each in found}


_PREFIXED = ACLResourcePatternType.PREFIXED


@pytest.fixture(scope="module")
def alice(secured: Any, admin: KafkaAdminClient) -> Alice:
    return Alice(secured, admin)


def reads(alice: Alice, topic: str) -> None:
    options = parse_read({**alice.options, "subscribe": topic}, streaming=False)
    with ClusterLookup(options) as lookup:
        tasks = plan_batch(options, lookup)
    assert sum(batch.num_rows for task in tasks for batch in read_task(options, ("value",), task)) == ROWS.num_rows


def streams(alice: Alice, topic: str, **more: str) -> Any:
    from pyspark.sql.types import BinaryType, StructType

    from kafka.spark.pyspark_versions import ReadAllAvailable
    from kafka.spark.stream_reader import KafkaStreamReader

    given = {**alice.options, "subscribe": topic, "startingoffsets": "earliest", **more}
    reader = KafkaStreamReader(given, StructType().add("value", BinaryType()))
    try:
        reader.prepareForTriggerAvailableNow()
        start = reader.initialOffset()
        end = reader.latestOffset(start, ReadAllAvailable())
        batches = (batch for task in reader.partitions(start, end) for batch in reader.read(task))
        assert sum(batch.num_rows for batch in batches) == ROWS.num_rows
        assert reader.latestOffset(end, ReadAllAvailable()) == end
    finally:
        reader.stop()


def commits_for_a_group(alice: Alice, topic: str) -> None:
    group = alice.name("group")
    streams(alice, topic, commitgroup=group)
    found = alice._admin.list_consumer_group_offsets(group)
    if sum(each.offset for each in found.values()) != ROWS.num_rows:
        raise KafkaError("the query went on, but its group has no offsets")


def writes(alice: Alice, topic: str) -> None:
    options = parse_write({**alice.options, "topic": topic}, streaming=False)
    assert write_task(options, ("value",), iter(ROWS.to_batches())) == ROWS.num_rows


def writes_exactly_once(alice: Alice, topic: str) -> None:
    prefix = alice.name("prefix")
    given = {**alice.options, "topic": topic, "exactlyonce": "true", "transactionalidprefix": prefix}
    options = parse_write({**given, "transactionalbatchid": "first"}, streaming=False)
    configs = admin_configs(options.configs)
    producers = TransactionalProducers()
    try:
        plan = ask_brokers(configs, prefix, lambda access: driver_steps.plan(access, options, ""))
        write = Write(prefix, BATCH_WRITE, plan.run, 0, "")
        result = write_in_transaction(options, ("value",), iter(ROWS.to_batches()), plan, write, producers)
        ask_brokers(configs, prefix, lambda access: driver_steps.commit(access, options, [result]))
    finally:
        producers.close()


WORK: dict[str, tuple[Callable[[Alice, str], None], Rights]] = {
    "a read": (reads, frozenset({(TOPIC, READ)})),
    "a stream": (streams, frozenset({(TOPIC, READ)})),
    "a stream with `commitGroup`": (commits_for_a_group, frozenset({(TOPIC, READ), (GROUP, READ)})),
    "a write": (writes, frozenset({(TOPIC, WRITE)})),
    "a write with `exactlyOnce`": (
        writes_exactly_once,
        frozenset({(TOPIC, READ), (TOPIC, WRITE), (GROUP, READ), (ID, WRITE)}),
    ),
}


@pytest.mark.parametrize("what", WORK)
def test_these_rights_are_enough_and_each_is_needed(alice, what):
    work, rights = WORK[what]
    topic = alice.topic()
    alice.may(frozenset({(TOPIC, WRITE)}))
    if work not in (writes, writes_exactly_once):
        writes(alice, topic)
    for missing in sorted(rights):
        alice.may(rights - {missing})
        with pytest.raises(KafkaError):
            work(alice, topic)
    alice.may(rights)
    work(alice, topic)


def test_the_table_of_the_guide_says_so():
    table = PAGE.read_text().partition("## Rights")[2].partition("\n## ")[0]
    rows = dict(re.findall(r"^\| (a .*?) \| (.*) \|$", table, re.MULTILINE))
    names = {TOPIC: "topic", GROUP: "group", ID: "transactional id"}
    assert rows.keys() == WORK.keys()
    for what, (_, rights) in WORK.items():
        told = set(re.findall(r"`(\w+)` on the (topic|group|transactional id)", rows[what]))
        assert told == {(operation.name.capitalize(), names[kind]) for kind, operation in rights}
