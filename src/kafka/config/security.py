"""Connection security options: the protocol, TLS, SASL, and the proxy."""

import dataclasses
import urllib.parse
from typing import Any

from kafka.config.option import Parser, choice, invalid, option
from kafka.config.sasl import OAuthBearerOptions, SaslOptions
from kafka.config.tls import TlsOptions
from kafka.errors import KafkaConfigurationError

_SCHEMES = ("socks5", "socks5h", "http")
_EXPECTED = "'socks5://host:port', 'socks5h://host:port' or 'http://host:port', with 'user:password@' before the host"


@dataclasses.dataclass(frozen=True, slots=True)
class ProxyAddress:
    """The address of a proxy.

    Arguments:
        scheme: "socks5", "socks5h" (the proxy resolves the brokers' names) or "http".
    """

    scheme: str
    host: str
    port: int
    username: str | None = dataclasses.field(default=None, repr=False)
    password: str | None = dataclasses.field(default=None, repr=False)


def proxy_address(name: str, url: str) -> ProxyAddress:
    """Parse a proxy URL. Raises `KafkaConfigurationError` without showing the URL, which may contain a password."""
    try:
        parts = urllib.parse.urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise _wrong(name) from None
    if parts.scheme not in _SCHEMES or not host or not port or parts.path not in ("", "/") or parts.query:
        raise _wrong(name)
    user, password = parts.username, parts.password
    if user is None:
        return ProxyAddress(parts.scheme, host, port)
    return ProxyAddress(parts.scheme, host, port, urllib.parse.unquote(user), urllib.parse.unquote(password or ""))


def _wrong(name: str) -> KafkaConfigurationError:
    return KafkaConfigurationError(f"option {name!r} expects {_EXPECTED}; the value is not shown")


def _parse(name: str, value: Any) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise invalid(name, _EXPECTED, value)
    proxy_address(name, value)
    return value


_URL = Parser(_parse, "str | None")


@dataclasses.dataclass(frozen=True, repr=False)
class ProxyOptions:
    """Options for the proxy through which clients connect to brokers."""

    socks5_proxy: str | None = option(
        None,
        _URL,
        "URL of a SOCKS5 proxy: 'socks5://user:password@host:port'; with socks5h, the proxy resolves host names.",
    )
    proxy_url: str | None = option(None, _URL, "URL of a proxy: socks5, socks5h or http (CONNECT).")

    @property
    def proxy(self) -> ProxyAddress | None:
        """The proxy to use; None: connect to brokers directly."""
        url = self.proxy_url if self.proxy_url is not None else self.socks5_proxy
        return None if url is None else proxy_address("proxy_url", url)


def check_proxy(options: ProxyOptions) -> None:
    """Raise `KafkaConfigurationError` if two proxies are set, or if a proxy has the wrong scheme for its option."""
    if options.proxy_url is not None and options.socks5_proxy not in (None, options.proxy_url):
        raise KafkaConfigurationError("'proxy_url' and 'socks5_proxy' name different proxies: use only one of them")
    if options.socks5_proxy is not None and proxy_address("socks5_proxy", options.socks5_proxy).scheme == "http":
        raise KafkaConfigurationError("'socks5_proxy' expects a SOCKS5 proxy; use 'proxy_url' for an HTTP proxy")


@dataclasses.dataclass(frozen=True, repr=False)
class SecurityOptions(TlsOptions, SaslOptions, OAuthBearerOptions, ProxyOptions):
    """Protocol, TLS, SASL and proxy options, for all clients. Their text form is empty, because many are secrets."""

    security_protocol: str = option(
        "PLAINTEXT",
        choice({name.lower(): name for name in ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")}),
        "Protocol for connections to brokers: 'PLAINTEXT', 'SSL', 'SASL_PLAINTEXT' or 'SASL_SSL'.",
        "security.protocol",
    )

    @property
    def uses_tls(self) -> bool:
        """Whether connections are encrypted."""
        return self.security_protocol in ("SSL", "SASL_SSL")

    @property
    def uses_sasl(self) -> bool:
        """Whether the client authenticates with SASL."""
        return self.security_protocol in ("SASL_PLAINTEXT", "SASL_SSL")

    def __repr__(self) -> str:
        return f"SecurityOptions(security_protocol={self.security_protocol!r}, sasl_mechanism={self.sasl_mechanism!r})"
