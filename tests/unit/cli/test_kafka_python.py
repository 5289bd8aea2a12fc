"""Invocations that kafka-python 3's command line accepts, run with this command line."""

import subprocess
import sys

import pytest

from unit.cli.cli_support import Cli

pytestmark = pytest.mark.once

SERVED = """
    cluster describe
    cluster api-versions -k Fetch --raw
    cluster api-versions --api-key Fetch
    cluster describe-features
    cluster describe-features -f group.version
    cluster describe-features --feature group.version
    cluster describe-log-dirs --broker 1 --topic T
    configs describe -r topic -n T
    configs describe --resource-type topic --resource-name T -c retention.ms --dynamic
    configs describe -r topic -n T --modified
    configs describe -r topic -n T --static
    configs describe -r topic -n T --default
    configs alter -r topic -n T -c retention.ms=777 -v
    configs alter -r topic -n T -c retention.ms=777 --validate-only --allow-unknown
    configs alter -r topic -n T -c retention.ms=set(777)
    configs alter -r topic -n T -c cleanup.policy=add(compact)
    configs alter -r topic -n T -c cleanup.policy=sub(compact)
    configs alter -r topic -n T -c retention.ms=del() --force-incremental
    configs alter -r topic -n T -c retention.ms=777 --force-alter
    configs reset -r topic -n T -c retention.ms -v
    configs reset -r topic -n T -c retention.ms --allow-unknown
    configs list
    configs list -r topic --resource-type broker
    groups list --state Empty --type classic
    groups describe -g G
    groups describe --group-id G
    groups list-offsets -g G
    groups alter-offsets -g G -o T:0:0 --group-coordinator-id 1
    groups reset-offsets -g G -s earliest
    groups reset-offsets -g G --spec latest -p T:0
    groups reset-offsets -g G --spec 1700000000000
    groups reset-offsets -g G --to-offset 1
    groups reset-offsets -g G --shift-by -1
    groups reset-offsets -g G --by-duration P7D
    groups reset-offsets -g G --to-datetime 2026-01-01T00:00:00
    groups reset-offsets -g G --to-current
    groups remove-members -g G --reason y --group-coordinator-id 1
    groups delete-offsets -g G -p T:0 --group-coordinator-id 1
    groups delete --group-id G
    partitions create -p T:2 --timeout-ms 1000 --validate-only
    partitions describe -t T --response-partition-limit 5 --cursor-topic T --cursor-partition 0
    partitions list-offsets -t T -s earliest
    partitions list-offsets --topic T --spec 1700000000000
    partitions delete-records -r T:0:1 --timeout-ms 1000 --partition-leader-id 1
    partitions delete-records --record T:0:-1
    topics list
    topics describe
    topics describe -t T
    topics create -t N --num-partitions 2 --replication-factor 1
    topics delete -t N
    transactions list
    transactions list --state Ongoing --producer-id 1 --broker-id 1
    transactions find-hanging --broker-id 1 --max-transaction-timeout-ms 1000
    transactions abort -t T -p 0 --producer-id 1 --producer-epoch 0 --coordinator-epoch -1
    users describe-scram-credentials --user u
    users alter-scram-credentials --upsert u:SCRAM-SHA-256:pw --iterations 4096
    users alter-scram-credentials --delete u:SCRAM-SHA-256
"""
UNKNOWN_TO_THE_EMBEDDED_BROKER = """
    acls describe --principal User:a --host h --operation read --permission-type allow --resource-type topic
    acls create --principal User:a --host * --operation read --resource-type topic --resource-name x
    acls delete --principal User:a --resource-name x --pattern-type any
    cluster describe-quorum
    cluster update-features -f x=1 --downgrade --unsafe --timeout 5 --validate-only
    partitions list-reassignments -p T:0 --timeout-ms 1000
    partitions alter-reassignments -r T:0=1 --timeout-ms 1000
    partitions alter-reassignments --reassign T:0=cancel
    partitions elect-leaders --election-type preferred -p T:0 --timeout-ms 1000 --no-raise-errors
    partitions elect-leaders -t T
"""


def invocations(table: str) -> list[str]:
    return [line.strip() for line in table.strip().splitlines()]


@pytest.fixture
def words(cli: Cli) -> dict[str, str]:
    """A topic with a record, and a group that has read it; returns the names for the table."""
    cli("produce", "kafka-python", "-k", "key", stdin="record\n")  # with a key, because the topic may be compacted
    cli("groups", "set-offsets", "kafka-python", "-o", "kafka-python:0:1")
    return {"T": "kafka-python", "G": "kafka-python", "N": "kafka-python-new"}


def arguments(line: str, words: dict[str, str]) -> list[str]:
    return [words.get(word) or (words["T"] + word[1:] if word.startswith("T:") else word) for word in line.split()]


@pytest.mark.parametrize("line", invocations(SERVED))
def test_invocations_behave_as_in_kafka_python(cli: Cli, words: dict[str, str], line: str) -> None:
    if line.startswith("topics delete"):
        cli.run("topics", "create", words["N"])
    if "--delete u:" in line:
        cli.run("users", "alter-scram-credentials", "--upsert", "u:SCRAM-SHA-256:pw")
    cli.json("--format", "json", *arguments(line, words))
    cli.run("topics", "delete", words["N"])


@pytest.mark.parametrize("line", invocations(UNKNOWN_TO_THE_EMBEDDED_BROKER))
def test_invocations_are_accepted(cli: Cli, words: dict[str, str], line: str) -> None:
    assert "UnsupportedVersionError" in cli.fails(*arguments(line, words))


def test_the_timeout_applies_to_requests(cli: Cli, words: dict[str, str]) -> None:
    said = cli.fails("partitions", "create", "-p", f"{words['T']}:2", "--timeout-ms", "0", status=2)
    assert "'request_timeout_ms'" in said


def test_a_number_is_a_time_when_listing_offsets(cli: Cli, words: dict[str, str]) -> None:
    [row] = cli.json("partitions", "list-offsets", "-t", words["T"], "-s", "0")
    assert row["at"] == row["earliest"]
    [row] = cli.json("partitions", "list-offsets", "-t", words["T"], "-s", "9999999999999")
    assert row["at"] == row["latest"]


def test_a_configuration_is_replaced_only_by_plain_values(cli: Cli, words: dict[str, str]) -> None:
    alter = ("configs", "alter", "-r", "topic", "-n", words["T"], "--force-alter")
    cli("configs", "alter", "topic", words["T"], "retention.ms=777", "segment.bytes=9999999")
    cli(*alter, "-c", "retention.ms=888")
    changed = cli.json("configs", "describe", "topic", words["T"])
    assert {row["config"]: row["value"] for row in changed} == {"retention.ms": "888"}
    assert "only NAME=VALUE is allowed" in cli.fails(*alter, "-c", "cleanup.policy=add(compact)", status=2)


def test_pages_of_partitions_start_at_the_cursor(cli: Cli) -> None:
    for name in ("pages-a", "pages-b"):
        cli("topics", "create", name, "-p", "2")
    cursor = ("--cursor-topic", "pages-a", "--cursor-partition", "1")
    rows = cli.json("partitions", "describe", "-t", "pages-a", "-t", "pages-b", *cursor)
    assert [(row["topic"], row["partition"]) for row in rows] == [("pages-a", 1), ("pages-b", 0), ("pages-b", 1)]
    assert "must be given together" in cli.fails("partitions", "describe", "pages-a", "--cursor-topic", "x", status=2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("way", "usage"),
    [
        (["kafka"], "kafka [OPTIONS] COMMAND"),
        (["kafka", "admin"], "kafka [OPTIONS] COMMAND"),
        (["kafka", "consumer"], "kafka consume [OPTIONS]"),
        (["kafka", "producer"], "kafka produce [OPTIONS]"),
        (["kafka.admin"], "kafka [OPTIONS] COMMAND"),
        (["kafka.consumer"], "kafka consume [OPTIONS]"),
        (["kafka.producer"], "kafka produce [OPTIONS]"),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else "",
)
def test_modules_are_commands(way: list[str], usage: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *way, "--help"], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.startswith(f"Usage: {usage}"), done.stdout[:100]
