"""`kafka copy --keep-offsets`: records have the offsets of the source, or the copy stops."""

from collections.abc import Callable

import pytest

from kafka import KafkaProducer
from kafka.broker import EmbeddedBroker
from unit.cli.cli_support import Cli

pytestmark = pytest.mark.once
MakeTopic = Callable[..., str]
SHOWN = ("-f", "%p:%o:%s ")


def shown(cli: Cli, topic: str) -> list[str]:
    return sorted(cli("consume", topic, *SHOWN).split())


def test_offsets_are_kept_also_after_deleted_records_and_in_several_runs(cli: Cli, topic: MakeTopic) -> None:
    source = topic(2)
    target = f"{source}-copy"
    cli("produce", source, "-p", "0", stdin="".join(f"a{n}\n" for n in range(9)))
    cli("produce", source, "-p", "1", stdin="b0\n")
    cli("offsets", "trim", f"{source}:0", "--before", "4", "-y")
    copy = ("copy", source, target, "--keep-offsets")
    assert cli.json(*copy)["records"] == 6
    assert shown(cli, target) == shown(cli, source) == ["0:4:a4", "0:5:a5", "0:6:a6", "0:7:a7", "0:8:a8", "1:0:b0"]
    cli("produce", source, "-p", "1", stdin="b1\nb2\n")
    cli("groups", "set-offsets", f"g-{source}", "-o", f"{source}:0:6", "-o", f"{source}:1:2")
    told = cli.json(*copy, "--groups")
    assert (told["records"], [row["offset"] for row in told["groups"]]) == (2, [6, 2])
    assert shown(cli, target) == shown(cli, source)
    assert cli.json(*copy)["records"] == 0


def test_a_gap_in_the_source_stops_the_copy(cli: Cli, topic: MakeTopic, broker: EmbeddedBroker) -> None:
    source = topic(1)
    cli("produce", source, stdin="a\n")
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers, transactional_id=source) as producer:
        producer.init_transactions()
        producer.begin_transaction()
        producer.send(source, b"b")
        producer.commit_transaction()
    cli("produce", source, stdin="c\n")
    said = cli.fails("copy", source, f"{source}-copy", "--keep-offsets")
    assert f"{source}:0 has no record at offset 2" in said


def test_a_target_with_other_records_is_rejected(cli: Cli, topic: MakeTopic) -> None:
    source, target = topic(1), topic(1)
    cli("produce", source, stdin="a\nb\n")
    cli("produce", target, stdin="x\n")
    assert "requires an empty target" in cli.fails("copy", source, target, "--keep-offsets")
    other = topic(1)
    cli("produce", other, stdin="a\nb\nc\n")
    assert "requires an empty target" in cli.fails("copy", source, other, "--keep-offsets")
    assert "cannot be used with" in cli.fails("copy", source, "x", "--keep-offsets", "--from", "3", status=2)


def test_too_many_deleted_records_are_not_replaced(cli: Cli, topic: MakeTopic, monkeypatch: pytest.MonkeyPatch) -> None:
    source = topic(1)
    cli("produce", source, stdin="a\nb\nc\n")
    cli("offsets", "trim", source, "--before", "2", "-y")
    monkeypatch.setattr("kafka.cli.equal_offsets._MOST_EMPTY", 1)
    assert "starts at offset 2" in cli.fails("copy", source, f"{source}-copy", "--keep-offsets")
