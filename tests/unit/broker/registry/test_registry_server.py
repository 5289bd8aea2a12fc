"""The socket and the file of the embedded schema registry."""

from __future__ import annotations

import http.client
import json
import socket
import sys
import threading
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from click.testing import CliRunner

from kafka import broker as broker_module
from kafka.broker import EmbeddedBroker
from kafka.broker.registry import store
from kafka.broker.registry.store import Content, Store, Subject, Version
from kafka.cli.commands import commands
from kafka.errors import IllegalStateError, KafkaConfigurationError

pytestmark = pytest.mark.once

INT = {"schema": '"int"'}


def ask(url: str, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)
    try:
        data = None if body is None else json.dumps(body)
        connection.request(method, path, data, {name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def exchange(url: str, data: bytes) -> bytes:
    """Send bytes, and return all bytes received until the registry closes the connection."""
    parts = urlsplit(url)
    assert parts.port is not None
    with socket.create_connection(("127.0.0.1", parts.port), timeout=30) as connection:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        received = b""
        while part := connection.recv(65536):
            received += part
        return received


def test_the_registry_starts_and_stops_with_the_broker() -> None:
    with EmbeddedBroker(registry=True) as broker:
        url = broker.registry_url
        assert ask(url, "POST", "/subjects/s/versions", INT)[1]["id"] == 1
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", urlsplit(url).port or 0), timeout=30)


async def test_the_registry_runs_on_the_callers_loop() -> None:
    from kafka.schema_registry import AsyncSchemaRegistryClient

    async with (
        EmbeddedBroker(registry=True) as broker,
        AsyncSchemaRegistryClient({"url": broker.registry_url}) as client,
    ):
        assert await client.get_subjects() == []


def test_a_broker_without_a_registry_says_how_to_enable_it() -> None:
    with EmbeddedBroker() as broker, pytest.raises(IllegalStateError, match="create it with registry=True"):
        _ = broker.registry_url
    with pytest.raises(IllegalStateError, match="not running"):
        _ = EmbeddedBroker(registry=True).registry_url


def test_a_restart_keeps_data_and_port(tmp_path: Path) -> None:
    with EmbeddedBroker(tmp_path, registry=True) as broker:
        url = broker.registry_url
        ask(url, "POST", "/subjects/s/versions", INT)
        broker.restart()
        assert broker.registry_url == url
        assert ask(url, "GET", "/schemas/ids/1")[1]["schema"] == '"int"'
    with EmbeddedBroker(tmp_path, registry=True) as broker:
        assert ask(broker.registry_url, "GET", "/subjects") == (200, ["s"])


def test_all_data_survives_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "registry.json"
    store = Store(path)
    content = Content('"int"', "AVRO", (("n", "t", 1),), {"properties": {"a": "b"}}, {"domainRules": []})
    store.context(".dev").put(7, content)
    store.context(".").put(3, Content('"long"'))
    store.subjects[Subject(".dev", "s")] = [Version(2, 7, True)]
    store.subjects[Subject(".", "t")] = [Version(1, 3)]
    store.configs[None] = {"compatibilityLevel": "NONE"}
    store.configs[Subject(".dev", "")] = {"normalize": True}
    store.modes[Subject(".", "t")] = "READONLY"
    store.save()
    again = Store(path)
    assert again.contexts == store.contexts
    assert again.contexts[".dev"].next_id == 8
    assert again.subjects == store.subjects
    assert (again.configs, again.modes) == (store.configs, store.modes)
    assert again.contexts[".dev"].schemas[7].guid == content.guid


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"schemas": [{}]}'])
def test_a_damaged_file_is_kept(tmp_path: Path, damage: bytes, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "registry.json"
    path.write_bytes(damage)
    assert Store(path).subjects == {}
    assert (tmp_path / "registry.json.damaged-0").read_bytes() == damage
    assert "is damaged" in caplog.text


def test_a_connection_serves_many_requests() -> None:
    with EmbeddedBroker(registry=True) as broker:
        connection = http.client.HTTPConnection(urlsplit(broker.registry_url).netloc, timeout=30)
        for _ in range(3):
            connection.request("GET", "/subjects")
            assert connection.getresponse().read() == b"[]"
        connection.close()


def test_a_chunked_request_is_read() -> None:
    body = json.dumps(INT).encode()
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:5], body[5:])) + b"0\r\n\r\n"
    head = b"POST /subjects/s/versions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    with EmbeddedBroker(registry=True) as broker:
        assert b'"id":1' in exchange(broker.registry_url, head + chunks)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"hello\r\n\r\n", b"400"),
        (b"GET / HTTP/2\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\n", b"400"),
        (b"GET /" + b"x" * 70_000 + b" HTTP/1.1\r\n\r\n", b"400"),
        (b"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n", b"400"),
        (b"POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n", b"413"),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", b"400"),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffff\r\n", b"413"),
        (b"GET / HTTP/1.0\r\nHost: localhost\r\n\r\n", b"200"),
        (b"", b""),
    ],
)
def test_what_is_no_request(data: bytes, expected: bytes) -> None:
    with EmbeddedBroker(registry=True) as broker:
        said = exchange(broker.registry_url, data)
        assert said[9:12] == expected
        assert ask(broker.registry_url, "GET", "/subjects") == (200, []), "it continues serving"


def test_requests_from_web_pages_are_rejected() -> None:
    with EmbeddedBroker(registry=True) as broker:
        url = broker.registry_url
        assert ask(url, "GET", "/subjects", Host="registry.example.com")[0] == 403
        assert ask(url, "GET", "/subjects", Origin="http://evil.example")[0] == 403
        assert ask(url, "GET", "/subjects", Sec_Fetch_Site="cross-site")[0] == 403
        assert ask(url, "GET", "/subjects", Host="localhost:1")[0] == 200


def test_an_exception_becomes_an_error_response(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(self: Store) -> None:
        raise OSError(28, "No space left on device")

    with EmbeddedBroker(registry=True) as broker:
        monkeypatch.setattr(Store, "save", broken)
        status, answer = ask(broker.registry_url, "POST", "/subjects/s/versions", INT)
        assert (status, answer["error_code"]) == (500, 50001)
        assert "No space left" in answer["message"]
        assert "could not answer POST /subjects/s/versions" in caplog.text


def test_the_command_line_starts_a_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    settings: dict[str, Any] = {}
    monkeypatch.setattr(broker_module, "run", lambda **given: settings.update(given))
    assert CliRunner().invoke(commands, ["broker", "--registry"]).exit_code == 0
    assert (settings["registry"], settings["registry_port"]) == (True, 8081)


def test_a_port_in_use_is_reported_by_its_option() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        arguments = ["broker", "--port", "0", "--registry", "--registry-port", str(port)]
        result = CliRunner().invoke(commands, arguments)
    assert result.exit_code == 1
    assert (
        f"the schema registry cannot listen on 127.0.0.1:{port}; choose another with --registry-port" in result.output
    )


def test_the_pytest_fixtures(kafka_registry: Any, kafka_registry_url: str, kafka_broker: EmbeddedBroker) -> None:
    assert kafka_broker.registry_url == kafka_registry_url
    assert kafka_registry.get_subjects() == []


def test_an_invalid_port_is_rejected() -> None:
    with pytest.raises(KafkaConfigurationError, match="registry_port must be at most 65535"):
        EmbeddedBroker(registry=True, registry_port=70_000)


@pytest.mark.parametrize(
    "request_text",
    [
        b"GET http://[ HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"POST /subjects/s/versions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        + b"1" * (64 * 1024 + 2),  # just above the limit: closing with more unread bytes would reset the connection
    ],
    ids=["no URL", "an endless chunk size"],
)
def test_unreadable_requests_get_a_response(request_text: bytes) -> None:
    with EmbeddedBroker(registry=True) as broker:
        assert exchange(broker.registry_url, request_text).startswith(b"HTTP/1.1 400 Bad Request\r\n")


def test_a_change_that_cannot_be_written_has_no_effect(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise a retry would be acknowledged without being stored."""

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with EmbeddedBroker(registry=True) as broker:
        url = broker.registry_url
        assert ask(url, "POST", "/subjects/kept/versions", INT)[0] == 200
        with monkeypatch.context() as full:
            full.setattr(store, "replace_file", fail)
            assert ask(url, "POST", "/subjects/lost/versions", INT)[0] == 500
        assert ask(url, "GET", "/subjects")[1] == ["kept"]
        assert ask(url, "POST", "/subjects/lost/versions", INT)[0] == 200
        assert ask(url, "GET", "/subjects")[1] == ["kept", "lost"]


@pytest.mark.parametrize(
    "name", [":.::.y:z", ":.y:z", ":y", "::", ":.y", "a:b", ":.::", "/", ".", "..", "%2e", "\N{SNOWMAN}", "__GLOBAL:"]
)
def test_subjects_with_any_name_survive_a_restart(tmp_path: Path, name: str) -> None:
    path = f"/subjects/{quote(name, safe='').replace('.', '%2E')}/versions"
    with EmbeddedBroker(tmp_path, registry=True) as broker:
        assert ask(broker.registry_url, "POST", "/subjects/other/versions", INT)[0] == 200
        assert ask(broker.registry_url, "POST", path, INT)[0] == 200
        assert ask(broker.registry_url, "PUT", f"/config/{quote(name, safe='')}", {"compatibility": "FULL"})[0] == 200
        named = ask(broker.registry_url, "GET", "/subjects")
        assert len(named[1]) == 2
        broker.restart()
        assert ask(broker.registry_url, "GET", "/subjects") == named
        assert ask(broker.registry_url, "GET", path) == (200, [1])
        assert ask(broker.registry_url, "GET", f"/config/{quote(name, safe='')}")[1] == {"compatibilityLevel": "FULL"}


def test_a_permanent_deletion_is_atomic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise settings left by a killed process would apply to the next subject with that name."""
    path = tmp_path / "schema-registry.json"
    with EmbeddedBroker(tmp_path, registry=True) as broker:
        url = broker.registry_url
        ask(url, "POST", "/subjects/s/versions", INT)
        ask(url, "PUT", "/config/s", {"compatibility": "NONE"})
        ask(url, "PUT", "/mode/s", {"mode": "IMPORT"})
        ask(url, "DELETE", "/subjects/s")
        states = []

        def note(*given: Any, **named: Any) -> None:
            replace_file(*given, **named)
            state = json.loads(path.read_bytes())
            states.append([len(state[each]) for each in ("versions", "configs", "modes")])

        replace_file = store.replace_file
        monkeypatch.setattr(store, "replace_file", note)
        assert ask(url, "DELETE", "/subjects/s?permanent=true") == (200, [1])
    assert states == [[0, 0, 0]]


def deepest_json() -> int:
    """Return the maximum depth of objects that can be parsed as JSON on this system."""
    least, most = 1, 1_000_000
    while most - least > 1:
        depth = (least + most) // 2
        try:
            json.loads('{"a":' * depth + "1" + "}" * depth)
            least = depth
        except RecursionError:
            most = depth
    return least


def test_too_deeply_nested_metadata_is_rejected(tmp_path: Path) -> None:
    """JSON can be parsed at depths at which it cannot be serialized."""
    with EmbeddedBroker(tmp_path, registry=True) as broker:
        url, statuses = broker.registry_url, []
        read = deepest_json()  # C code has a separate limit since Python 3.12
        for depth in (1, read - 60, read + 100):
            body = b'{"schema":"long","metadata":' + b'{"a":' * depth + b"1" + b"}" * depth + b"}"
            head = (
                f"POST /subjects/deep{depth}/versions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                f"Content-Length: {len(body)}\r\n\r\n"
            )
            statuses.append(exchange(url, head.encode() + body)[9:12])
            assert ask(url, "POST", f"/subjects/s{depth}/versions", INT)[0] == 200
        assert statuses == [b"200", b"500", b"400"]


def test_too_deeply_nested_settings_have_no_effect(tmp_path: Path) -> None:
    """Otherwise nothing could be written anymore."""
    path = tmp_path / "registry.json"
    store = Store(path)
    store.configs[None] = {"compatibilityLevel": "NONE"}
    store.save()
    deep: dict[str, Any] = {}
    for _ in range(sys.getrecursionlimit()):
        deep = {"a": deep}
    store.configs[Subject(".", "s")] = deep
    store.modes[None] = "READONLY"
    with pytest.raises(RecursionError):
        store.save()
    assert (store.configs, store.modes) == ({None: {"compatibilityLevel": "NONE"}}, {})
    store.modes[None] = "IMPORT"
    store.save()
    assert Store(path).modes == {None: "IMPORT"}


def test_it_stops_while_a_client_does_not_read_responses() -> None:
    text = json.dumps({"type": "record", "name": "R", "doc": "x" * 8_000_000, "fields": []})
    broker = EmbeddedBroker(registry=True)
    broker.start()
    ending = threading.Thread(target=broker.stop, daemon=True)
    try:
        assert ask(broker.registry_url, "POST", "/subjects/s/versions", {"schema": text})[0] == 200
        address = ("127.0.0.1", urlsplit(broker.registry_url).port or 0)
        with socket.create_connection(address, timeout=30) as silent:
            silent.sendall(b"GET /schemas/ids/1 HTTP/1.1\r\nHost: localhost\r\n\r\n" * 4)
            assert silent.recv(1) == b"H"
            ending.start()
            ending.join(30)
            assert not ending.is_alive()
    finally:
        ending.join(30)
