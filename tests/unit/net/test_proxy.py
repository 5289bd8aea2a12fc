"""Connections through a proxy: all clients use it, with names that only it can resolve, and errors name it."""

import asyncio
import contextlib
import socket
import sys

import pytest

from harness.proxy import Socks5Proxy
from kafka import AsyncKafkaConsumer, AsyncKafkaProducer, KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.broker import EmbeddedBroker
from kafka.config import parse_admin
from kafka.errors import KafkaConfigurationError, NoBrokersAvailable
from kafka.net.open_stream import ProxyRefusedError, connect_through

pytestmark = pytest.mark.once
HIDDEN = "kafka.hidden.test"
USER = ("ann", "p@ss:w/rd")
URL_USER = "ann:p%40ss%3Aw%2Frd@"


@pytest.fixture(scope="module")
def hidden():
    """Provide a broker, and a proxy that knows it by a name that cannot be resolved here."""
    with EmbeddedBroker() as broker, Socks5Proxy(USER, names={HIDDEN: "127.0.0.1"}) as proxy:
        proxy.broker = broker
        yield proxy


def through(proxy, option="proxy_url", scheme="socks5h", user=URL_USER):
    port = proxy.broker.bootstrap_servers.rpartition(":")[2]
    return {"bootstrap_servers": f"{HIDDEN}:{port}", option: f"{scheme}://{user}127.0.0.1:{proxy.port}"}


def test_the_synchronous_clients_use_the_proxy(hidden):
    before = len(hidden.asked)
    options = through(hidden)
    with KafkaAdminClient(**options) as admin:
        admin.create_topics(["t"])
    with contextlib.closing(KafkaProducer(**options)) as producer:
        producer.send("t", b"v").get(10)
    with contextlib.closing(KafkaConsumer("t", auto_offset_reset="earliest", **options)) as consumer:
        assert next(consumer).value == b"v"
    asked = hidden.asked[before:]
    # Each client finds the cluster by the name, and queries the broker at the advertised address.
    assert {host for host, _ in asked} == {HIDDEN, "127.0.0.1"}
    assert sum(host == HIDDEN for host, _ in asked) == 3
    assert sum(host == "127.0.0.1" for host, _ in asked) >= 3


async def test_the_asyncio_clients_use_the_proxy(hidden):
    options = through(hidden, "socks5_proxy")
    async with AsyncKafkaProducer(**options) as producer:
        await producer.send_and_wait("u", b"v")
    async with AsyncKafkaConsumer("u", auto_offset_reset="earliest", **options) as consumer:
        async for record in consumer:
            assert record.value == b"v"
            break


def test_with_socks5_names_are_resolved_locally(hidden):
    before = len(hidden.asked)
    options = through(hidden, scheme="socks5")
    options["bootstrap_servers"] = options["bootstrap_servers"].replace(HIDDEN, "localhost")
    with KafkaAdminClient(**options) as admin:
        admin.list_topics()
    assert {host for host, _ in hidden.asked[before:]} <= {"127.0.0.1", "::1"}
    assert len(hidden.asked) > before


@pytest.mark.parametrize("user", ["", "ann:wrong@"])
def test_a_proxy_that_rejects_the_client_is_named_without_the_password(hidden, user):
    with pytest.raises(NoBrokersAvailable, match=rf"the proxy 127\.0\.0\.1:{hidden.port} (rejected|ended)") as caught:
        KafkaAdminClient(**through(hidden, user=user), bootstrap_timeout_ms=300)
    assert "wrong" not in str(caught.value)


async def test_the_error_contains_the_proxys_reason():
    with Socks5Proxy(reply=5) as proxy:
        address = parse_admin({"proxy_url": f"socks5h://localhost:{proxy.port}"}).security.proxy
        with pytest.raises(ProxyRefusedError, match=r"rejected the connection: .*[Cc]onnection refused"):
            await connect_through(address, "b", 1, 5)
        port = proxy.port
    address = parse_admin({"proxy_url": f"socks5h://127.0.0.1:{port}"}).security.proxy
    with pytest.raises(ProxyRefusedError, match=rf"the proxy 127\.0\.0\.1:{port} cannot be reached"):
        await connect_through(address, "b", 1, 5)


async def test_a_silent_proxy_times_out():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        address = parse_admin({"proxy_url": f"http://127.0.0.1:{port}"}).security.proxy
        with pytest.raises(ProxyRefusedError, match=r"did not connect within 0\.05 s"):
            await connect_through(address, "b", 1, 0.05)


@pytest.mark.parametrize("answer", [b"\x05\xff", b"\x04\x00", b"HTTP/1.1 400\r\n\r\n", b"\x05", b""])
async def test_a_hostile_proxy_causes_an_error_and_no_crash(answer):
    async def serve(reader, writer):
        await reader.read(1)
        writer.write(answer)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    address = parse_admin({"proxy_url": f"socks5h://u:hunter2@127.0.0.1:{port}"}).security.proxy
    with pytest.raises(ProxyRefusedError, match="the proxy") as caught:
        await connect_through(address, "b", 1, 5)
    assert "hunter2" not in str(caught.value)
    server.close()
    await server.wait_closed()


async def test_the_reply_of_an_http_proxy_is_escaped():
    async def serve(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 407 \x1b[2J\xff" + b"x" * 10_000 + b"\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    address = parse_admin({"proxy_url": f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"}).security.proxy
    with pytest.raises(ProxyRefusedError, match=r"rejected the connection: 407 \\x1b\[2J\\udcffx") as caught:
        await connect_through(address, "b", 1, 5)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 500
    server.close()
    await server.wait_closed()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"proxy_url": "socks4://h:1"}, "expects 'socks5://"),
        ({"proxy_url": "socks5://h"}, "expects"),
        ({"proxy_url": "socks5://h:99999"}, "expects"),
        ({"proxy_url": "socks5://u:hunter2@h:1/path"}, "expects"),
        ({"socks5_proxy": "http://u:hunter2@h:1"}, "use 'proxy_url' for an HTTP proxy"),
        ({"socks5_proxy": "socks5://h:1", "proxy_url": "socks5://h:2"}, "different proxies"),
    ],
)
def test_a_wrong_url_is_reported_but_not_shown(options, message):
    with pytest.raises(KafkaConfigurationError, match=message) as caught:
        parse_admin(options)
    assert "hunter2" not in str(caught.value)


def test_the_missing_proxy_library_is_named(monkeypatch, hidden):
    monkeypatch.setitem(sys.modules, "python_socks.async_.asyncio", None)
    with pytest.raises(KafkaConfigurationError, match=r"pip install 'kafka-columnar\[socks\]'"):
        KafkaAdminClient(**through(hidden))
    assert "p@ss" not in repr(parse_admin(through(hidden)))
