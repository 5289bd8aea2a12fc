"""What users, files and other programs get wrong: a line that says so, and the documented status."""

from collections.abc import Callable

import pytest

from unit.cli.cli_support import Cli

pytestmark = pytest.mark.once
MakeTopic = Callable[..., str]
NOWHERE = ("-b", "127.0.0.1:1", "-X", "bootstrap_timeout_ms=1")


@pytest.mark.parametrize(
    "command",
    [
        "topics create",
        "topics delete -y",
        "groups describe",
        "groups delete -y",
        "offsets list",
        "partitions describe",
        "partitions create",
        "partitions moves -p x",
        "partitions elect -p x",
        "configs describe topic",
        "transactions describe",
        "perf consume",
        "consume",
        "produce",
    ],
)
def test_wrong_use_is_found_before_a_broker_is_asked(cli: Cli, command: str) -> None:
    cli.fails(*NOWHERE, *command.split(), status=2)


def test_why_a_topic_was_not_created_is_told_at_once(cli: Cli) -> None:
    assert "InvalidPartitionsError" in cli.fails("topics", "create", "none-at-all", "-p", "0")
    assert "no.such.config" in cli.fails("topics", "create", "odd", "-c", "no.such.config=1")
    told = cli.run("topics", "create", "good", "a/b")
    assert (told.exit_code, told.stdout) == (1, "good: created\n"), told.stderr
    assert "InvalidTopicError" in told.stderr


def test_a_topic_that_is_not_there_has_no_partitions_to_describe(cli: Cli, topic: MakeTopic) -> None:
    assert "'nowhere'" in cli.fails("partitions", "describe", topic(), "nowhere")


def test_so_many_partitions_are_asked_for_by_their_own_name(cli: Cli) -> None:
    assert "expected TOPIC:COUNT" in cli.fails("partitions", "create", "x:y", status=2)


@pytest.mark.parametrize("form", ["jsonn", "nonsense", ""])
def test_a_format_that_there_is_not_is_no_text(cli: Cli, topic: MakeTopic, form: str) -> None:
    said = cli.fails("consume", topic(), "-f", form, status=2)
    assert f"got {form!r}" in said
    assert ("did you mean 'json'?" in said) == (form == "jsonn")


def test_a_file_that_cannot_be_opened_has_no_records(cli: Cli, topic: MakeTopic) -> None:
    told = cli.run("consume", topic(), "-o", "/no/such/file")
    assert (told.exit_code, told.stderr.count("\n")) == (1, 1), told.stderr


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_a_damaged_file_is_wrong_use(cli: Cli, topic: MakeTopic, form: str) -> None:
    told = cli.run("produce", topic(), "-f", form, stdin=b"\xffno such file\n")
    assert told.exit_code == 2, told.stderr
    assert f"this is no {form} file" in told.stderr


def test_a_password_is_text(cli: Cli) -> None:
    told = cli.run("users", "set", "bob", stdin=b"\xff\n")
    assert told.exit_code == 2, told.stderr
    assert "expected a password of text" in told.stderr
    assert "xff" not in told.stderr
