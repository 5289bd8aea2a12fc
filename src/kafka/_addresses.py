"""Parses and formats broker addresses. An IPv6 address before a port is in brackets, as in ``[::1]:9092``.

This module is below all layers: the clients, the embedded broker and the commands all use it to read and write
addresses.
"""

import socket
from typing import Final

DEFAULT_PORT: Final = 9092
_HIGHEST_PORT: Final = 65535


class AddressError(ValueError):
    """Raised for an invalid address; its message describes the expected format."""


def format_address(host: str, port: int) -> str:
    """Return ``host:port``, or ``[host]:port`` for an IPv6 address."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def bare_host(host: str) -> str:
    """Return a host without the brackets that may enclose an IPv6 address."""
    return host[1:-1] if host.startswith("[") and host.endswith("]") else host


def split_address(text: str) -> tuple[str, int | None]:
    """Return the host and the port of an address; the port is None if the address has none.

    An IPv6 address is returned without its brackets. If the whole text is an IPv6 address without brackets, it has no
    port. In any other text the port follows the last colon, as in ``::1:33159``. As in kafka-python, brackets may also
    enclose a host name. Raises `AddressError`.
    """
    if text.startswith("["):
        host, bracket, rest = text[1:].partition("]")
        if not bracket or not (_is_ipv6(host) or _is_name(host)) or rest[:1] not in ("", ":"):
            raise AddressError("an IPv6 address in brackets and then ':port', as in '[::1]:9092'")
        return host, _port(rest[1:]) if rest else None
    if ":" not in text or _is_ipv6(text):
        return text, None
    host, _, port = text.rpartition(":")
    if not host:
        raise AddressError("a host before the port, as in 'localhost:9092'")
    if ":" in host and not _is_ipv6(host):
        raise AddressError("'host:port', with an IPv6 address in brackets, as in '[::1]:9092'")
    return host, _port(port)


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text) <= _HIGHEST_PORT):
        raise AddressError(f"'host:port' with a port from 1 to {_HIGHEST_PORT}")
    return int(text)


def _is_name(text: str) -> bool:
    return bool(text) and not any(each in text for each in ":[/") and not any(map(str.isspace, text))


def _is_ipv6(text: str) -> bool:
    """Return whether the text is an IPv6 address, with or without a zone, as in ``fe80::1%eth0``."""
    try:
        socket.inet_pton(socket.AF_INET6, text.partition("%")[0])
    except (OSError, ValueError):
        return False
    return True
