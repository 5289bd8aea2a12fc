"""Parses and resolves broker addresses."""

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
"""GSSAPI's levels of protection; GSSAPI is not available here."""

ssl_available = True

_log = logging.getLogger(__name__)


def collect_hosts(hosts: str | Iterable[str], randomize: bool = True) -> list[tuple[str, int]]:
    """Split hosts, given as a list or separated by commas, into pairs of name and port, in random order.

    A protocol prefix, as in "SASL_SSL://host:9092", is removed.
    """
    listed = hosts.strip().split(",") if isinstance(hosts, str) else hosts
    found = [get_ip_port_afi(host.rpartition("://")[2])[:2] for host in listed]
    if randomize:
        random.shuffle(found)
    return found


def get_ip_port_afi(host_and_port_str: str) -> tuple[str, int, socket.AddressFamily]:
    """Split `host`, `host:port`, `[IPv6]` or `[IPv6]:port`; the third result is the address family."""
    host, port = split_address(host_and_port_str.strip())
    return host, DEFAULT_KAFKA_PORT if port is None else port, _family(host)


def _family(address: str) -> socket.AddressFamily:
    """Return the family of an address; AF_UNSPEC for a name."""
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            socket.inet_pton(family, address)
        except (OSError, ValueError):
            continue
        return family
    return socket.AF_UNSPEC


def is_inet_4_or_6(gai: tuple[Any, ...]) -> bool:
    """Return whether a result of `getaddrinfo` is IPv4 or IPv6."""
    return gai[0] in (socket.AF_INET, socket.AF_INET6)


def dns_lookup(host: str, port: int, afi: int = socket.AF_UNSPEC) -> list[tuple[Any, ...]]:
    """Resolve a host; return an empty list if that fails."""
    try:
        return [entry for entry in socket.getaddrinfo(host, port, afi, socket.SOCK_STREAM) if is_inet_4_or_6(entry)]
    except socket.gaierror as error:
        address = format_address(host, port)
        _log.warning("DNS lookup failed for %s: %s. Are the brokers' advertised.listeners right?", address, error)
        return []
