"""Positions in logs: limited to the log's range."""

import time
from collections.abc import Callable

import click
import pytest

from kafka.cli.position_syntax import parse_position
from kafka.cli.topic_ranges import triple
from kafka.structs import TopicPartition
from unit.cli.cli_support import Cli

pytestmark = pytest.mark.once


@pytest.fixture
def trimmed(cli: Cli, topic: Callable[..., str]) -> str:
    """A topic whose partition has offsets 2 to 4, with timestamps 1002 to 1004."""
    name = topic()
    cli("produce", name, "-f", "json", stdin="".join(f'{{"value": "v", "timestamp": {1000 + n}}}\n' for n in range(5)))
    cli("offsets", "trim", name, "--before", "2", "-y")
    return name


@pytest.mark.parametrize(
    ("at", "offset"),
    [
        ("earliest", 2),
        ("latest", 5),
        ("0", 2),
        ("3", 3),
        ("5", 5),
        ("99", 5),
        ("@0", 2),
        ("@1003", 3),
        ("@9999999999999", 5),
    ],
)
def test_valid_positions(cli: Cli, trimmed: str, at: str, offset: int) -> None:
    assert cli.json("offsets", "list", trimmed, "--at", at) == [
        {"topic": trimmed, "partition": 0, "earliest": 2, "latest": 5, "at": offset}
    ]


@pytest.mark.parametrize(
    ("at", "said"),
    [
        ("99999999d", "within the calendar"),
        ("0001-01-01", "within the calendar"),
        ("@99999999999999999999", "within the calendar"),
        ("99999999999d", "a shorter duration"),
        ("9223372036854775808", "an offset up to"),
        ("9" * 5000, "an offset up to"),
        ("soon", "a duration ago"),
        ("1969-12-31T23:59:59.999Z", "a time since 1970"),
        ("40000d", "a time since 1970"),
    ],
)
def test_impossible_positions_are_wrong_use(
    cli: Cli, topic: Callable[..., str], monkeypatch: pytest.MonkeyPatch, at: str, said: str
) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert said in cli.fails("offsets", "list", topic(), "--at", at, status=2)
    finally:
        monkeypatch.undo()
        time.tzset()


def test_leading_zeros_of_an_offset_are_ignored() -> None:
    assert [parse_position(text) for text in ("0", "007", "0" * 5000)] == [0, 7, 0]


def test_the_largest_offset_is_accepted() -> None:
    assert parse_position(str(2**63 - 1)) == 2**63 - 1


@pytest.mark.parametrize(("text", "offset"), [("a:0:5", 5), ("a:0:-1", -1)])
def test_an_offset_of_a_partition_has_three_parts(text: str, offset: int) -> None:
    assert triple(text) == (TopicPartition("a", 0), offset)


@pytest.mark.parametrize("text", ["", "a", "a:0", "a:0:", "a:0:x", "a:0:--1", "a:x:1", ":0:1", "a:b:0:1", "a:0:1:1"])
def test_invalid_offsets_of_partitions_are_rejected(text: str) -> None:
    with pytest.raises(click.UsageError, match="expected TOPIC:PARTITION"):
        triple(text)
