"""The command line: help, versions, and errors as one line."""

import dataclasses
import pathlib
import subprocess
import sys

import pytest
from click.testing import CliRunner

from kafka.cli.commands import COMMANDS, commands
from kafka.errors import KafkaTimeoutError
from kafka.version import __version__


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str) -> None:
    result = CliRunner().invoke(commands, [name, "--help"])
    assert result.exit_code == 0, result.output
    assert result.output.startswith("Usage:")


def test_help_lists_the_commands_without_importing_them() -> None:
    code = (
        "import sys; from kafka.cli import main\nsys.argv = ['kafka', '--help']\n"
        "try: main()\nexcept SystemExit as end: assert end.code == 0\n"
        "assert not {'pyspark', 'pyarrow', 'pandas', 'kafka.broker'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert all(name in done.stdout for name in COMMANDS)


def test_the_version_is_the_package_s() -> None:
    assert __version__ in CliRunner().invoke(commands, ["--version"]).output


def test_an_unknown_command_is_wrong_usage() -> None:
    result = CliRunner().invoke(commands, ["broke"])
    assert result.exit_code == 2
    assert "broke" in result.output


def test_doctor_shows_the_variant_and_every_hot_module() -> None:
    result = CliRunner().invoke(commands, ["doctor"], terminal_width=200)
    assert result.exit_code == 0, result.output
    assert "cramjam" in result.output


def test_a_kafka_error_is_one_line_and_status_1(monkeypatch: pytest.MonkeyPatch) -> None:
    from kafka import broker

    def fail(**_: object) -> None:
        raise KafkaTimeoutError("nothing came")

    monkeypatch.setattr(broker, "run", fail)
    result = CliRunner().invoke(commands, ["broker"])
    assert result.exit_code == 1
    assert result.output == "Error: nothing came\n"


def test_every_setting_of_the_broker_is_an_option(monkeypatch: pytest.MonkeyPatch) -> None:
    from kafka import broker
    from kafka.broker.settings import BrokerSettings

    given: dict[str, object] = {}
    monkeypatch.setattr(broker, "run", lambda **settings: given.update(settings))
    options = ["--port", "0", "--num-partitions", "3", "--fsync", "--no-auto-create-topics", "--rack", "r1"]
    options += [
        "--advertised-host",
        "example.org",
        "--advertised-port",
        "19092",
        "--topic-config",
        "retention.ms=60000",
    ]
    result = CliRunner().invoke(commands, ["broker", *options])
    assert result.exit_code == 0, result.output
    changed = {
        "num_partitions": 3,
        "fsync": True,
        "auto_create_topics": False,
        "rack": "r1",
        "advertised_host": "example.org",
        "advertised_port": 19092,
        "topic_defaults": {"retention.ms": "60000"},
    }
    defaults = dataclasses.asdict(BrokerSettings())
    assert given == {"data_dir": None, "host": "127.0.0.1", "port": 0, **defaults, **changed}


def test_a_wrong_setting_of_the_broker_is_a_wrong_use() -> None:
    result = CliRunner().invoke(commands, ["broker", "--port", "0", "--topic-config", "retention.ms=x"])
    assert result.exit_code == 2
    assert "retention.ms" in result.output
    assert CliRunner().invoke(commands, ["broker", "--topic-config", "retention.ms"]).exit_code == 2


def test_a_missing_library_is_named_with_the_extra_that_brings_it() -> None:
    code = (
        "import sys\nsys.modules['click'] = None\nfrom kafka.cli import main\n"
        "try: main()\nexcept SystemExit as end: assert end.code == 1"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "pip install 'kafka-columnar[cli]'" in done.stderr


def test_the_demo_says_what_is_wrong_with_java(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    result = CliRunner().invoke(commands, ["demo", "--output", str(tmp_path / "out")])
    assert result.exit_code == 1
    assert "JAVA_HOME" in result.output
