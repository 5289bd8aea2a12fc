"""The users of `kafka broker`: sources of their passwords, which are never shown."""

from __future__ import annotations

import asyncio
import os
import platform
import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner, Result

from kafka import broker
from kafka.broker import embedded
from kafka.cli import broker as broker_command
from kafka.cli.commands import commands

RUNNER = CliRunner()


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The settings of the broker's last run."""
    settings: dict[str, Any] = {}
    monkeypatch.setattr(broker, "run", lambda **given: settings.update(given))
    return settings


def run(*arguments: str, stdin: str | None = None, **variables: str) -> Result:
    return RUNNER.invoke(commands, ["broker", *arguments], input=stdin, env=variables)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make standard input look like a terminal."""
    monkeypatch.setattr(broker_command, "sys", SimpleNamespace(stdin=SimpleNamespace(isatty=lambda: True)))


def test_without_users_clients_do_not_authenticate(ran: dict[str, Any]) -> None:
    assert run().exit_code == 0
    assert ran["users"] == {}


def test_a_started_broker_reports_its_directory_and_authentication(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Server:
        registry_url = None

        def __init__(self, *_: object) -> None:
            pass

        async def start(self) -> SimpleNamespace:
            asyncio.get_running_loop().call_soon(signal.raise_signal, signal.SIGTERM)
            return SimpleNamespace(host="h", port=1)

        async def stop(self) -> None:
            pass

    monkeypatch.setattr(embedded, "BrokerServer", Server)
    result = run()
    assert (result.exit_code, result.stdout) == (0, "kafka broker ready on h:1\n")
    assert result.stderr == "records are in a temporary folder, removed at the end (--data-dir keeps them)\n"
    result = run("--data-dir", str(tmp_path), "--user", "alice", KAFKA_BROKER_PASSWORD_ALICE="a")
    assert result.stderr == f"records are in {tmp_path}\nclients must log in: security_protocol SASL_PLAINTEXT\n"


def test_a_port_in_use_is_named() -> None:
    with broker.EmbeddedBroker() as other:
        port = other.bootstrap_servers.rpartition(":")[2]
        result = run("--port", port)
    assert result.exit_code == 1
    assert f"port {port} is in use; choose another with --port" in result.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--host", "203.0.113.1"], "--host 203.0.113.1: "),
        (["--host", "nowhere.invalid"], "--host nowhere.invalid: "),
        (["--data-dir", f"{__file__}/d"], f"--data-dir: {__file__}/d: Not a directory"),
        (["--num-partitions", "0"], "--num-partitions must be at least 1, not 0"),
        (["--node-id", "-5"], "--node-id must be an integer of at least 0, not -5"),
        (["--topic-config", "foo=bar"], "--topic-config: Unknown topic config name: foo"),
        (["--users-file", "/no/such"], "cannot read --users-file /no/such: No such file or directory"),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else "",
)
def test_invalid_broker_settings_are_named_by_their_option(options: list[str], said: str) -> None:
    result = run("--port", "0", *options)
    assert result.exit_code in (1, 2)
    assert result.stderr.splitlines()[-1].startswith(f"Error: {said}")


def test_a_directory_used_by_another_broker_is_a_plain_error(tmp_path: Path) -> None:
    with broker.EmbeddedBroker(tmp_path):
        result = run("--port", "0", "--data-dir", str(tmp_path))
    assert result.stderr == (
        f"Error: the folder {tmp_path} is in use by another broker (process {os.getpid()} on {platform.node()}): "
        "stop that broker, or use another folder\n"
    )


def test_passwords_come_from_variables(ran: dict[str, Any]) -> None:
    variables = {"KAFKA_BROKER_PASSWORD_ALICE": "a=b c", "KAFKA_BROKER_PASSWORD_BOB_THE_2ND": "p"}
    assert run("--user", "alice", "--user", "bob.the-2nd", **variables).exit_code == 0
    assert ran["users"] == {"alice": "a=b c", "bob.the-2nd": "p"}


def test_passwords_come_from_a_file(ran: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "users"
    file.write_text("# users\n\nalice=a=b \n bob =p#\n", encoding="utf-8")
    assert run("--users-file", str(file)).exit_code == 0
    assert ran["users"] == {"alice": "a=b ", "bob": "p#"}
    file.write_bytes(b"\xef\xbb\xbfalice=a\x0cb\xc2\x85c\r\nbob=p\r\n")
    assert run("--users-file", str(file)).exit_code == 0
    assert ran["users"] == {"alice": "a\x0cb\x85c", "bob": "p"}
    file.write_text("alice=a=b \nbob=p#", encoding="utf-8")
    variables = {"KAFKA_BROKER_PASSWORD_CAROL": "c", "KAFKA_BROKER_PASSWORD_BOB": "other"}
    assert (
        run("--users-file", str(file), "--user", "carol", "--user", "bob", "--user", "alice", **variables).exit_code
        == 0
    )
    assert ran["users"] == {"alice": "a=b ", "bob": "other", "carol": "c"}


@pytest.mark.usefixtures("terminal")
def test_a_terminal_prompts_for_passwords_without_showing_them(ran: dict[str, Any]) -> None:
    result = run("--user", "alice", stdin="geheim\ngeheim\n")
    assert result.exit_code == 0, result.output
    assert ran["users"] == {"alice": "geheim"}
    assert "Password of alice" in result.stderr
    assert "geheim" not in result.output


def test_without_a_password_the_broker_does_not_start(ran: dict[str, Any]) -> None:
    result = run("--user", "alice")
    assert result.exit_code == 2
    assert "no password for alice: set KAFKA_BROKER_PASSWORD_ALICE" in result.stderr
    assert ran == {}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"alice\n", "line 1 of"),
        (b"alice=geheim\nbob=\n", "line 2 of"),
        (b"=geheim\n", "line 1 of"),
        (b"# nobody\n", "contains no users"),
        (b"alice=\xff\n", "is not UTF-8 text"),
        (None, "cannot read --users-file"),
    ],
)
def test_an_invalid_users_file_is_a_one_line_error(
    ran: dict[str, Any], tmp_path: Path, content: bytes | None, said: str
) -> None:
    file = tmp_path / "users"
    if content is not None:
        file.write_bytes(content)
    result = run("--users-file", str(file))
    assert result.exit_code == 2
    assert said in result.stderr.splitlines()[-1]
    assert "geheim" not in result.output
    assert ran == {}


def test_rejected_users_are_a_one_line_error() -> None:
    result = run("--user", "", KAFKA_BROKER_PASSWORD_="x")
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1] == "Error: --user expects a name"
