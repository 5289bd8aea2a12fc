"""Places in logs as commands take them: within the log, whatever was asked for."""

from collections.abc import Callable

import click
import pytest

from kafka.cli.places import triple
from kafka.structs import TopicPartition
from unit.cli.cli_support import Cli

pytestmark = pytest.mark.once


@pytest.fixture
def trimmed(cli: Cli, topic: Callable[..., str]) -> str:
    """A topic whose partition has the offsets 2 to 4, of the milliseconds 1002 to 1004."""
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
def test_a_place_is_within_the_log(cli: Cli, trimmed: str, at: str, offset: int) -> None:
    assert cli.json("offsets", "list", trimmed, "--at", at) == [
        {"topic": trimmed, "partition": 0, "earliest": 2, "latest": 5, "at": offset}
    ]


@pytest.mark.parametrize(("text", "offset"), [("a:0:5", 5), ("a:0:-1", -1)])
def test_an_offset_in_a_partition_is_three_things(text: str, offset: int) -> None:
    assert triple(text) == (TopicPartition("a", 0), offset)


@pytest.mark.parametrize("text", ["", "a", "a:0", "a:0:", "a:0:x", "a:0:--1", "a:x:1", ":0:1", "a:b:0:1", "a:0:1:1"])
def test_anything_else_is_none(text: str) -> None:
    with pytest.raises(click.UsageError, match="expected TOPIC:PARTITION"):
        triple(text)
