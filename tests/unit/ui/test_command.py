"""``kafka ui`` as a program: its messages, and how it ends."""

import contextlib
import http.client
import os
import pathlib
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest
from click.testing import CliRunner

from harness.ports import free_port
from harness.web_ui import web_ui
from kafka.broker import EmbeddedBroker
from kafka.cli.commands import commands
from kafka.ui import web_server
from kafka.ui.access.user import Role
from kafka.ui.access.users_file import UsersFile
from kafka.ui.shared_state import UiSettings

pytestmark = pytest.mark.once

PLAIN = {name: value for name, value in os.environ.items() if not name.startswith("KAFKA_")}


@contextlib.contextmanager
def running(*arguments: str, **env: str) -> Iterator[tuple[subprocess.Popen[str], http.client.HTTPConnection]]:
    """Run the program; yield it, and a connection to its page."""
    with web_ui("--interval", "0.5", *arguments, **env) as (process, address):
        assert address.startswith("http://127.0.0.1:"), address
        connection = http.client.HTTPConnection("127.0.0.1", urlsplit(address).port or 0, timeout=200)
        with contextlib.closing(connection):
            yield process, connection


def stream(connection: http.client.HTTPConnection) -> http.client.HTTPResponse:
    """Open an event stream, and read one event."""
    connection.request("GET", "/live/topics", headers={"Accept": "text/event-stream"})
    answer = connection.getresponse()
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.readline().startswith(b"data: <")
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
def test_with_a_certificate_it_speaks_https_and_requires_the_token(
    broker: EmbeddedBroker, tmp_path: pathlib.Path
) -> None:
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "2"]
    made += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(made, check=True, capture_output=True)
    token = "a token that is long enough"
    options = ["--listen", "127.0.0.1", "--token", "-b", broker.bootstrap_servers]
    options += ["--tls-cert", str(certificate), "--tls-key", str(key)]
    with web_ui(*options, KAFKA_UI_TOKEN=token) as ui:
        assert ui.address.startswith("https://127.0.0.1:"), ui.address
        port = urlsplit(ui.address).port or 0
        context = ssl.create_default_context(cafile=str(certificate))
        connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=200, context=context)
        with contextlib.closing(connection):
            connection.request("GET", "/")
            answer = connection.getresponse()
            assert answer.status == 401
            answer.read()
            body = urlencode({"login": "token", "token": token})
            connection.request("POST", "/login", body)
            answer = connection.getresponse()
            assert answer.status == 303
            assert answer.headers["set-cookie"].startswith("__Host-kafka_ui_session_")
            assert "; Secure" in answer.headers["set-cookie"]


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

    def run(
        settings: Sequence[UiSettings], host: str, port: int, ready: Callable[[str], None], unreachable: object
    ) -> None:
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


@pytest.mark.parametrize("listen", ["0.0.0.0", "::", "[::]:80", "box.example:9000", "10.0.0.1"])
def test_others_can_reach_it_only_with_a_login(monkeypatch: pytest.MonkeyPatch, listen: str) -> None:
    calls = runs_with(monkeypatch)
    result = CliRunner().invoke(commands, ["ui", "--listen", listen, "--allow-writes"])
    assert result.exit_code == 2
    assert "requires a login: add --token, --users FILE or --oidc URL" in result.stderr
    assert not calls


def test_with_a_login_others_can_reach_it(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = runs_with(monkeypatch)
    result = CliRunner().invoke(commands, ["ui", "--listen", "box.example:9000", "--token"])
    warning, token, _ = result.stderr.splitlines()
    assert warning.startswith("Warning: without --tls-cert and --tls-key, anyone on the network of box.example")
    ((settings, host, port),) = calls
    assert (host, port) == ("box.example", 9000)
    assert "box.example" in settings.names
    assert settings.access.token is not None
    assert token == f"Token for logging in: {settings.access.token.token}"
    assert settings.access.token.role is Role.VIEWER
    assert settings.access.token.token not in repr(settings)
    env = {"KAFKA_UI_TOKEN": "a token that stays the same"}
    options = ["--listen", "::1", "--token", "--allow-writes", "--public-url", "https://kafka.example/"]
    result = CliRunner().invoke(commands, ["ui", *options], env=env)
    assert result.stderr == "Web UI at http://::1:8085/ (stop it with Ctrl-C).\n"
    settings, host, port = calls[1]
    assert settings.access.token is not None
    assert settings.access.token.role is Role.OPERATOR
    assert settings.access.is_secure
    assert "kafka.example" in settings.names


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--listen", ":80"], "--listen ':80': expected a host before the port"),
        (["--listen", "a:x"], "expected 'host:port' with a port from 1 to 65535"),
        (["--users", "nothing"], "cannot read the file of users nothing"),
        (["--add-user", "ada:viewer"], "--add-user and --add-token require --users FILE"),
        (["--oidc-client", "a"], "require --oidc URL"),
        (["--oidc", "https://a.example"], "--oidc requires --oidc-client ID"),
        (["--oidc", "https://a.example", "--oidc-client", "a"], "--oidc requires --oidc-viewers or --oidc-operators"),
        (
            ["--oidc", "http://a.example", "--oidc-client", "a", "--oidc-viewers", "*"],
            "expected an https URL of an OpenID Connect provider, got 'http://a.example'",
        ),
        (["--oidc", "https://a", "--oidc-client", "a", "--oidc-viewers", "b"], "expected CLAIM=VALUE"),
        (["--public-url", "kafka.example"], "--public-url: expected a URL with http:// or https://"),
        (["--tls-cert", __file__], "--tls-cert and --tls-key require each other"),
        (["--tls-cert", __file__, "--tls-key", __file__], f"cannot use --tls-cert {__file__}"),
    ],
)
def test_wrong_options_for_access_are_one_line_errors(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str], told: str
) -> None:
    calls = runs_with(monkeypatch)
    result = CliRunner().invoke(commands, ["ui", *arguments])
    assert result.exit_code == 2
    assert told in " ".join(result.stderr.split())
    assert not calls


def test_users_are_added_by_the_command(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    calls = runs_with(monkeypatch)
    file = tmp_path / "users"
    options = ["ui", "--users", str(file)]
    done = CliRunner().invoke(commands, [*options, "--add-user", "ada:operator"], input="pass word\npass word\n")
    assert done.exit_code == 0, done.output
    assert done.stdout == ""
    assert f"ada:operator was written to {file}" in done.stderr
    done = CliRunner().invoke(commands, [*options, "--add-token", "ci:viewer"])
    assert len(done.stdout.strip()) > 40
    users = UsersFile(file)
    found = users.by_token(done.stdout.strip())
    assert found is not None
    assert found.name == "ci"
    assert users.by_password("ada", "pass word") is not None
    short = CliRunner().invoke(commands, [*options, "--add-user", "bob:viewer"], input="short\nshort\n")
    assert short.exit_code == 2
    assert "expected a password of 8 to 1,024 characters, got 5" in short.stderr
    assert not calls


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
        port = taken.getsockname()[1]
        result = CliRunner().invoke(commands, ["ui", "--port", str(port)])
    assert result.exit_code == 1
    assert f"Error: port {port} is in use; choose another with --port (0 picks a free one)\n" in result.stderr


@pytest.mark.slow
def test_clusters_that_do_not_answer_are_shown_as_unreachable(broker: EmbeddedBroker, tmp_path: Path) -> None:
    nobody = f"127.0.0.1:{free_port()}"
    file = tmp_path / "profiles.toml"
    file.write_text(
        f'[there]\nbootstrap_servers = "{broker.bootstrap_servers}"\n'
        f'[gone]\nbootstrap_servers = "{nobody}"\napi_version_auto_timeout_ms = 100\n'
    )
    command = [sys.executable, "-m", "kafka_columnar", "ui", "--port", "0", "--profile", "there"]
    env = {**PLAIN, "KAFKA_PROFILES": str(file)}
    with subprocess.Popen([*command, "--with-profile", "gone"], stderr=subprocess.PIPE, text=True, env=env) as process:
        try:
            assert process.stderr is not None
            lines = iter(process.stderr.readline, "")
            warning = next(line for line in lines if line.startswith("Warning: "))
            assert "the cluster of profile gone is unreachable, and is shown as soon as it answers: " in warning
            assert nobody in warning
            address = next(line.split()[3] for line in lines if line.startswith("Web UI at "))
            with contextlib.closing(http.client.HTTPConnection(urlsplit(address).netloc, timeout=200)) as connection:
                connection.request("GET", "/gone/")
                gone = connection.getresponse().read().decode()
                connection.request("GET", "/there/")
                there = connection.getresponse().read().decode()
        finally:
            process.kill()
        assert process.stderr.read() == "", "the cluster was reported once"
    assert "unreachable</span>" in gone
    assert nobody in gone
    assert "unreachable</span>" not in there


@pytest.mark.parametrize("library", ["starlette", "uvicorn"])
def test_without_the_extra_the_error_names_it(library: str) -> None:
    code = f"import sys; sys.modules['{library}'] = None; from kafka_columnar import main; main()"
    done = subprocess.run([sys.executable, "-c", code, "ui"], capture_output=True, text=True, env=PLAIN, check=False)
    assert done.returncode == 1
    assert done.stderr == (
        f"Error: this command needs '{library}', which is not installed; install it with: "
        "pip install 'kafka-columnar[ui]'\n"
    )
