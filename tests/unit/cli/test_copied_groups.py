"""`kafka copy --groups`: groups continue on a copy without losing records."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.broker import EmbeddedBroker
from kafka.cli import copied_groups
from kafka.cli.copied_groups import Tail, translated
from kafka.errors import KafkaTimeoutError
from kafka.structs import OffsetAndMetadata, TopicPartition
from unit.cli.cli_support import Cli

pytestmark = pytest.mark.once
MakeTopic = Callable[..., str]


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[EmbeddedBroker]:
    """Another cluster."""
    with EmbeddedBroker(group_initial_rebalance_delay_ms=0) as embedded:
        yield embedded


def send(broker: EmbeddedBroker, topic: str, numbers: range, transactional: bool = True) -> None:
    """Send numbers to three partitions; each transaction is followed by an aborted one, so offsets have gaps."""
    own: Any = {"transactional_id": topic} if transactional else {}
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers, **own) as producer:
        if transactional:
            producer.init_transactions()
            producer.begin_transaction()
        for number in numbers:
            producer.send(topic, str(number).encode(), partition=number % 3)
        if transactional:
            producer.commit_transaction()
            producer.begin_transaction()
            for partition in range(3):
                producer.send(topic, b"aborted", partition=partition)
            producer.flush()
            producer.abort_transaction()


class Member:
    """A member of a group that commits when it is told to."""

    def __init__(self, broker: EmbeddedBroker, topic: str, group: str) -> None:
        self.consumer = KafkaConsumer(
            topic,
            bootstrap_servers=broker.bootstrap_servers,
            group_id=group,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            isolation_level="read_committed",
        )

    def read(self, count: int) -> list[int]:
        """Return the next records, exactly this number."""
        found: list[int] = []
        while len(found) < count:
            for records in self.consumer.poll(500, max_records=count - len(found)).values():
                found += [int(record.value) for record in records]
        return found

    def commit(self) -> None:
        self.consumer.commit()


def test_a_running_group_moves_without_losing_records(
    cli: Cli, topic: MakeTopic, broker: EmbeddedBroker, elsewhere: EmbeddedBroker
) -> None:
    source, group = topic(3), "movers"
    there = Cli(elsewhere.bootstrap_servers, "/no/such")
    copy = ("copy", source, source, "--to-brokers", elsewhere.bootstrap_servers, "--groups")
    send(broker, source, range(60))
    there("topics", "create", source, "-p", "3")
    for _ in range(2):
        send(elsewhere, source, range(0))  # aborted records and markers in the target, so that its offsets differ
    member = Member(broker, source, group)
    done = member.read(20)
    member.commit()
    uncommitted = member.read(10)
    assert {row["group"] for row in cli.json(*copy)["groups"]} == {group}
    done += uncommitted
    member.commit()  # while the group runs on, and the copy falls behind
    send(broker, source, range(60, 90))
    done += member.read(30)
    member.commit()
    uncommitted = member.read(7)
    member.consumer.close()
    rows = cli.json(*copy)["groups"]
    assert [row["error"] for row in rows] == [None] * 3
    moved = Member(elsewhere, source, group)
    rest = moved.read(90 - len(done))
    moved.consumer.close()
    assert sorted(done + rest) == list(range(90))
    assert set(uncommitted) <= set(rest)
    assert any(row["source"] != row["offset"] for row in rows)


def polled(
    monkeypatch: pytest.MonkeyPatch, records: int, then: Callable[[Callable[[], None]], None], end: type[BaseException]
) -> None:
    """Let a following copy read this many records, call `then` with the copy's `on_pause`, and end with an error."""

    def poll(consumer: KafkaConsumer[Any, Any], idle_s: float | None, on_pause: Callable[[], None]) -> Iterator[Any]:
        came = 0
        while came < records:
            for columns in consumer.poll_columns(timeout_ms=100).values():
                came += len(columns)
                yield columns
        then(on_pause)
        raise end()

    monkeypatch.setattr("kafka.cli.consume.source._poll", poll)


def next_records(cli: Cli, group: str, topic: str) -> list[int]:
    """Return the records that a group reads next, one for each partition."""
    with KafkaAdminClient(bootstrap_servers=cli.bootstrap_servers) as admin:
        found = admin.list_group_offsets([group])[group]
    ahead = {tp.partition: each.offset for tp, each in found.items() if tp.topic == topic}
    return [int(cli("consume", topic, "-p", str(p), "--from", str(ahead[p]), "-n", "1")) for p in sorted(ahead)]


@pytest.mark.parametrize("keep", [(), ("--keep-offsets",)], ids=["", "equal"])
def test_a_following_copy_translates_offsets_that_groups_commit_while_no_records_arrive(
    cli: Cli, topic: MakeTopic, broker: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch, keep: tuple[str, ...]
) -> None:
    source = topic(3)
    target, group = f"{source}-copy", f"late-{source}"
    send(broker, source, range(90), transactional=False)
    cli("groups", "set-offsets", group, *(f"-o{source}:{p}:4" for p in range(3)))
    monkeypatch.setattr("kafka.cli.copied_groups._INTERVAL_S", 0.0)
    monkeypatch.setattr("kafka.cli.copied_groups._SHARE_OF_TIME", 1e9)
    seen: list[list[int]] = []

    def look(on_pause: Callable[[], None]) -> None:
        for offset in (4, 17):
            cli("groups", "set-offsets", group, *(f"-o{source}:{p}:{offset}" for p in range(3)))
            on_pause()
            seen.append(next_records(cli, group, target))

    polled(monkeypatch, 90, look, KeyboardInterrupt)
    assert cli.run("copy", source, target, "--follow", "--group", group, *keep).exit_code == 130
    assert seen == [[offset * 3 + p for p in range(3)] for offset in (4, 17)]


@pytest.mark.parametrize("end", [KeyboardInterrupt, lambda: SystemExit(143)], ids=["Ctrl-C", "SIGTERM"])
def test_a_following_copy_translates_offsets_when_it_is_stopped_and_says_what_remains(
    cli: Cli, topic: MakeTopic, broker: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch, end: Any
) -> None:
    source = topic(3)
    target, group = f"{source}-copy", f"last-{source}"
    send(broker, source, range(30), transactional=False)
    cli("groups", "set-offsets", group, *(f"-o{source}:{p}:2" for p in range(3)))

    def commit(on_pause: Callable[[], None]) -> None:
        cli("groups", "set-offsets", group, *(f"-o{source}:{p}:8" for p in range(3)))
        on_pause()  # too early for the interval
        send(broker, source, range(30, 37), transactional=False)

    polled(monkeypatch, 30, commit, end)
    done = cli.run("copy", source, target, "--follow", "--group", group)
    assert done.exit_code == (130 if end is KeyboardInterrupt else 143)
    assert "stopped: up to 7 records remain; the same command continues there" in done.stderr
    assert next_records(cli, group, target) == [24, 25, 26]


def interrupted_after(monkeypatch: pytest.MonkeyPatch, target: Any, method: str, call: int) -> None:
    """Interrupt a command as soon as a method has done its work for this call of it, counted from 1."""
    original, calls = getattr(target, method), [0]

    def interrupt(self: Any, *given: Any) -> Any:
        result = original(self, *given)
        calls[0] += 1
        if calls[0] == call:
            raise KeyboardInterrupt
        return result

    monkeypatch.setattr(target, method, interrupt)


@pytest.mark.parametrize("keep", [(), ("--keep-offsets",)], ids=["", "equal"])
def test_a_group_skips_no_records_if_a_copy_is_interrupted_when_they_are_written_but_not_confirmed(
    cli: Cli, topic: MakeTopic, broker: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch, keep: tuple[str, ...]
) -> None:
    source = topic(3)
    target = f"{source}-copy"
    send(broker, source, range(30), transactional=False)
    cli("copy", source, target, *keep)
    send(broker, source, range(30, 60), transactional=False)
    cli("groups", "set-offsets", source, *(f"-o{source}:{p}:10" for p in range(3)))
    if keep:
        interrupted_after(monkeypatch, KafkaProducer, "flush", 4)  # the first one has no records
    else:
        interrupted_after(monkeypatch, KafkaProducer, "commit_transaction", 4)  # the first one has no records
    done = cli.run("copy", source, target, "--follow", "--group", source, *keep)
    assert done.exit_code == 130
    assert next_records(cli, source, target) == [30, 31, 32]


def test_a_group_skips_no_records_that_another_copy_with_the_same_name_has_written(
    cli: Cli, topic: MakeTopic, broker: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = topic(3)
    target = f"{source}-copy"
    send(broker, source, range(30), transactional=False)

    def replaced(on_pause: Callable[[], None]) -> None:
        send(broker, source, range(30, 60), transactional=False)
        done = subprocess.run(
            [sys.executable, "-m", "kafka_columnar", "copy", "-b", broker.bootstrap_servers, source, target],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        cli("groups", "set-offsets", source, *(f"-o{source}:{p}:10" for p in range(3)))
        on_pause()

    polled(monkeypatch, 30, replaced, KeyboardInterrupt)
    assert cli.run("copy", source, target, "--follow", "--group", source).exit_code == 130
    assert next_records(cli, source, target) == [30, 31, 32]


def test_records_that_an_interrupted_copy_with_equal_offsets_has_not_confirmed_remain(
    cli: Cli, topic: MakeTopic, broker: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = topic(1)
    send(broker, source, range(0, 30, 3), transactional=False)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("kafka.cli.equal_offsets.EqualOffsets.confirm", interrupted)
    told = cli.run("copy", source, f"{source}-copy", "--keep-offsets").stderr
    assert "stopped: up to 10 records remain" in told


def test_a_following_copy_that_is_stopped_at_the_end_says_that_nothing_remains(
    cli: Cli, topic: MakeTopic, broker: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = topic(3)
    send(broker, source, range(30), transactional=False)
    polled(monkeypatch, 30, lambda on_pause: on_pause(), KeyboardInterrupt)
    assert "stopped: no record remains\n" in cli.run("copy", source, f"{source}-copy", "--follow").stderr


def test_offsets_are_translated_again_only_after_a_change_and_failures_are_tried_again(
    cli: Cli, topic: MakeTopic, broker: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = topic(1)
    send(broker, source, range(0, 90, 3), transactional=False)
    cli("groups", "set-offsets", source, f"-o{source}:0:2")
    monkeypatch.setattr("kafka.cli.copied_groups._INTERVAL_S", 0.0)
    monkeypatch.setattr("kafka.cli.copied_groups._SHARE_OF_TIME", 1e9)
    original, translated_from, fails = copied_groups._translate, list[int](), [False]

    def translate(sides: Any, committed: Any, progress: Any) -> Any:
        translated_from.append(committed[source].offsets[0].offset)
        if fails[0]:
            raise KafkaTimeoutError("no response")
        return original(sides, committed, progress)

    def look(on_pause: Callable[[], None]) -> None:
        translated_from.clear()
        on_pause()
        cli("groups", "set-offsets", source, f"-o{source}:0:5")
        for each in (True, False, False, False):
            fails[0] = each
            on_pause()

    monkeypatch.setattr("kafka.cli.copied_groups._translate", translate)
    polled(monkeypatch, 30, look, KeyboardInterrupt)
    done = cli.run("copy", source, f"{source}-copy", "--follow", "--group", source)
    assert done.exit_code == 130
    assert translated_from == [5, 5]  # failed, and tried again
    assert done.stderr.count("will try again: no response") == 1


def test_groups_are_not_moved_back_and_only_named_groups_move(
    cli: Cli, topic: MakeTopic, broker: EmbeddedBroker
) -> None:
    source = topic(3)
    target = f"{source}-copy"
    send(broker, source, range(30), transactional=False)
    for group in ("slow", "fast", "other"):
        offsets = [f"{source}:{p}:{2 if group == 'slow' else 9}" for p in range(3)]
        cli("groups", "set-offsets", f"{group}-{source}", *(f"-o{each}" for each in offsets))
    rows = cli.json("copy", source, target, "--group", f"slow-{source}", "--group", f"fast-{source}")["groups"]
    assert [row["group"] for row in rows] == [f"slow-{source}"] * 3 + [f"fast-{source}"] * 3
    lags = {row["group"]: row["offset"] for row in rows}
    assert cli("consume", target, "-p", "0", "--from", str(lags[f"slow-{source}"]), "-n", "1") == "6\n"
    assert cli("consume", target, "-p", "0", "--from", str(lags[f"fast-{source}"]), "-n", "1") == "27\n"
    cli("groups", "set-offsets", f"slow-{source}", "-o", f"{target}:0:11")
    again = cli.json("copy", source, target, "--group", f"slow-{source}")["groups"]
    assert [row["offset"] for row in again if row["partition"] == 0] == [11]
    assert cli.json("groups", "lag", f"other-{source}")[0]["topic"] == source


def test_a_misspelt_group_is_an_error(cli: Cli, topic: MakeTopic) -> None:
    source = topic(1)
    cli("produce", source, stdin="a\nb\n")
    cli("groups", "set-offsets", f"couriers-{source}", "-o", f"{source}:0:1")
    result = cli.run("copy", source, f"{source}-copy", "--group", f"courier-{source}")
    assert result.exit_code == 1
    assert f"no committed offsets on {source}; did you mean 'couriers-{source}'?" in result.stderr
    assert f"nothing was translated for courier-{source}: check the names" in result.stderr
    cli("copy", source, f"{source}-copy", "--group", f"couriers-{source}")


def test_groups_with_members_on_the_target_and_foreign_records_are_reported(
    cli: Cli, topic: MakeTopic, broker: EmbeddedBroker
) -> None:
    source = topic(3)
    target, group = f"{source}-copy", f"busy-{source}"
    send(broker, source, range(9), transactional=False)
    cli("groups", "set-offsets", group, "-o", f"{source}:0:1")
    cli("copy", source, target)
    member = Member(broker, target, group)
    member.read(1)
    result = cli.run("copy", source, target, "--groups")
    member.consumer.close()
    assert result.exit_code == 1
    assert "must have no members on the target" in result.stderr
    cli("produce", target, "-p", "0", stdin="foreign\n")
    assert "others have written to it" in cli.fails("copy", source, target, "--groups")


def test_a_copy_that_starts_later_gives_its_first_record_to_groups_that_are_further_back(
    cli: Cli, topic: MakeTopic, broker: EmbeddedBroker
) -> None:
    source = topic(3)
    send(broker, source, range(30), transactional=False)
    cli("groups", "set-offsets", f"g-{source}", "-o", f"{source}:0:0", "-o", f"{source}:1:7")
    rows = cli.json("copy", source, f"{source}-copy", "--from", "5", "--groups")["groups"]
    assert rows[0]["offset"] <= 1
    assert cli("consume", f"{source}-copy", "-p", "1", "--from", str(rows[1]["offset"]), "-n", "1") == "22\n"


def tail(offsets: list[int], values: list[int]) -> Tail:
    made = Tail()
    made.offsets.extend(offsets)
    made.hashes.extend(values)
    return made


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 1)), max_size=30),
    st.integers(0, 100),
)
def test_a_translated_offset_has_the_same_records_ahead(rows: list[tuple[int, int, int]], offset: int) -> None:
    """Each row is a record, with the gaps before it on both sides."""
    source, target, values = [], [], []
    at = there = 0
    for gap, other_gap, value in rows:
        at += gap
        there += other_gap
        source.append(at)
        target.append(there)
        values.append(value)
        at += 1
        there += 1
    found = translated(offset, tail(source, values), tail(target, values), 0, there)
    assert found is not None
    assert [t for t in target if t >= found] == [t for s, t in zip(source, target, strict=True) if s >= offset]


def test_records_that_differ_are_not_translated() -> None:
    assert translated(1, tail([0, 1, 2], [5, 6, 7]), tail([0, 3, 4], [5, 6, 8]), 0, 5) is None
    assert translated(3, tail([0, 1, 2], [5, 6, 7]), tail([0, 3, 4], [5, 6, 8]), 0, 5) == 5
    assert translated(0, tail([0, 1, 2], [5, 6, 7]), tail([], []), 4, 4) == 4


def test_metadata_of_committed_offsets_is_kept(cli: Cli, topic: MakeTopic, broker: EmbeddedBroker) -> None:
    from kafka import KafkaAdminClient

    source = topic(3)
    send(broker, source, range(6), transactional=False)
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
        admin.alter_group_offsets(f"m-{source}", {TopicPartition(source, 0): OffsetAndMetadata(1, "note", None)})
        cli("copy", source, f"{source}-copy", "--groups")
        there = admin.list_group_offsets([f"m-{source}"])[f"m-{source}"]
    assert there[TopicPartition(f"{source}-copy", 0)].metadata == "note"


def test_start_offsets_of_share_groups_are_translated(
    cli: Cli, topic: MakeTopic, broker: EmbeddedBroker, elsewhere: EmbeddedBroker
) -> None:
    from kafka import KafkaAdminClient

    source, group = topic(3), "sharers"
    send(broker, source, range(30))
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
        admin.alter_share_group_offsets(group, {TopicPartition(source, 0): 4, TopicPartition(source, 2): 9})
    copy = ("copy", source, source, "--to-brokers", elsewhere.bootstrap_servers, "--group", group)
    rows = cli.json(*copy)["groups"]
    assert [(row["partition"], row["source"], row["error"]) for row in rows] == [(0, 4, None), (2, 9, None)]
    with KafkaAdminClient(bootstrap_servers=elsewhere.bootstrap_servers) as admin:
        there = admin.list_share_group_offsets([group])[group]
        assert {tp.partition: each.start_offset for tp, each in there.items()} == {
            row["partition"]: row["offset"] for row in rows
        }
        assert cli.json(*copy)["groups"] == rows, "a repeated copy changes nothing"
        admin.alter_share_group_offsets(group, {TopicPartition(source, 0): 6})
    assert cli.json(*copy)["groups"][0]["offset"] == 6, "a share group is not moved back"
