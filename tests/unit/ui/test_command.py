"""``kafka ui`` as a program: its messages, and how it ends."""

import contextlib
import http.client
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner

from harness.ports import free_port
from kafka.broker import EmbeddedBroker
from kafka.cli.commands import commands
from kafka.ui import web_server
from kafka.ui.shared_state import UiSettings

pytestmark = pytest.mark.once

PLAIN = {name: value for name, value in os.environ.items() if not name.startswith("KAFKA_")}


@contextlib.contextmanager
def running(*arguments: str, **env: str) -> Iterator[tuple[subprocess.Popen[str], http.client.HTTPConnection]]:
    """Run the program; yield it, and a connection to its page."""
    command = [sys.executable, "-m", "kafka_columnar", "ui", "--port", "0", "--interval", "0.5", *arguments]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=PLAIN | env) as process:
        try:
            assert process.stderr is not None
            line = process.stderr.readline()
            assert line.startswith("Web UI at http://127.0.0.1:"), line
            address = urlsplit(line.split()[3])
            assert address.hostname is not None
            connection = http.client.HTTPConnection(address.hostname, address.port or 0, timeout=200)
            with contextlib.closing(connection):
                yield process, connection
        finally:
            process.kill()


def stream(connection: http.client.HTTPConnection) -> http.client.HTTPResponse:
    """Open an event stream, and read one event."""
    connection.request("GET", "/live/topics", headers={"Accept": "text/event-stream"})
    answer = connection.getresponse()
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.readline().startswith(b"data: <dl>")
    return answer


@pytest.mark.slow
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_it_serves_until_it_is_interrupted(broker: EmbeddedBroker, number: int, status: int) -> None:
    with running(KAFKA_BOOTSTRAP_SERVERS=broker.bootstrap_servers) as (process, connection):
        answer = stream(connection)
        process.send_signal(number)
        answer.read()  # the stream ends, and with it the connection
        assert process.stderr is not None
        assert process.stderr.read().strip() == ""
        assert process.wait() == status


@pytest.mark.slow
def test_leaving_a_page_leaves_nothing_behind(broker: EmbeddedBroker) -> None:
    with running("-b", broker.bootstrap_servers) as (process, connection):
        for _ in range(3):
            stream(connection).close()
            connection.close()
        connection.request("GET", "/")
        assert b"</html>" in connection.getresponse().read()
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        assert process.stderr.read().strip() == ""
        assert process.wait() == 130


@pytest.mark.slow
def test_invalid_http_is_not_logged(broker: EmbeddedBroker) -> None:
    with running("-b", broker.bootstrap_servers) as (process, connection):
        for sent in (b"\x16\x03\x01 TLS", b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n"):
            with socket.create_connection((connection.host, connection.port)) as other:
                other.sendall(sent)
                assert other.recv(1000).startswith(b"HTTP/1.1 400 ")
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        assert process.stderr.read().strip() == ""


@pytest.mark.slow
def test_leaving_while_a_form_is_sent_is_not_an_error(broker: EmbeddedBroker) -> None:
    with running("-b", broker.bootstrap_servers, "--allow-writes") as (process, connection):
        with socket.create_connection((connection.host, connection.port)) as leaving:
            leaving.sendall(b"POST /topics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nname=")
        connection.request("GET", "/")
        assert b"</html>" in connection.getresponse().read()
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        assert process.stderr.read().strip() == ""


def runs_with(monkeypatch: pytest.MonkeyPatch) -> list[tuple[UiSettings, str, int]]:
    """The arguments of the server, which is not run."""
    calls: list[tuple[UiSettings, str, int]] = []

    def run(settings: Sequence[UiSettings], host: str, port: int, ready: Callable[[str], None]) -> None:
        calls.extend((each, host, port) for each in settings)
        ready(f"http://{host}:{port}/")

    monkeypatch.setattr(web_server, "run", run)
    return calls


def test_by_default_it_is_read_only_and_local(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = runs_with(monkeypatch)
    result = CliRunner().invoke(commands, ["ui"])
    assert result.stderr == "Web UI at http://127.0.0.1:8085/ (stop it with Ctrl-C).\n"
    ((settings, host, port),) = calls
    assert (host, port, settings.allow_writes, settings.spark) == ("127.0.0.1", 8085, False, None)


@pytest.mark.parametrize(
    ("arguments", "warning"),
    [
        (
            ["--host", "0.0.0.0"],
            "Warning: anyone who can reach 0.0.0.0 can see all records of this cluster; there is no login.",
        ),
        (
            ["--host", "::", "--allow-writes"],
            "Warning: anyone who can reach :: can see all records of this cluster and change",
        ),
        (["--host", "box.example"], "Warning: anyone who can reach box.example"),
    ],
)
def test_it_warns_if_others_can_reach_it(monkeypatch: pytest.MonkeyPatch, arguments: list[str], warning: str) -> None:
    calls = runs_with(monkeypatch)
    result = CliRunner().invoke(commands, ["ui", *arguments])
    assert result.stderr.startswith(warning)
    assert arguments[1] in calls[0][0].names


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_loopback_addresses(host: str) -> None:
    assert web_server.is_loopback(host)


def test_settings_come_from_the_same_sources_as_for_other_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = runs_with(monkeypatch)
    env = {"KAFKA_SASL_PLAIN_PASSWORD": "hunter2", "KAFKA_SASL_PLAIN_USERNAME": "me", "KAFKA_GROUP_ID": "g"}
    result = CliRunner().invoke(commands, ["ui", "-b", "b:1", "-X", "isolation.level=read_committed"], env=env)
    ((settings, _, _),) = calls
    assert settings.admin["sasl_plain_password"] == "hunter2"
    assert "isolation_level" not in settings.admin
    assert settings.consumer["isolation_level"] == "read_committed"
    assert "hunter2" not in result.output


def test_several_profiles_are_several_clusters(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    calls = runs_with(monkeypatch)
    file = tmp_path / "profiles.toml"
    file.write_text('[one]\nbootstrap_servers = "a:1"\n[two]\nbootstrap_servers = "b:2"\nclient_id = "c"\n["a/b"]\n')
    env = {"KAFKA_PROFILES": str(file), "KAFKA_PROFILE": "one"}
    result = CliRunner().invoke(commands, ["ui", "--with-profile", "two", "--registry", "http://r"], env=env)
    assert result.exit_code == 0, result.output
    first, second = (settings for settings, _, _ in calls)
    assert (first.profile, first.admin["bootstrap_servers"]) == ("one", "a:1")
    assert (second.profile, second.admin["bootstrap_servers"], second.admin["client_id"]) == ("two", "b:2", "c")
    assert first.registry is not None
    assert second.registry is None
    for other, told in (
        ("one", "got 'one' twice"),
        ("a/b", "must consist of letters"),
        ("three", "no profile 'three'"),
    ):
        result = CliRunner().invoke(commands, ["ui", "--with-profile", other], env=env)
        assert result.exit_code != 0
        assert told in result.stderr


def test_a_port_in_use_is_a_one_line_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        result = CliRunner().invoke(commands, ["ui", "--port", str(taken.getsockname()[1])])
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: ")
    assert "ddress already in use" in result.stderr


def test_an_unreachable_cluster_is_a_one_line_error() -> None:
    nobody = f"127.0.0.1:{free_port()}"
    options = ["--port", "0", "-b", nobody, "-X", "bootstrap_timeout_ms=100"]
    result = CliRunner().invoke(commands, ["ui", *options])
    assert result.exit_code == 3
    assert nobody in result.stderr


@pytest.mark.parametrize("library", ["starlette", "uvicorn"])
def test_without_the_extra_the_error_names_it(library: str) -> None:
    code = f"import sys; sys.modules['{library}'] = None; from kafka_columnar import main; main()"
    done = subprocess.run([sys.executable, "-c", code, "ui"], capture_output=True, text=True, env=PLAIN, check=False)
    assert done.returncode == 1
    assert done.stderr == (
        f"Error: this command needs '{library}', which is not installed; install it with: "
        "pip install 'kafka-columnar[ui]'\n"
    )
