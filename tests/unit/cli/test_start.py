"""Start-up: imports that short commands avoid; completion; running commands as modules."""

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from kafka.cli.commands import COMMANDS, commands
from unit.cli.cli_support import Cli

pytestmark = pytest.mark.once

HEAVY = {"pyarrow", "pyspark", "pandas", "numpy", "rich", "kafka.broker.embedded", "kafka.producer", "kafka.consumer"}
CLIENT = {*HEAVY, "kafka.admin", "kafka.net", "kafka.wire", "asyncio", "ssl", "tempfile", "pydantic", "sqlglot", "yaml"}


def loaded(*arguments: str) -> set[str]:
    """Return the modules that a command has imported."""
    code = (
        "import sys\nfrom kafka_columnar import main\n"
        "try: main()\nexcept SystemExit as end: assert not end.code\n"
        "print('\\n'.join(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        ["topics", "--help"],
        ["consume", "--help"],
        ["pipeline", "--help"],
        ["pipeline", "replay", "--help"],
        ["completion", "bash"],
        ["profiles", "list"],
        ["profiles", "set", "local", "-b", "localhost:9092"],
    ],
)
def test_these_commands_need_no_client(arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFKA_PROFILES", str(tmp_path / "profiles.toml"))
    found = loaded(*arguments)
    assert not CLIENT & found
    if arguments[:2] != ["profiles", "set"]:  # which checks the settings
        assert "kafka.config.table" not in found


@pytest.mark.slow
def test_no_help_page_needs_a_client() -> None:
    code = """
import sys
import click
from kafka.cli.commands import commands

def show(command, parent, name):
    before = set(sys.modules)
    context = click.Context(command, parent, name)
    command.get_help(context)
    print(context.command_path, *set(sys.modules) - before)
    for each in command.list_commands(context) if isinstance(command, click.Group) else ():
        show(command.get_command(context, each), context, each)

show(commands, None, "kafka")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert len(lines) > len(COMMANDS)
    assert [line for line in lines if (CLIENT - {"tempfile"}) & set(line.split())] == []


@pytest.mark.slow
def test_listing_topics_imports_only_the_admin_client(cli: Cli) -> None:
    found = loaded("-b", cli.bootstrap_servers, "topics", "list")
    assert not {*HEAVY, "kafka.admin.async_client"} & found
    assert "kafka.admin.client" in found


@pytest.mark.slow
def test_text_is_consumed_without_arrow(cli: Cli) -> None:
    cli("topics", "create", "text")
    found = loaded("-b", cli.bootstrap_servers, "consume", "text")
    assert not {"pyarrow", "pandas", "numpy", "kafka.producer", "kafka.admin"} & found


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_printed(shell: str) -> None:
    assert "_KAFKA_COMPLETE" in CliRunner().invoke(commands, ["completion", shell]).output


@pytest.mark.parametrize(
    ("words", "expected"),
    [("kafka to", "plain,topics"), ("kafka topics cr", "plain,create"), ("kafka consume --foll", "plain,--follow")],
)
def test_commands_and_options_are_completed(words: str, expected: str) -> None:
    env = {"_KAFKA_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    assert CliRunner().invoke(commands, [], env=env, prog_name="kafka").output == f"{expected}\n"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("kafka -b {} consume complete-a", ["complete-able"]),
        ("kafka consume -b {} -t complete-", ["complete-able", "complete-too"]),
        ("kafka -b {} produce complete-t", ["complete-too"]),
        ("kafka -b {} topics describe complete-able complete-t", ["complete-too"]),
        ("kafka -b {} copy complete-a", ["complete-able"]),
        ("kafka -b {} groups lag complete-", ["complete-group"]),
        ("kafka -b {} consume complete-able --group complete-", ["complete-group"]),
        ("kafka -b {} consume nothing-begins-so", []),
    ],
)
def test_names_of_topics_and_groups_are_completed_from_the_cluster(
    cli: Cli, words: str, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kafka.cli.completion._QUICK", {})  # a busy machine may need more time
    if "complete-able" not in cli("topics", "list").split():
        cli("topics", "create", "complete-able", "complete-too")
        cli("groups", "set-offsets", "complete-group", "-o", "complete-able:0:0")
    assert completed(words.format(cli.bootstrap_servers)) == [f"plain,{name}" for name in expected]


def test_names_that_a_shell_would_execute_are_not_completed(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kafka.cli.completion._QUICK", {})
    cli("topics", "create", "shell-topic")
    for group in ("shell-$(reboot)", "shell-;reboot", "shell-a\nb", "shell-plain"):
        cli("groups", "set-offsets", group, "-o", "shell-topic:0:0")
    assert completed(f"kafka -b {cli.bootstrap_servers} groups lag shell-") == ["plain,shell-plain"]


def test_an_unreachable_cluster_completes_nothing_silently(unused_tcp_port: int) -> None:
    assert completed(f"kafka -b 127.0.0.1:{unused_tcp_port} consume x") == []
    assert completed("kafka -X nonsense=1 consume x") == []
    assert completed("kafka -X nonsense consume x") == []


def completed(words: str) -> list[str]:
    """Return the completions for typed words; check that there is no other output."""
    env = {"_KAFKA_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    result = CliRunner().invoke(commands, [], env=env, prog_name="kafka")
    assert result.stderr == ""
    return result.stdout.split()


@pytest.mark.slow
@pytest.mark.parametrize(("module", "usage"), [("consumer", "kafka consume"), ("producer", "kafka produce")])
def test_kafka_python_s_modules_are_commands(module: str, usage: str) -> None:
    command = [sys.executable, "-m", f"kafka.{module}", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"Usage: {usage} ")


def test_all_commands_are_created_without_warnings() -> None:
    for name in COMMANDS:
        for each in ([name], [name, "nonsense"]):
            result = CliRunner().invoke(commands, [*each, "--help"])
            assert result.exit_code in (0, 2), result.output
