"""The command line: help, versions, and errors as one line."""

import dataclasses
import os
import pathlib
import re
import subprocess
import sys
import tomllib

import pytest
from click.testing import CliRunner

import kafka_columnar
from kafka._variant import HOT_MODULES
from kafka.cli.commands import COMMANDS, commands
from kafka.cli.failures import exit_status
from kafka.errors import (
    KafkaConfigurationError,
    KafkaConnectionError,
    KafkaTimeoutError,
    NoBrokersAvailable,
    TopicAuthorizationFailedError,
)
from kafka.version import DISTRIBUTION_VERSION
from unit.cli.cli_support import Cli

ROOT = pathlib.Path(__file__).resolve().parents[3]


@pytest.mark.once
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
    assert DISTRIBUTION_VERSION in CliRunner().invoke(commands, ["--version"]).output


def test_an_unknown_command_is_wrong_usage() -> None:
    result = CliRunner().invoke(commands, ["topic"])
    assert result.exit_code == 2
    assert "No such command 'topic'. Did you mean 'topics'?" in result.output
    assert "No such command 'xyz'. The commands are topics, produce," in CliRunner().invoke(commands, ["xyz"]).output


@pytest.mark.slow
@pytest.mark.parametrize("missing", [[], ["click", "rich", "pyarrow", "pyspark", "pandas"]])
def test_doctor_needs_only_the_standard_library(missing: list[str]) -> None:
    done = run_without(missing, "doctor")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "cramjam" in done.stdout
    (compiled, of) = re.findall(r"^hot modules +(\d+) of (\d+) are compiled$", done.stdout, re.MULTILINE)[0]
    assert int(of) == len(HOT_MODULES)
    variant = {of: "compiled", "0": "plain"}.get(compiled, "mixed")
    assert done.stdout.splitlines()[-1] == f"Nothing is wrong; the {variant} variant runs."


@pytest.mark.slow
@pytest.mark.once
@pytest.mark.parametrize("arguments", [["doctor"], ["--help"], ["broker", "--help"], ["--version"]], ids=" ".join)
def test_a_command_whose_output_is_closed_ends_silently(arguments: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as output:
        command = [sys.executable, "-m", "kafka_columnar", *arguments]
        done = subprocess.run(command, stdout=output, stderr=subprocess.PIPE, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (1, "")


def run_without(missing: list[str], *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run ``python -m kafka`` without some libraries."""
    code = f"import sys; sys.modules.update(dict.fromkeys({missing})); from kafka_columnar import main; main()"
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **env}, timeout=60)


@pytest.mark.slow
@pytest.mark.once
def test_the_broker_needs_no_more_than_the_base_installation() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    base = {re.split(r"[<>=\[]", line)[0] for line in project["dependencies"]}
    extras = {
        re.split(r"[<>=\[]", line)[0] for lines in project["optional-dependencies"].values() for line in lines
    } - base
    assert "click" in base
    done = run_without(sorted(extras - {"kafka-columnar"}), "broker", "--help")
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.once
@pytest.mark.parametrize(
    ("arguments", "env", "said"),
    [
        (["broker", "--port", "70000"], {}, "70000"),
        (["broker", "--port", "zero"], {}, "zero"),
        (["broker", "--port", "0", "--data-dir", __file__], {}, "is a file"),
        (["broker", "--port", "0", "--data-dir", "/proc/no/such"], {}, "/proc/no"),
        (["broker", "--port", "0", "--host", "203.0.113.1"], {}, "203.0.113.1"),
        (["nonsense"], {}, "nonsense"),
        (["doctor", "--nonsense"], {}, "--nonsense"),
        (["broker", "--port", "0"], {"KAFKA_LOG_LEVEL": "LOUD"}, "KAFKA_LOG_LEVEL is 'LOUD'"),
        (["demo", "--flights", "-1"], {}, "-1"),
        (["demo", "--output", __file__], {}, "is a file"),
        (["demo", "--output", "/proc/no/such"], {}, "/proc/no"),
        (["demo", "--report", "/no/such/report.html"], {}, "/no/such"),
        (["demo", "--report", "page.html", "--no-report"], {}, "are mutually exclusive"),
        (["demo", "--bootstrap-servers", "host:port", "--flights", "1"], {}, "host:port"),
    ],
)
def test_bad_input_is_a_one_line_error(
    arguments: list[str],
    env: dict[str, str],
    said: str,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if arguments[0] == "demo" and "--output" not in arguments:
        arguments = [*arguments, "--output", str(tmp_path)]
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"17\"' >&2\n")
    java.chmod(0o755)
    for name, value in {**env, "JAVA_HOME": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "argv", ["kafka", *arguments])
    with pytest.raises(SystemExit) as end:  # any other exception would be a traceback
        kafka_columnar.main()
    assert end.value.code in (1, 2)
    assert said in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.once
def test_a_process_with_bad_input_prints_one_line() -> None:
    done = run_without([], "broker", "--port", "0", "--host", "203.0.113.1")
    assert done.returncode == 1
    assert re.fullmatch(r"Error: .*203\.0\.113\.1.*\n", done.stderr)


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (KafkaTimeoutError("nothing came"), 3, "nothing came"),
        (NoBrokersAvailable("none of a, b"), 3, "none of a, b"),
        (KafkaConfigurationError("option 'x' is unknown"), 2, "option 'x' is unknown"),
        (TopicAuthorizationFailedError("topic t"), 1, "topic t (TopicAuthorizationFailedError)"),
        (OSError(2, "No such file", "f"), 1, "--data-dir: f: No such file or directory"),
    ],
)
def test_errors_are_one_line_with_their_exit_status(
    monkeypatch: pytest.MonkeyPatch, error: Exception, status: int, said: str
) -> None:
    from kafka import broker

    def fail(**_: object) -> None:
        raise error

    monkeypatch.setattr(broker, "run", fail)
    result = CliRunner().invoke(commands, ["broker"])
    assert result.exit_code == status
    assert result.output.splitlines()[-1] == f"Error: {said}"


@pytest.mark.parametrize(
    ("error", "status"), [(KeyboardInterrupt, 130), (BrokenPipeError, 1), (ZeroDivisionError, None)]
)
def test_silent_exits(monkeypatch: pytest.MonkeyPatch, error: type[BaseException], status: int | None) -> None:
    from kafka import broker

    def end(**_: object) -> None:
        raise error

    monkeypatch.setattr(broker, "run", end)
    result = CliRunner().invoke(commands, ["broker"])
    if status is None:
        assert isinstance(result.exception, ZeroDivisionError)  # a bug in this program has its traceback
    else:
        assert (result.exit_code, result.output.strip()) == (status, "")


def test_a_broken_connection_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    def lose() -> None:
        try:
            raise BrokenPipeError
        except OSError as error:
            raise KafkaConnectionError("the broker hung up") from error

    with pytest.raises(KafkaConnectionError) as raised:
        lose()
    assert exit_status(raised.value) == 3
    assert "the broker hung up" in capsys.readouterr().err


@pytest.mark.parametrize(("signal", "status"), [(SystemExit(143), 143), (KeyboardInterrupt(), 130)])
def test_a_signal_while_a_module_is_imported_ends_a_command_without_a_traceback(
    signal: BaseException, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    class Interrupted:
        def __set_name__(self, owner: type, name: str) -> None:
            raise signal

    with pytest.raises((RuntimeError, type(signal))) as raised:  # RuntimeError before Python 3.12
        type("Model", (), {"field": Interrupted()})
    assert exit_status(raised.value) == status
    assert capsys.readouterr().err == ""


def test_every_setting_of_the_broker_is_an_option(monkeypatch: pytest.MonkeyPatch) -> None:
    from kafka import broker
    from kafka.broker.broker_settings import BrokerSettings

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
        "--registry",
        "--registry-port",
        "18081",
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
        "registry": True,
        "registry_port": 18081,
    }
    defaults = dataclasses.asdict(BrokerSettings())
    assert given == {"data_dir": None, "host": "127.0.0.1", "port": 0, **defaults, **changed}


def test_an_invalid_broker_setting_is_wrong_use() -> None:
    result = CliRunner().invoke(commands, ["broker", "--port", "0", "--topic-config", "retention.ms=x"])
    assert result.exit_code == 2
    assert "retention.ms" in result.output
    assert CliRunner().invoke(commands, ["broker", "--topic-config", "retention.ms"]).exit_code == 2


def test_a_missing_module_of_python_is_not_to_be_installed(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_status(ModuleNotFoundError("No module named '_lzma'", name="_lzma")) == 1
    said = capsys.readouterr().err
    assert said.startswith("Error: cannot import Python's own module '_lzma': the installation of Python is incomplete")
    assert "pip" not in said


@pytest.mark.slow
@pytest.mark.once
def test_a_missing_library_is_named_with_its_extra() -> None:
    done = run_without(["pandas"], "demo")
    assert done.returncode == 1
    needs, _, advice = done.stderr.partition("; ")
    assert needs == "Error: this command needs 'pandas', which is not installed"
    assert advice == "install it with: pip install 'kafka-columnar[demo]'\n"
    done = run_without(["click"], "broker")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "needs 'click'" in done.stderr


def test_a_librarys_missing_dependency_is_a_one_line_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    broken = ImportError("Unable to import required dependencies:\nnumpy: No module named 'numpy'")  # as in pandas
    assert exit_status(broken) == 1
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "No module named 'numpy'" in told
    with pytest.raises(ImportError):  # a bug in this program
        exit_status(ImportError("cannot import name 'x' from 'kafka.cli'", name="kafka.cli"))


def test_the_demo_reports_problems_with_java(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    result = CliRunner().invoke(commands, ["demo", "--output", str(tmp_path / "out")])
    assert result.exit_code == 1
    assert "JAVA_HOME" in result.output


def test_a_password_on_the_command_line_is_not_repeated(cli: Cli) -> None:
    for arguments in (
        ("users", "set", "alice", "hunter2"),
        ("topics", "list", "-X", "sasl.password:hunter2"),
        ("topics", "list", "-X", "request_timeout_ms=hunter2"),
        ("topics", "create", "t", "-c", "ssl.keystore.password:hunter2"),
        ("configs", "alter", "broker", "0", "ssl.keystore.password:hunter2"),
    ):
        result = cli.run(*arguments)
        assert result.exit_code == 2, arguments
        assert "hunter2" not in result.output, arguments


def test_commands_work_if_clicks_classes_are_not_generic() -> None:
    """Before release 8.2, click's classes are not generic."""
    code = """
import click
for kind in (click.Choice, click.ParamType):
    kind.__class_getitem__ = None
from kafka.cli import acls, common_options, position_syntax
print(common_options.AnyCase(["a"]).convert("A", None, None))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == ("a\n", "")
