"""Addresses of brokers as text, and what the name service says about them."""

from __future__ import annotations

import logging
import random
import socket
from collections.abc import Iterable
from typing import Any

from kafka._addresses import DEFAULT_PORT, format_address, split_address

DEFAULT_KAFKA_PORT = DEFAULT_PORT
AFI_NAMES = {socket.AF_UNSPEC: "unspecified", socket.AF_INET: "IPv4", socket.AF_INET6: "IPv6"}

SASL_QOP_AUTH, SASL_QOP_AUTH_INT, SASL_QOP_AUTH_CONF = 1, 2, 4
"""What GSSAPI may protect; there is no GSSAPI here."""

ssl_available = True

_log = logging.getLogger(__name__)


def collect_hosts(hosts: str | Iterable[str], randomize: bool = True) -> list[tuple[str, int]]:
    """Take hosts, separated by commas or one by one, apart into pairs of name and port, in random order.

    A protocol before them, as in "SASL_SSL://host:9092", is left out.
    """
    listed = hosts.strip().split(",") if isinstance(hosts, str) else hosts
    found = [get_ip_port_afi(host.rpartition("://")[2])[:2] for host in listed]
    if randomize:
        random.shuffle(found)
    return found


def get_ip_port_afi(host_and_port_str: str) -> tuple[str, int, socket.AddressFamily]:
    """Take `host`, `host:port`, `[IPv6]` or `[IPv6]:port` apart; the third value says what kind of address it is."""
    host, port = split_address(host_and_port_str.strip())
    return host, DEFAULT_KAFKA_PORT if port is None else port, _family(host)


def _family(address: str) -> socket.AddressFamily:
    """What kind of address it is; AF_UNSPEC for a name."""
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            socket.inet_pton(family, address)
        except (OSError, ValueError):
            continue
        return family
    return socket.AF_UNSPEC


def is_inet_4_or_6(gai: tuple[Any, ...]) -> bool:
    """Whether an entry of `getaddrinfo` is of IPv4 or IPv6."""
    return gai[0] in (socket.AF_INET, socket.AF_INET6)


def dns_lookup(host: str, port: int, afi: int = socket.AF_UNSPEC) -> list[tuple[Any, ...]]:
    """Look a host up; an empty list if there is none."""
    try:
        return [entry for entry in socket.getaddrinfo(host, port, afi, socket.SOCK_STREAM) if is_inet_4_or_6(entry)]
    except socket.gaierror as error:
        address = format_address(host, port)
        _log.warning("DNS lookup failed for %s: %s. Are the brokers' advertised.listeners right?", address, error)
        return []
