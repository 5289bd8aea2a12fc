"""Ports where no broker of ours listens: what is known for certain is said at once, first, and on one screen."""

from __future__ import annotations

import asyncio
import contextlib
import select
import socket
import ssl
import threading
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import kafka
import kafka.aio
from kafka.broker import EmbeddedBroker
from kafka.errors import KafkaConnectionError, NoBrokersAvailable
from kafka.net import peer_probes
from unit.net.certificates import Issued, authority, issued

pytestmark = pytest.mark.once

A_SCREEN = 40
"""Lines."""
NEVER_MS = 3_600_000
SCRAM = {"sasl_mechanism": "SCRAM-SHA-512", "sasl_plain_username": "alice", "sasl_plain_password": "secret"}
Serve = Callable[[socket.socket], None]


@contextlib.contextmanager
def listening(serve: Serve) -> Iterator[str]:
    """A server whose connections are each served in a thread."""
    listener = socket.create_server(("127.0.0.1", 0))

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=serving, args=(listener.accept()[0],), daemon=True).start()

    def serving(connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            serve(connection)

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()


def answering(text: bytes) -> Serve:
    def serve(connection: socket.socket) -> None:
        connection.recv(1024)
        connection.sendall(text)
        while connection.recv(1024):
            pass

    return serve


def http_that_waits_for_a_line(connection: socket.socket) -> None:
    while connection.recv(1024):
        pass
    connection.sendall(b"HTTP/1.0 400 Bad request syntax\r\n\r\n")


@contextlib.contextmanager
def listening_with_tls(
    folder: Path, owned: Issued, *, demands: bool = False, version: str = "TLSv1_3"
) -> Iterator[str]:
    """A server with this certificate; ``demands``: the client has to have one too, of the same authority."""
    (folder / "owned.pem").write_text(owned.key_pem() + owned.pem)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.maximum_version = ssl.TLSVersion[version]
    context.load_cert_chain(folder / "owned.pem")
    if demands:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(cadata=authority().pem)

    def serve(connection: socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False) as secured:
            try:
                secured.do_handshake()
                secured.recv(1)
            except ssl.SSLError:
                while demands and socket.socket.recv(secured, 1024):  # what is left unread may have the alert lost
                    pass

    with listening(serve) as server:
        yield server


@pytest.fixture
def tls_server(tmp_path: Path) -> Iterator[str]:
    with listening_with_tls(tmp_path, issued("localhost")) as server:
        yield server


@contextlib.contextmanager
def broker_with_tls(folder: Path, owned: Issued) -> Iterator[int]:
    """The port of an embedded broker behind TLS, which advertises it at 127.0.0.1."""
    (folder / "owned.pem").write_text(owned.key_pem() + owned.pem)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "owned.pem")
    inside_port: list[int] = []

    def serve(connection: socket.socket) -> None:
        with (
            context.wrap_socket(connection, server_side=True) as outside,
            socket.create_connection(("127.0.0.1", inside_port[0])) as inside,
        ):
            while True:
                ready = [outside] if outside.pending() else select.select([outside, inside], [], [])[0]
                for each in ready:
                    data = each.recv(65_536)
                    if not data:
                        return
                    (inside if each is outside else outside).sendall(data)

    with listening(serve) as server:
        port = int(server.rpartition(":")[2])
        with EmbeddedBroker(advertised_host="127.0.0.1", advertised_port=port) as broker:
            listener = broker._running()._listener
            assert listener is not None
            inside_port.append(listener.port)
            yield port


def refused() -> str:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return f"127.0.0.1:{taken.getsockname()[1]}"


async def asynchronously(made: Any) -> None:
    await made.start()


CLIENTS: dict[str, Callable[..., object]] = {
    "KafkaProducer": kafka.KafkaProducer,
    "KafkaConsumer": kafka.KafkaConsumer,
    "KafkaAdminClient": kafka.KafkaAdminClient,
    "KafkaShareConsumer": lambda **options: kafka.KafkaShareConsumer(group_id="g", **options),
    "AsyncKafkaProducer": lambda **options: asyncio.run(asynchronously(kafka.AsyncKafkaProducer(**options))),
    "AsyncKafkaConsumer": lambda **options: asyncio.run(asynchronously(kafka.AsyncKafkaConsumer(**options))),
    "AsyncKafkaAdminClient": lambda **options: asyncio.run(asynchronously(kafka.AsyncKafkaAdminClient(**options))),
}


def told(servers: str, client: str = "KafkaAdminClient", **options: Any) -> str:
    """The text of the error, which fits on a screen with all that Python shows of it."""
    with pytest.raises(NoBrokersAvailable) as failure:
        CLIENTS[client](**{"bootstrap_servers": servers, "bootstrap_timeout_ms": NEVER_MS, **options})
    lines = "".join(traceback.format_exception(failure.value)).splitlines()
    assert len(lines) < A_SCREEN, lines
    assert lines[0] != "Traceback (most recent call last):"  # but the first cause
    assert f"({servers}) could be used: " in str(failure.value)  # and not after how long
    return str(failure.value)


@pytest.mark.parametrize("client", CLIENTS)
def test_a_tls_listener_is_detected_immediately(client: str, tls_server: str) -> None:
    assert told(tls_server, client).endswith("speaks TLS, but security_protocol is 'PLAINTEXT': set it to 'SSL'")


def test_a_tls_listener_with_a_login_suggests_sasl_ssl(tls_server: str) -> None:
    assert told(tls_server, security_protocol="SASL_PLAINTEXT", **SCRAM).endswith("set it to 'SASL_SSL'")


@pytest.fixture
def trust(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "authority.pem").write_text(authority().pem)
    return {"security_protocol": "SSL", "ssl_cafile": str(tmp_path / "authority.pem")}


@pytest.mark.parametrize("version", ["TLSv1_2", "TLSv1_3"])
@pytest.mark.parametrize("client", CLIENTS)
def test_a_required_client_certificate_is_reported_immediately(
    client: str, version: str, tmp_path: Path, trust: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    with listening_with_tls(tmp_path, issued("localhost"), demands=True, version=version) as server:
        text = told(server, client, **trust)
    assert "or requires one" in text or "requires a client certificate" in text
    assert "set 'ssl_certfile' or 'ssl_keystore_location'" in text
    assert "so does" not in text
    assert not [each for each in caplog.records if each.levelname == "WARNING"], "it is said by the error"


@pytest.mark.parametrize("version", ["TLSv1_2", "TLSv1_3"])
@pytest.mark.parametrize(
    "shown", [issued("alice", by="another authority"), issued("alice", days=-2)], ids=["of another", "expired"]
)
def test_a_refused_client_certificate_is_reported_immediately(
    version: str, shown: Issued, tmp_path: Path, trust: dict[str, str]
) -> None:
    (tmp_path / "shown.pem").write_text(shown.key_pem() + shown.pem)
    with listening_with_tls(tmp_path, issued("localhost"), demands=True, version=version) as server:
        text = told(server, **trust, ssl_certfile=str(tmp_path / "shown.pem"))
    assert "it does not accept this client's certificate" in text


@pytest.mark.parametrize(
    ("owned", "advice"),
    [
        (
            issued("localhost", by="another authority"),
            "set the trusted authorities with 'ssl_cafile' or 'ssl_truststore_location'",
        ),
        (issued("elsewhere", hosts=("elsewhere.test",)), "connect with a name in the certificate"),
        (issued("localhost", days=-2), "the broker needs a new certificate, or this machine"),
    ],
    ids=["of another authority", "for another name", "expired"],
)
def test_a_refused_server_certificate_is_reported_immediately(
    owned: Issued, advice: str, tmp_path: Path, trust: dict[str, str]
) -> None:
    with listening_with_tls(tmp_path, owned) as server:
        text = told(server, **trust)
    assert "its certificate is not trusted" in text
    assert advice in text


def poll(consumer: Any) -> None:
    while True:  # the group's coordinator is looked up first
        consumer.poll(1_000)


FIRST_CALLS: dict[str, tuple[Callable[..., Any], Callable[[Any], object]]] = {
    "KafkaProducer": (kafka.KafkaProducer, lambda producer: producer.send("t", b"v").get(60)),
    "KafkaConsumer": (lambda **options: kafka.KafkaConsumer("t", **options), poll),
    "a member": (lambda **options: kafka.KafkaConsumer("t", group_id="g", **options), poll),
    "KafkaAdminClient": (kafka.KafkaAdminClient, lambda admin: admin.create_topics({"u": {}})),
}


@pytest.mark.parametrize("client", FIRST_CALLS)
def test_an_advertised_address_missing_in_the_certificate_is_reported_by_the_first_call(
    client: str, tmp_path: Path, trust: dict[str, str]
) -> None:
    make, call = FIRST_CALLS[client]
    with broker_with_tls(tmp_path, issued("localhost", hosts=("localhost",))) as port:
        made = make(bootstrap_servers=f"localhost:{port}", **trust)
        try:
            with pytest.raises(KafkaConnectionError, match="connect with a name in the certificate") as failure:
                call(made)
        finally:
            made.close()
    assert str(failure.value).endswith("(the address that the cluster advertises for broker 1)")
    assert not failure.value.retriable


def test_a_listener_without_tls_is_detected_immediately() -> None:
    with EmbeddedBroker() as broker:
        text = told(broker.bootstrap_servers, security_protocol="SSL")
    assert text.endswith(
        "does not speak TLS, but security_protocol is 'SSL': is it the port of another listener, or is 'PLAINTEXT' "
        "meant, which does not encrypt?"
    )


def test_a_sasl_listener_is_detected_immediately_with_its_mechanisms() -> None:
    with EmbeddedBroker(users={"alice": "secret"}) as broker:
        text = told(broker.bootstrap_servers)
    assert "requires SASL authentication (PLAIN, SCRAM-SHA-256, SCRAM-SHA-512), but security_protocol" in text


@pytest.mark.parametrize("protocol", ["PLAINTEXT", "SASL_PLAINTEXT"])
def test_a_silent_http_server_is_detected(protocol: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_SILENCE_S", "_LONG_SILENCE_S"):
        monkeypatch.setattr(peer_probes, name, 0.01)
    options = SCRAM if protocol != "PLAINTEXT" else {}
    with listening(http_that_waits_for_a_line) as server:
        text = told(server, security_protocol=protocol, socket_connection_setup_timeout_ms=NEVER_MS, **options)
    assert text.endswith("the peer is an HTTP server, not a Kafka broker; is it the right port?")


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "the peer is an HTTP server, not a Kafka broker; is it the right port?"),
        (b"SSH-2.0-OpenSSH_9.6\r\n", "not a Kafka broker (it sent 'SSH-2.0-OpenSSH_'); is it the right port?"),
        (b"-ERR unknown command\r\n", "not a Kafka broker (it sent '-ERR unknown com'); is it the right port?"),
    ],
)
def test_other_servers_are_detected_immediately(sent: bytes, expected: str) -> None:
    with listening(answering(sent)) as server:
        assert told(server).endswith(expected)


def test_a_refused_connection_is_reported_with_advice() -> None:
    server = refused()
    assert told(server, api_version_auto_timeout_ms=0).endswith(
        f"cannot connect to {server}: connection refused (ECONNREFUSED); is the broker running, and "
        "is the address right?"
    )


def test_a_listener_that_hangs_up_for_another_reason_is_retried() -> None:
    """As one that is about to start, or a balancer without anybody behind it."""
    hung_up = threading.Event()

    def serve(connection: socket.socket) -> None:
        hung_up.set()

    async def start(server: str) -> None:
        client = kafka.AsyncKafkaAdminClient(bootstrap_servers=server, bootstrap_timeout_ms=NEVER_MS)
        starting = asyncio.ensure_future(client.start())
        await asyncio.to_thread(hung_up.wait)
        hung_up.clear()
        await asyncio.to_thread(hung_up.wait)
        assert not starting.done()
        starting.cancel()
        await asyncio.wait((starting,))
        await client.close()

    with listening(serve) as server:
        asyncio.run(start(server))


def test_aiokafkas_error_fits_on_a_screen_too(tls_server: str) -> None:
    async def start() -> None:
        await kafka.aio.AIOKafkaProducer(bootstrap_servers=tls_server).start()

    with pytest.raises(kafka.aio.errors.KafkaConnectionError, match="speaks TLS, but") as failure:
        asyncio.run(start())
    assert len("".join(traceback.format_exception(failure.value)).splitlines()) < A_SCREEN
