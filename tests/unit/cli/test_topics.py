"""`kafka topics` on the embedded broker."""

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from unit.cli.cli_support import Cli

pytestmark = pytest.mark.once


def test_a_topic_is_created_listed_described_altered_and_deleted(cli: Cli) -> None:
    assert cli("topics", "create", "one", "-p", "2", "-c", "retention.ms=1000") == "one: created\n"
    assert "one\t2\t1\n" in cli("topics", "list")
    described = cli.json("topics", "describe", "one")[0]
    assert [each["partition"] for each in described["partitions"]] == [0, 1]
    assert described["partitions"][0]["leader"] == 1
    assert cli("topics", "alter", "one", "-p", "3", "-c", "retention.ms=2000").startswith("one: 3 partitions")
    assert "one\t3\t1\n" in cli("topics", "list")
    assert cli("topics", "delete", "one", "-y") == "one: deleted\n"
    assert "one\t" not in cli("topics", "list")


def test_existing_and_missing_topics_are_errors_unless_allowed(cli: Cli) -> None:
    cli("topics", "create", "twice")
    assert "TopicAlreadyExistsError" in cli.fails("topics", "create", "twice")
    assert cli("topics", "create", "twice", "--if-not-exists") == "twice: already exists\n"
    assert "UnknownTopicOrPartitionError" in cli.fails("topics", "delete", "-y", "never")
    assert cli("topics", "delete", "-y", "never", "--if-exists") == "never: does not exist\n"
    assert "never" in cli.fails("topics", "describe", "never")


def test_no_topic_is_created_if_a_name_is_invalid(cli: Cli) -> None:
    said = cli.fails("topics", "create", "before", "not/valid", status=2)
    assert said.startswith("Error: 'not/valid' is not a topic name: 1 to 249 characters of ")
    assert "before" not in cli("topics", "list").split()


def test_a_dry_run_creates_nothing(cli: Cli) -> None:
    assert cli("topics", "create", "dry", "--dry-run") == "dry: would be created\n"
    assert "dry" not in cli("topics", "list")


def test_sizes_match_the_records_sent(cli: Cli, topic: Callable[..., str]) -> None:
    name = topic(2)
    cli("produce", name, stdin="a\nb\nc\n")
    row = next(each for each in cli.json("topics", "list", "--sizes") if each["topic"] == name)
    assert row["offsets"] == 3
    assert row["bytes"] > 0
    parts = cli.json("topics", "describe", name)[0]["partitions"]
    assert sum(each["offsets"] for each in parts) == 3


def test_internal_topics_are_listed_on_request(cli: Cli, topic: Callable[..., str]) -> None:
    name = topic()
    cli("produce", name, stdin="a\n")
    cli("consume", name, "--group", "makes-offsets", "--idle-timeout", "0")
    assert "__consumer_offsets" not in cli("topics", "list")
    assert "__consumer_offsets" in cli("topics", "list", "--internal")


def test_topics_may_be_given_with_kafka_pythons_options(cli: Cli) -> None:
    cli("topics", "create", "-t", "theirs", "--num-partitions", "2", "--replication-factor", "1")
    assert "theirs\t2\t1\n" in cli("topics", "list")
    assert cli.json("topics", "describe", "-t", "theirs")[0]["topic"] == "theirs"


def test_topics_are_found_by_their_ids(cli: Cli) -> None:
    cli("topics", "create", "by-id")
    topic_id = cli.json("topics", "describe", "by-id")[0]["id"]
    assert cli.json("topics", "describe", "--id", topic_id)[0]["topic"] == "by-id"
    assert cli("topics", "delete", "--id", topic_id, "-y").endswith(": deleted\n")
    assert "by-id" not in cli("topics", "list")
    assert "'x'" in cli.fails("topics", "describe", "--id", "x", status=2)


def test_wrong_use_exits_with_2_and_says_what_was_expected(cli: Cli) -> None:
    assert "at least one topic" in cli.fails("topics", "create", status=2)
    assert "nothing to alter" in cli.fails("topics", "alter", "x", status=2)
    assert "NAME=VALUE" in cli.fails("topics", "create", "x", "-c", "retention.ms", status=2)


@pytest.mark.parametrize(("answer", "status", "left"), [("n\n", 1, True), ("", 1, True), ("y\n", 0, False)])
def test_a_terminal_prompts_before_records_are_lost(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, answer: str, status: int, left: bool
) -> None:
    cli("topics", "create", "asked", "--if-not-exists")
    monkeypatch.setattr("kafka.cli.common_options.sys", SimpleNamespace(stdin=SimpleNamespace(isatty=lambda: True)))
    result = cli.run("topics", "delete", "asked", stdin=answer)
    assert result.exit_code == status
    assert "Delete asked with all records?" in result.stderr
    assert ("asked" in [each["topic"] for each in cli.json("topics", "list")]) is left


@pytest.mark.parametrize(("config", "status"), [("retention.ms=soon", 1), ("no.such=1", 2), ("nonsense", 2)])
def test_a_wrong_config_adds_no_partitions(cli: Cli, topic: Callable[..., str], config: str, status: int) -> None:
    name = topic()
    cli.fails("topics", "alter", name, "-p", "3", "-c", config, status=status)
    assert cli("offsets", "list", name) == f"{name}\t0\t0\t0\n"


def test_columns_have_titles_without_a_terminal(cli: Cli, topic: Callable[..., str]) -> None:
    name = topic()
    titles, row = cli.run("topics", "describe", name).stdout.splitlines()
    assert titles.startswith("topic\tpartition\tleader\t")
    assert len(titles.split("\t")) == len(row.split("\t"))
    assert cli("--titles", "offsets", "list", name).splitlines()[0].split("\t")[:2] == ["topic", "partition"]
    assert "--titles" in cli("groups", "lag", "--help")
