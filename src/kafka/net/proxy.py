"""Connections through a proxy (SOCKS5, or HTTP with CONNECT), by the library python-socks."""

import asyncio
import socket

from kafka._addresses import format_address
from kafka.config.security import ProxyAddress
from kafka.errors import KafkaConfigurationError, KafkaConnectionError
from kafka.net.peer_text import shown_text


class ProxyRefusedError(KafkaConnectionError):
    """The proxy cannot be reached, does not let this client in, or cannot reach the broker."""


def check_proxy_library() -> None:
    """Raise `KafkaConfigurationError` where what a proxy needs is not installed. Imports it, which takes a moment."""
    try:
        import python_socks.async_.asyncio  # noqa: F401
    except ImportError as error:
        raise KafkaConfigurationError(
            f"'proxy_url' and 'socks5_proxy' require python-socks ({error}): pip install 'kafka-columnar[socks]'"
        ) from error


async def connect_through(proxy: ProxyAddress, host: str, port: int, timeout_s: float) -> socket.socket:
    """A socket that leads to ``host`` and ``port``; raises `ProxyRefusedError`, which names the proxy, not its user."""
    from python_socks import ProxyConnectionError, ProxyError, ProxyTimeoutError, ProxyType
    from python_socks.async_.asyncio import Proxy

    kind = ProxyType.HTTP if proxy.scheme == "http" else ProxyType.SOCKS5
    # If names are to be resolved locally, the caller has done so already, and `host` is an address.
    way = Proxy(kind, proxy.host, proxy.port, proxy.username, proxy.password, rdns=True)
    where = f"the proxy {format_address(proxy.host, proxy.port)}"
    try:
        return await way.connect(host, port, timeout=timeout_s)
    except ProxyTimeoutError:
        raise ProxyRefusedError(f"{where} did not connect it in {timeout_s:g} s") from None
    except ProxyConnectionError as error:
        raise ProxyRefusedError(f"{where} cannot be connected: {error.strerror or error}") from None
    except ProxyError as error:
        raise ProxyRefusedError(f"{where} refuses: {shown_text(str(error))}") from None
    except (OSError, asyncio.IncompleteReadError) as error:
        raise ProxyRefusedError(f"{where} ended the connection: {error}") from None
