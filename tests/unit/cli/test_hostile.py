"""Errors of users, files and other programs: a one-line message and the documented exit status."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from types import SimpleNamespace

import click
import pytest

from kafka.cli.common_options import ask_password, confirm
from kafka.cli.failures import exit_status
from unit.cli.cli_support import Cli

pytestmark = pytest.mark.once
MakeTopic = Callable[..., str]
NOWHERE = ("-b", "127.0.0.1:1", "-X", "bootstrap_timeout_ms=1")


def test_arguments_keep_their_bytes(cli: Cli, topic: MakeTopic) -> None:
    name, odd = topic(), "\udcff"  # Python's form of an argument that is not UTF-8
    cli("produce", name, "-k", f"k{odd}", "-H", f"h={odd}", stdin=b"a\xff\nb\n")
    found = cli.run("consume", name, "--key", f"k{odd}", "--header", f"h={odd}", "--grep", f"a{odd}", "-K", f"{odd}")
    assert found.stdout_bytes == b"k\xff\xffa\xff\n", found.stderr
    assert cli.run("consume", name, "-n", "1", "-f", f"{odd}%s").stdout_bytes == b"\xffa\xff"


def test_names_with_control_characters_are_escaped(cli: Cli, topic: MakeTopic) -> None:
    name = topic()
    group = f"{name}\x1b[31m\x9b2J\x07\r\u202e"
    cli("groups", "set-offsets", group, "-o", f"{name}:0:0")
    shown = f"{name}\\x1b[31m\\x9b2J\\x07\\r\\u202e"
    assert shown in cli("groups", "list")
    assert {row["group"] for row in cli.json("groups", "list")} >= {group}
    assert not {"\x1b", "\x9b", "\x07"} & set(cli.fails("groups", "describe", group + "-not"))


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
def test_wrong_use_is_detected_before_connecting(cli: Cli, command: str) -> None:
    cli.fails(*NOWHERE, *command.split(), status=2)


def test_failed_creations_are_reported_immediately(cli: Cli, topic: MakeTopic) -> None:
    assert "InvalidPartitionsError" in cli.fails("topics", "create", "none-at-all", "-p", "0")
    assert "no.such.config" in cli.fails("topics", "create", "odd", "-c", "no.such.config=1")
    told = cli.run("topics", "create", "good", topic())
    assert (told.exit_code, told.stdout) == (1, "good: created\n"), told.stderr
    assert "TopicAlreadyExistsError" in told.stderr


def test_a_missing_topic_has_no_partitions_to_describe(cli: Cli, topic: MakeTopic) -> None:
    assert "'nowhere'" in cli.fails("partitions", "describe", topic(), "nowhere")


def test_invalid_partition_counts_name_the_expected_form(cli: Cli) -> None:
    assert "expected TOPIC:COUNT" in cli.fails("partitions", "create", "x:y", status=2)


@pytest.mark.parametrize("form", ["jsonn", "nonsense", ""])
def test_an_unknown_format_is_not_text(cli: Cli, topic: MakeTopic, form: str) -> None:
    said = cli.fails("consume", topic(), "-f", form, status=2)
    assert f"got {form!r}" in said
    assert ("did you mean 'json'?" in said) == (form == "jsonn")


def test_a_file_that_cannot_be_opened_is_an_error(cli: Cli, topic: MakeTopic) -> None:
    told = cli.run("consume", topic(), "-o", "/no/such/file")
    assert (told.exit_code, told.stderr.count("Error: ")) == (2, 1), told.stderr


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_a_damaged_file_is_wrong_use(cli: Cli, topic: MakeTopic, form: str) -> None:
    told = cli.run("produce", topic(), "-f", form, stdin=b"\xffno such file\n")
    assert told.exit_code == 2, told.stderr
    assert f"not a {form} file" in told.stderr


def test_a_password_must_be_text(cli: Cli) -> None:
    told = cli.run("users", "set", "bob", stdin=b"\xff\n")
    assert told.exit_code == 2, told.stderr
    assert "the password is not valid text" in told.stderr
    assert "xff" not in told.stderr


def refuses_bytes(*_: object, **__: object) -> str:
    """Behave like Click for typed bytes that are not UTF-8."""
    return b"\xff".decode()


def gives_no_text(*_: object, **__: object) -> str:
    """Return such bytes as decoded in a locale with a character for each."""
    return "\udcff"


@pytest.mark.parametrize("prompt", [refuses_bytes, gives_no_text])
def test_a_typed_password_must_be_text(monkeypatch: pytest.MonkeyPatch, prompt: Callable[..., str]) -> None:
    monkeypatch.setattr(click, "prompt", prompt)
    with pytest.raises(click.UsageError, match="the password is not valid text"):
        ask_password("Password")


def test_an_answer_that_is_not_text_does_not_confirm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(click, "confirm", refuses_bytes)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: True))
    with pytest.raises(click.Abort) as raised:
        confirm("Delete all?", yes=False)
    assert exit_status(raised.value) == 1


def in_a_process(cli: Cli, *arguments: str, stdin: bytes = b"", **env: str) -> "subprocess.CompletedProcess[bytes]":
    """Run a command in its own process, with real standard streams and a locale."""
    command = [sys.executable, "-m", "kafka_columnar", "-b", cli.bootstrap_servers, *arguments]
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(("LC_", "PYTHONIO", "KAFKA_B"))
    }
    return subprocess.run(command, input=stdin, env={**inherited, **env}, capture_output=True, check=False)


ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0"}
needs_locales = pytest.mark.skipif(sys.platform == "win32", reason="has no such locale")


@pytest.mark.slow
@needs_locales
def test_every_name_is_accepted_in_an_ascii_locale(cli: Cli, topic: MakeTopic) -> None:
    name, group = topic(), "gr\xfcppe-\u65e5\u672c"
    assert in_a_process(cli, "groups", "set-offsets", group, "-o", f"{name}:0:0", **ASCII).stderr == b""
    assert [row["group"] for row in cli.json("groups", "list") if row["group"] == group] == [group]


@pytest.mark.slow
@needs_locales
def test_invalid_password_bytes_are_rejected_in_the_c_locale(cli: Cli) -> None:
    told = in_a_process(cli, "users", "set", "bob", stdin=b"\xff\n", LC_ALL="C")
    assert told.returncode == 2
    assert b"the password is not valid text" in told.stderr


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "ascii"])
def test_names_outside_the_output_encoding_are_escaped(cli: Cli, topic: MakeTopic, encoding: str) -> None:
    name, group = topic(), f"\u65e5-{encoding}-\U0001f600"
    cli("groups", "set-offsets", group, "-o", f"{name}:0:0")
    listed = in_a_process(cli, "groups", "list", PYTHONIOENCODING=encoding)
    assert listed.returncode == 0, listed.stderr
    shown = group if encoding == "ascii" else f"\\u65e5-{encoding}-\\U0001f600"  # Click treats ASCII as UTF-8
    assert shown.encode() in listed.stdout
    as_json = in_a_process(cli, "groups", "list", "--json", PYTHONIOENCODING=encoding)
    assert group in [row["group"] for row in json.loads(as_json.stdout)]


@pytest.mark.parametrize(
    "command",
    [
        "configs describe broker 99",
        "configs alter broker 99 a=1 --dry-run",
        "configs reset broker 99 a",
        "cluster log-dirs --broker 99",
        "cluster api-versions --broker 99",
        "transactions list --broker-id 99",
        "transactions hanging --broker-id 99",
    ],
)
def test_an_unknown_broker_fails_without_waiting(cli: Cli, command: str) -> None:
    assert "the cluster has no broker 99; it has 1" in cli.fails(*command.split())
