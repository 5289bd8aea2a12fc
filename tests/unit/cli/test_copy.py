"""`kafka copy` and `kafka perf` on embedded brokers."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.broker import EmbeddedBroker
from kafka.errors import KafkaTimeoutError, LeaderNotAvailableError
from kafka.structs import OffsetAndMetadata, TopicPartition
from unit.cli.cli_support import Cli

pytestmark = pytest.mark.once
MakeTopic = Callable[..., str]
SHOWN = ("-f", "%p|%T|%k|%s|%h\\n")


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[EmbeddedBroker]:
    """Another cluster."""
    with EmbeddedBroker() as embedded:
        yield embedded


@pytest.fixture
def source(cli: Cli, topic: MakeTopic) -> str:
    """A topic of three partitions with twenty records."""
    name = topic(3)
    documents = [
        {"key": f"k{i % 7}" if i % 5 else None, "value": f"v{i}", "timestamp": 100 + i, "headers": {"h": f"{i}"}}
        for i in range(20)
    ]
    cli("produce", name, "-f", "json", stdin="\n".join(map(json.dumps, documents)))
    return name


def by_partition(cli: Cli, topic: str, *options: str) -> list[str]:
    """Return the records of each partition, in order."""
    return [cli("consume", topic, "-p", str(number), *SHOWN, *options) for number in range(3)]


def break_off_in_the_second_transaction(patch: pytest.MonkeyPatch) -> None:
    """Make `kafka copy` commit each record, and fail at the second one. The first commit stores the start."""
    commit, calls = KafkaProducer.commit_transaction, []

    def commit_once(producer: KafkaProducer[Any, Any]) -> None:
        calls.append(1)
        if len(calls) == 3:
            raise KafkaTimeoutError("the second transaction")
        commit(producer)

    patch.setattr("kafka.cli.copy._TRANSACTION_RECORDS", 1)
    patch.setattr(KafkaProducer, "commit_transaction", commit_once)


def tell_no_ids(patch: pytest.MonkeyPatch) -> None:
    """Make brokers report no topic ids, like brokers before 2.8."""
    describe = KafkaAdminClient.describe_topics
    patch.setattr(
        KafkaAdminClient,
        "describe_topics",
        lambda admin, names: [{**each, "topic_id": None} for each in describe(admin, names)],
    )


def test_a_copy_preserves_partitions_order_keys_headers_and_timestamps(cli: Cli, source: str) -> None:
    told = cli.json("copy", source, f"{source}-copy")
    assert told["records"] == 20
    assert by_partition(cli, f"{source}-copy") == by_partition(cli, source)


@pytest.mark.slow
def test_a_copy_resumes(cli: Cli, source: str) -> None:
    target = f"{source}-copy"
    assert cli.json("copy", source, target, "--to", "2")["records"] < 20
    cli("produce", source, "-p", "1", stdin="more\n")
    plan = cli.json("copy", source, target, "--dry-run")
    rest = cli.json("copy", source, target)["records"]
    assert rest == sum(each["offsets"] for each in plan) > 0
    assert by_partition(cli, target) == by_partition(cli, source)
    assert cli.json("copy", source, target)["records"] == 0
    assert cli.json("copy", source, target, "--restart")["records"] == 21


@pytest.mark.slow
def test_an_interrupted_copy_leaves_no_duplicates(
    cli: Cli, source: str, broker: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = f"{source}-copy"
    break_off_in_the_second_transaction(monkeypatch)
    assert cli.run("copy", source, target).exit_code == 3
    assert 0 < len("".join(by_partition(cli, target, "--read-committed")).splitlines()) < 20
    cli("copy", source, target)
    assert by_partition(cli, target, "--read-committed") == by_partition(cli, source)


def test_a_copy_resumes_after_the_records_of_a_fenced_copy(
    cli: Cli, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = f"{source}-copy"
    from kafka.producer import KafkaProducer

    init, calls = KafkaProducer.init_transactions, []

    def init_late(producer: KafkaProducer) -> None:
        calls.append(1)
        if len(calls) == 1:
            cli("copy", source, target)
        init(producer)

    monkeypatch.setattr(KafkaProducer, "init_transactions", init_late)
    assert cli.json("copy", source, target)["records"] == 0
    assert by_partition(cli, target) == by_partition(cli, source)


@pytest.mark.parametrize(("knows_since", "at_first"), [(True, False), (False, False), (False, True)])
def test_a_copy_that_another_one_replaces_says_so(
    cli: Cli, source: str, broker: EmbeddedBroker, knows_since: bool, at_first: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit, others = KafkaProducer.commit_transaction, []

    def commit_after_another_started(producer: KafkaProducer[Any, Any]) -> None:
        if not at_first:
            commit(producer)
        if not others:
            others.append(KafkaProducer(bootstrap_servers=broker.bootstrap_servers, transactional_id="c"))
            others[0].init_transactions()
            if knows_since:
                others[0].begin_transaction()
                others[0].send(source, b"v").get(60)
        if at_first:
            commit(producer)

    monkeypatch.setattr(KafkaProducer, "commit_transaction", commit_after_another_started)
    error = cli.fails("copy", source, f"{source}-copy", "--name", "c")
    others[0].close()
    begun = "started (its current transaction began at 20" if knows_since else "probably started, and has replaced"
    assert f"another copy with the same name (transactional id c) has {begun}" in error
    assert "Let it run, or stop it and start this copy again." in error
    assert ("this one was paused during a transaction for longer than transaction_timeout_ms" in error) != knows_since


@pytest.mark.slow
@pytest.mark.parametrize("follows", [False, True])
@pytest.mark.parametrize("partitions", [1, 3, 5])
def test_a_copy_ends_if_its_target_is_recreated_and_then_starts_over(
    cli: Cli, source: str, partitions: int, follows: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = f"{source}-copy"
    commit, calls = KafkaProducer.commit_transaction, []

    def commit_and_make_anew(producer: KafkaProducer[Any, Any]) -> None:
        commit(producer)
        calls.append(1)
        if len(calls) == 2:  # the first transaction has no records
            cli("topics", "delete", target, "-y")
            cli("topics", "create", target, "-p", str(partitions))

    with monkeypatch.context() as patch:
        patch.setattr("kafka.cli.copy._TRANSACTION_RECORDS", 1)
        patch.setattr(KafkaProducer, "commit_transaction", commit_and_make_anew)
        more = ["--follow"] if follows else []
        assert f"{target} was deleted and recreated" in cli.fails("copy", source, target, *more)
    if partitions == 1:
        assert "has 1 partitions" in cli.fails("copy", source, target)
        cli("topics", "alter", target, "-p", "3")
    assert cli.json("copy", source, target)["records"] == 20
    assert by_partition(cli, target, "--read-committed") == by_partition(cli, source)


@pytest.mark.slow
@pytest.mark.parametrize("records", [2, 30])
def test_a_recreated_source_is_detected(cli: Cli, topic: MakeTopic, records: int) -> None:
    source = topic()
    cli("produce", source, stdin="old\n" * 9)
    assert cli.json("copy", source, f"{source}-copy")["records"] == 9
    cli("topics", "delete", source, "-y")
    cli("topics", "create", source)
    cli("produce", source, stdin="new\n" * records)
    assert "--restart copies all of it" in cli.fails("copy", source, f"{source}-copy")
    assert cli.json("copy", source, f"{source}-copy", "--restart")["records"] == records
    assert cli.json("copy", source, f"{source}-copy")["records"] == 0


def test_a_recreated_source_is_detected_even_if_nothing_was_copied(cli: Cli, topic: MakeTopic) -> None:
    source = topic()
    cli("produce", source, stdin="old\n" * 9)
    assert cli.json("copy", source, f"{source}-copy", "--from", "latest")["records"] == 0
    cli("topics", "delete", source, "-y")
    cli("topics", "create", source)
    cli("produce", source, stdin="new\n" * 30)
    assert "--restart copies all of it" in cli.fails("copy", source, f"{source}-copy")


def test_a_source_that_lost_records_is_rejected_without_topic_ids(
    cli: Cli, topic: MakeTopic, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell_no_ids(monkeypatch)
    source = topic()
    cli("produce", source, stdin="old\n" * 9)
    cli("copy", source, f"{source}-copy")
    cli("topics", "delete", source, "-y")
    cli("topics", "create", source)
    cli("produce", source, stdin="new\n" * 2)
    assert "its offsets are now 0 to 2" in cli.fails("copy", source, f"{source}-copy")


def test_a_copy_does_not_resume_if_the_sources_offsets_are_unknown(
    cli: Cli, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("copy", source, f"{source}-copy")
    monkeypatch.setattr(
        "kafka.cli.topic_ranges.offsets_at",
        lambda admin, partitions, edge: dict.fromkeys(partitions, LeaderNotAvailableError("nobody leads it")),
    )
    assert "nobody leads it" in cli.fails("copy", source, f"{source}-copy")


@pytest.mark.slow
def test_a_copy_resumes_if_the_sources_id_is_or_was_unknown(
    cli: Cli, topic: MakeTopic, broker: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = topic()
    cli("produce", source, stdin="a\n")
    copy = ("copy", source, f"{source}-copy", "--name", f"copy of {source}")
    assert cli.json(*copy)["records"] == 1
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
        copied = {TopicPartition(f"{source}-copy", 0): OffsetAndMetadata(1, "", None)}
        admin.alter_group_offsets(f"copy of {source}", copied)
    cli("produce", source, stdin="b\n")
    assert cli.json(*copy)["records"] == 1
    tell_no_ids(monkeypatch)
    cli("produce", source, stdin="c\n")
    assert cli.json(*copy)["records"] == 1


@pytest.mark.slow
def test_records_deleted_before_they_were_copied_are_reported(cli: Cli, topic: MakeTopic) -> None:
    source = topic()
    cli("produce", source, stdin="v\n" * 9)
    assert cli.json("copy", source, f"{source}-copy", "--to", "3")["records"] == 3
    cli("offsets", "trim", source, "--before", "6", "-y")
    told = cli.run("copy", source, f"{source}-copy")
    assert f"{source}:0: offsets 3 to 6 were deleted before they were copied" in told.stderr
    assert "3 records copied" in told.stderr
    cli("offsets", "trim", source, "--before", "9", "-y")
    cli("produce", source, stdin="v\n")
    told = cli.run("copy", source, f"{source}-copy")
    assert "deleted" not in told.stderr
    assert "1 records copied" in told.stderr


@pytest.mark.slow
def test_copies_to_different_targets_run_concurrently(cli: Cli, source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = f"{source}-copy", f"{source}-other"
    commit, calls = KafkaProducer.commit_transaction, []

    def commit_late(producer: KafkaProducer[Any, Any]) -> None:
        calls.append(1)
        if len(calls) == 1:
            cli("copy", source, second)
        commit(producer)

    monkeypatch.setattr(KafkaProducer, "commit_transaction", commit_late)
    cli("copy", source, first)
    assert by_partition(cli, first) == by_partition(cli, second) == by_partition(cli, source)


def test_a_copy_to_another_topic_starts_over_even_under_the_same_name(cli: Cli, source: str) -> None:
    for target in (f"{source}-copy", f"{source}-other"):
        assert cli.json("copy", source, target, "--name", f"copies of {source}")["records"] == 20


def test_copies_whose_concatenated_names_are_equal_run_concurrently(
    cli: Cli, topic: MakeTopic, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = topic()
    second = f"{first}.eu"
    cli("topics", "create", second)
    cli("produce", first, stdin="a\n")
    cli("produce", second, stdin="b\n")
    commit, calls = KafkaProducer.commit_transaction, []

    def commit_late(producer: KafkaProducer[Any, Any]) -> None:
        calls.append(1)
        if len(calls) == 1:
            cli("copy", second, "copy")
        commit(producer)

    monkeypatch.setattr(KafkaProducer, "commit_transaction", commit_late)
    cli("copy", first, "eu.copy")
    assert (cli("consume", "eu.copy"), cli("consume", "copy")) == ("a\n", "b\n")


@pytest.mark.slow
def test_an_interrupted_restart_resumes_as_a_restart(cli: Cli, source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    target = f"{source}-copy"
    cli("copy", source, target)
    with monkeypatch.context() as patch:
        break_off_in_the_second_transaction(patch)
        assert cli.run("copy", source, target, "--restart").exit_code == 3
    cli("copy", source, target)
    copied = by_partition(cli, target, "--read-committed")
    assert copied == [2 * each for each in by_partition(cli, source)]


def test_an_empty_copy_stores_its_start(cli: Cli, source: str) -> None:
    target = f"{source}-copy"
    assert cli.json("copy", source, target, "--from", "latest")["records"] == 0
    cli("produce", source, stdin="v\n" * 3)
    assert cli.json("copy", source, target, "--from", "latest")["records"] == 3


def test_a_restart_counts_even_if_the_recreated_topic_is_empty(cli: Cli, topic: MakeTopic) -> None:
    source = topic()
    cli("produce", source, stdin="old\n" * 9)
    cli("copy", source, f"{source}-copy")
    cli("topics", "delete", source, "-y")
    cli("topics", "create", source)
    assert cli.json("copy", source, f"{source}-copy", "--restart")["records"] == 0
    cli("produce", source, stdin="new\n" * 2)
    assert cli.json("copy", source, f"{source}-copy")["records"] == 2


@pytest.mark.slow
def test_an_interrupted_following_copy_has_committed_its_records(
    cli: Cli, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kafka.cli.consume import source as reading

    def poll_until_all_came(consumer: KafkaConsumer[Any, Any], *_: object) -> Iterator[Any]:
        came = 0
        for wanted in (20, 21):
            while came < wanted:
                for columns in consumer.poll_columns(timeout_ms=100).values():
                    came += len(columns)
                    yield columns
            if wanted == 20:
                cli("produce", source, "-p", "2", stdin="late\n")
        raise KeyboardInterrupt

    monkeypatch.setattr(reading, "_poll", poll_until_all_came)
    assert cli.run("copy", source, f"{source}-copy", "--follow").exit_code == 130
    assert by_partition(cli, f"{source}-copy", "--read-committed") == by_partition(cli, source)


@pytest.mark.slow
@pytest.mark.parametrize("partitions", [1, 3, 4])
def test_a_following_copy_ends_if_its_source_is_recreated(
    cli: Cli, source: str, monkeypatch: pytest.MonkeyPatch, partitions: int, caplog: pytest.LogCaptureFixture
) -> None:
    from kafka.cli.consume import source as reading

    original = reading._poll

    def make_anew_when_all_came(consumer: KafkaConsumer[Any, Any], *args: Any) -> Iterator[Any]:
        came = 0
        for columns in original(consumer, *args):
            came += len(columns)
            yield columns
            if came == 20:
                cli("topics", "delete", source, "-y")
                cli("topics", "create", source, "-p", str(partitions))
                cli("produce", source, stdin="new\n" * 30)

    monkeypatch.setattr(reading, "_poll", make_anew_when_all_came)
    quick = ("-X", "metadata_max_age_ms=100", "-X", "allow_auto_create_topics=false")
    told = cli.fails("copy", source, f"{source}-copy", "--follow", *quick)
    assert "continues" not in caplog.text
    assert f"{source} was deleted and recreated during the copy" in told
    assert "--restart" in told
    copied = by_partition(cli, f"{source}-copy", "--read-committed")
    assert sum(lines.count("\n") for lines in copied) == 20


def test_a_copy_to_another_cluster(cli: Cli, source: str, elsewhere: EmbeddedBroker) -> None:
    cli("copy", source, source, "--to-bootstrap-servers", elsewhere.bootstrap_servers)
    there = Cli(elsewhere.bootstrap_servers, "/no/such")
    assert by_partition(there, source) == by_partition(cli, source)


@pytest.mark.slow
def test_records_without_key_and_value_are_copied(cli: Cli, topic: MakeTopic, broker: EmbeddedBroker) -> None:
    name = topic(3)
    headers = [{"key": "h", "value": b"1"}, {"key": "h", "value": None}]
    rows = {
        "partition": [1, 1, 1, 2],
        "timestamp": [101, 102, 103, 104],
        "value": [b"a", None, b"c", None],
        "headers": [[], headers, [], []],
    }
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        producer.send_arrow(name, rows)
    assert cli.json("copy", name, f"{name}-copy")["records"] == 4
    assert by_partition(cli, f"{name}-copy") == by_partition(cli, name)
    whole = cli("consume", name, "-f", "json").replace(name, f"{name}-copy")
    assert sorted(cli("consume", f"{name}-copy", "-f", "json").splitlines()) == sorted(whole.splitlines())


def test_a_copy_reports_its_duration(cli: Cli, source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Clock:
        now = 5.0

        def monotonic(self) -> float:
            self.now += 0.0123456
            return self.now

    clock = Clock()
    monkeypatch.setattr("kafka.cli.copy.time", clock)
    told = cli.json("copy", source, f"{source}-copy")
    seconds = clock.now - 5.0123456
    assert told["seconds"] == round(seconds, 3) != round(seconds, 4)


def test_impossible_copies_are_rejected(cli: Cli, source: str, topic: MakeTopic) -> None:
    small = topic(1, "-small")
    assert f"kafka topics alter {small} -p 3" in cli.fails("copy", source, small)
    told = cli.fails("copy", source, source, status=2)
    assert "to itself: name another topic, or another cluster with --to-bootstrap-servers" in told
    assert "an empty one" in cli.fails("copy", source, "", status=2)
    assert "an empty one" in cli.fails("copy", "", source, status=2)
    assert "an offset up to" in cli.fails("copy", source, "x", "--from", str(2**63), status=2)
    assert "never ends" in cli.fails("copy", source, "x", "--follow", "--to", "3", status=2)
    assert "no topic 'nowhere'" in cli.fails("copy", "nowhere", "x")
    assert "use --name" in cli.fails("copy", source, "x", "-X", "transactional_id=t", status=2)
    assert "'no/name' is not a topic name" in cli.fails("copy", source, "no/name", status=2)


def test_perf_measures_producer_consumer_and_round_trips(cli: Cli, topic: MakeTopic) -> None:
    name = topic()
    produced = cli.json("perf", "produce", name, "-n", "100", "-s", "50", "--key-size", "4", "--random", "-z", "lz4")
    assert (produced["records"], produced["bytes"]) == (100, 5400)
    contradiction = ("-X", "acks=1", "-X", "enable_idempotence=true")
    assert "acks" in cli.fails("perf", "produce", name, "-n", "1", *contradiction, status=2)
    for how in ("--objects", "--columns"):
        assert cli.json("perf", "consume", name, how)["records"] == 100
    trips = cli.json("perf", "round-trip", name, "-n", "5")
    assert 0 < trips["p50_ms"] <= trips["p99_ms"] <= trips["max_ms"]
    assert "no topic 'nowhere'" in cli.fails("perf", "round-trip", "nowhere", "-X", "allow_auto_create_topics=false")
