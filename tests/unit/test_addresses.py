"""Addresses as text: parsing and formatting are inverse, IPv6 is in brackets, and invalid addresses are rejected."""

from __future__ import annotations

import socket

import pytest

from kafka import KafkaAdminClient, KafkaProducer
from kafka._addresses import AddressError, bare_host, format_address, split_address
from kafka.broker import EmbeddedBroker
from kafka.config import parse_admin
from kafka.conn import get_ip_port_afi
from kafka.errors import KafkaConfigurationError, NoBrokersAvailable

pytestmark = pytest.mark.once

READ = {
    "a:1": ("a", 1),
    "a": ("a", None),
    "10.0.0.1:2": ("10.0.0.1", 2),
    "::1": ("::1", None),
    "[::1]": ("::1", None),
    "[::1]:9": ("::1", 9),
    "::1:33159": ("::1", 33159),
    "::1:9092": ("::1:9092", None),
    "fe80::1%eth0": ("fe80::1%eth0", None),
    "[fe80::1%eth0]:9": ("fe80::1%eth0", 9),
    "[localhost]:9092": ("localhost", 9092),
    "[b.test]": ("b.test", None),
    "[10.0.0.1]:2": ("10.0.0.1", 2),
}
REFUSED = (
    "[::1]9092",
    "[::1",
    "[::1]:",
    "[a:1]",
    "[a b]:1",
    "[[a]]:1",
    "[a]1",
    "[]:1",
    ":9092",
    "a:",
    "a:b",
    "a:b:1",
    "a:0",
    "a:65536",
    "a:-1",
    "a:²",
)


@pytest.mark.parametrize("text", READ)
def test_addresses_are_parsed(text: str) -> None:
    host, port = split_address(text)
    assert (host, port) == READ[text]
    assert split_address(format_address(host, port or 9092)) == (host, port or 9092)
    assert parse_admin({"bootstrap_servers": text}).connection.bootstrap_servers == ((host, port or 9092),)
    assert get_ip_port_afi(text)[:2] == (host, port or 9092)


@pytest.mark.parametrize("text", REFUSED)
def test_invalid_addresses_are_rejected_with_the_expected_format(text: str) -> None:
    with pytest.raises(AddressError, match="port"):
        split_address(text)
    with pytest.raises(KafkaConfigurationError, match=r"'bootstrap_servers' expects .*port"):
        parse_admin({"bootstrap_servers": text})


@pytest.mark.parametrize(("host", "bare"), [("[::1]", "::1"), ("::1", "::1"), ("a", "a"), ("[a", "[a")])
def test_a_host_may_have_brackets(host: str, bare: str) -> None:
    assert bare_host(host) == bare
    assert parse_admin({"bootstrap_servers": [(host, 1)]}).connection.bootstrap_servers == ((bare, 1),)


def _has_ipv6() -> bool:
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


@pytest.mark.skipif(not _has_ipv6(), reason="this machine has no IPv6")
@pytest.mark.parametrize("host", ["::1", "[::1]"])
def test_an_ipv6_broker_is_reached_at_its_advertised_address(host: str) -> None:
    with EmbeddedBroker(host=host) as broker:
        assert broker.bootstrap_servers == f"[::1]:{broker.port}"
        for servers in (broker.bootstrap_servers, [("::1", broker.port)]):
            with KafkaProducer(bootstrap_servers=servers) as producer:
                assert producer.send("t", b"v").get(60).topic == "t"
        with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
            assert admin.describe_cluster()["brokers"][0]["host"] == "::1"


@pytest.mark.skipif(not _has_ipv6(), reason="this machine has no IPv6")
@pytest.mark.parametrize("advertised", ["::1", "[::1]"])
def test_an_advertised_ipv6_address_may_have_brackets(advertised: str) -> None:
    with EmbeddedBroker(host="::", advertised_host=advertised) as broker:
        assert broker.bootstrap_servers == f"[::1]:{broker.port}"


@pytest.mark.skipif(not _has_ipv6(), reason="this machine has no IPv6")
def test_messages_have_ipv6_addresses_in_brackets() -> None:
    with socket.create_server(("::1", 0), family=socket.AF_INET6) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(NoBrokersAvailable) as failed:
        KafkaAdminClient(bootstrap_servers=f"[::1]:{port}", bootstrap_timeout_ms=300)
    assert f"none of the bootstrap servers ([::1]:{port}) could be used" in str(failed.value)
    assert f"cannot connect to [::1]:{port}: connection refused" in str(failed.value)
