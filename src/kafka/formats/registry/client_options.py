"""The configuration of a schema registry client, under confluent-kafka's names, parsed once into a frozen object."""

from __future__ import annotations

import difflib
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

from kafka.config import SecurityOptions
from kafka.errors import KafkaConfigurationError

log = logging.getLogger(__name__)

_NAMES = (
    "url",
    "ssl.ca.location",
    "ssl.key.location",
    "ssl.key.password",
    "ssl.certificate.location",
    "basic.auth.user.info",
    "bearer.auth.credentials.source",
    "bearer.auth.token",
    "bearer.auth.client.id",
    "bearer.auth.client.secret",
    "bearer.auth.scope",
    "bearer.auth.issuer.endpoint.url",
    "bearer.auth.issuer.endpoint.query",
    "bearer.auth.logical.cluster",
    "bearer.auth.identity.pool.id",
    "bearer.auth.custom.provider.function",
    "bearer.auth.custom.provider.config",
    "proxy",
    "timeout",
    "cache.capacity",
    "cache.latest.ttl.sec",
    "max.retries",
    "retries.wait.ms",
    "retries.max.wait.ms",
)
_SECRET = ("bearer.auth.token", "bearer.auth.client.secret", "ssl.key.password", "basic.auth.user.info", "url", "proxy")
"""Options whose values must not appear in error messages."""
_SOURCES = ("STATIC_TOKEN", "OAUTHBEARER", "OAUTHBEARER_AZURE_IMDS", "CUSTOM")
_AZURE_URL = "http://169.254.169.254/metadata/identity/oauth2/token"
"""The token endpoint of Azure's metadata service."""
CustomProvider = Callable[[dict[str, Any]], Mapping[str, Any]]


@dataclass(frozen=True, repr=False)
class RegistryUrl:
    """The address of one registry, with its user name and password."""

    address: str
    user: tuple[str, str] | None = None


@dataclass(frozen=True, repr=False)
class BearerOptions:
    """The source of bearer tokens (a fixed token, an endpoint, Azure or a function), and Confluent Cloud's headers."""

    token: str | None = None
    endpoint: SecurityOptions | None = None
    azure_url: str | None = None
    function: CustomProvider | None = None
    function_config: dict[str, Any] = field(default_factory=dict)
    logical_cluster: str | None = None
    identity_pool: str | None = None


@dataclass(frozen=True, repr=False)
class RegistryOptions:
    """All options of a client. The `repr` does not show them because they contain secrets."""

    urls: tuple[RegistryUrl, ...]
    security: SecurityOptions
    verify: bool = True
    bearer: BearerOptions | None = None
    proxy: str | None = None
    timeout_s: float = 10.0
    cache_capacity: int = 1000
    cache_latest_ttl_s: float = 300.0
    max_retries: int = 3
    retries_wait_ms: float = 1000.0
    retries_max_wait_ms: float = 20000.0

    @property
    def uses_tls(self) -> bool:
        """Whether connections to a registry or proxy may use TLS."""
        addresses = [each.address for each in self.urls] + ([] if self.proxy is None else [self.proxy])
        return any(each.startswith("https:") for each in addresses)


def parse(conf: Mapping[str, Any]) -> RegistryOptions:
    """Parse and check the configuration; raises `KafkaConfigurationError` without showing secrets."""
    if not isinstance(conf, Mapping):
        raise KafkaConfigurationError(f"Expected the configuration as a dict with 'url', got {type(conf).__name__}")
    for name in conf:
        if name not in _NAMES:
            near = difflib.get_close_matches(str(name), _NAMES, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(_NAMES)}"
            raise KafkaConfigurationError(f"{name!r} is not an option of a schema registry client: {hint}")
    given = {name: value for name, value in conf.items() if value is not None}
    urls, bearer = _urls(given), _bearer(given)
    if bearer is not None and any(each.user for each in urls):
        log.warning(
            "The schema registry client sends the token of 'bearer.auth.credentials.source', and not the user and "
            "password of 'basic.auth.user.info' or 'url', which are also set; remove one of the two"
        )
    return RegistryOptions(
        urls=urls,
        security=_tls(given),
        verify=given.get("ssl.ca.location") is not False,
        bearer=bearer,
        proxy=_text(given, "proxy"),
        timeout_s=_number(given, "timeout", 10.0, 0.001),
        cache_capacity=int(_number(given, "cache.capacity", 1000, 1)),
        cache_latest_ttl_s=_number(given, "cache.latest.ttl.sec", 300.0, 0),
        max_retries=int(_number(given, "max.retries", 3, 0)),
        retries_wait_ms=_number(given, "retries.wait.ms", 1000.0, 0),
        retries_max_wait_ms=_number(given, "retries.max.wait.ms", 20000.0, 0),
    )


def _urls(given: Mapping[str, Any]) -> tuple[RegistryUrl, ...]:
    listed = given.get("url")
    texts = listed.split(",") if isinstance(listed, str) else listed
    if not isinstance(texts, (list, tuple)) or not texts or not all(isinstance(each, str) for each in texts):
        raise KafkaConfigurationError("'url' is needed: one or more URLs of schema registries, separated by commas")
    common = _user(given)
    found = []
    for number, text in enumerate(texts, 1):
        try:
            parts = urlsplit(text.strip().rstrip("/"))
            good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:  # the error's message may contain a password
            good = False
        if not good:
            hint = (
                "for tests start EmbeddedBroker(registry=True)"
                if text.strip().startswith("mock:")
                else "expected http://HOST:PORT or https://HOST"
            )
            raise KafkaConfigurationError(f"URL {number} of 'url' cannot be used: {hint}")
        user = None
        if parts.username is not None:
            user = (unquote(parts.username), unquote(parts.password or ""))
        if user is not None and common is not None:
            raise KafkaConfigurationError("'basic.auth.user.info' and a user in 'url' are both set: remove one")
        found.append(RegistryUrl(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}", user or common))
    return tuple(found)


def _user(given: Mapping[str, Any]) -> tuple[str, str] | None:
    text = _text(given, "basic.auth.user.info")
    if text is None:
        return None
    name, colon, password = text.partition(":")
    if not colon:
        raise KafkaConfigurationError("'basic.auth.user.info' must be USER:PASSWORD")
    return name, password


def _tls(given: Mapping[str, Any]) -> SecurityOptions:
    authorities = given.get("ssl.ca.location")
    certificate, key = _text(given, "ssl.certificate.location"), _text(given, "ssl.key.location")
    password = _text(given, "ssl.key.password")
    if certificate is None and (key is not None or password is not None):
        raise KafkaConfigurationError("'ssl.key.location' and 'ssl.key.password' need 'ssl.certificate.location'")
    if authorities not in (None, False, True) and not isinstance(authorities, str):
        raise KafkaConfigurationError(
            "'ssl.ca.location' must be the path of a file or folder of certificates, or False to trust any server"
        )
    return SecurityOptions(
        security_protocol="SSL",
        ssl_cafile=authorities if isinstance(authorities, str) else None,
        ssl_certfile=certificate,
        ssl_keyfile=key,
        ssl_password=password,
    )


def _bearer(given: Mapping[str, Any]) -> BearerOptions | None:
    source = given.get("bearer.auth.credentials.source")
    if source is None:
        if alone := [name for name in given if name.startswith("bearer.")]:
            raise KafkaConfigurationError(f"{alone[0]!r} needs 'bearer.auth.credentials.source': {_one_of(_SOURCES)}")
        return None
    if source not in _SOURCES:
        raise KafkaConfigurationError(f"'bearer.auth.credentials.source' must be {_one_of(_SOURCES)}, not {source!r}")
    pool = given.get("bearer.auth.identity.pool.id")
    where: dict[str, Any] = {
        "logical_cluster": _text(given, "bearer.auth.logical.cluster"),
        "identity_pool": ",".join(pool) if isinstance(pool, (list, tuple)) else pool,
    }
    if source == "STATIC_TOKEN":
        return BearerOptions(token=_needed(given, "bearer.auth.token", source), **where)
    if source == "OAUTHBEARER":
        endpoint = SecurityOptions(
            sasl_oauthbearer_token_endpoint_url=_needed(given, "bearer.auth.issuer.endpoint.url", source),
            sasl_oauthbearer_client_credentials_client_id=_needed(given, "bearer.auth.client.id", source),
            sasl_oauthbearer_client_credentials_client_secret=_needed(given, "bearer.auth.client.secret", source),
            sasl_oauthbearer_scope=_text(given, "bearer.auth.scope"),
            sasl_oauthbearer_ssl_cafile=_tls(given).ssl_cafile,
        )
        return BearerOptions(endpoint=endpoint, **where)
    if source == "OAUTHBEARER_AZURE_IMDS":
        return BearerOptions(azure_url=_azure_url(given), **where)
    function = given.get("bearer.auth.custom.provider.function")
    config = given.get("bearer.auth.custom.provider.config", {})
    if not callable(function) or not isinstance(config, dict):
        raise KafkaConfigurationError(
            "'bearer.auth.custom.provider.function' must be a function of one dict, "
            "'bearer.auth.custom.provider.config' the dict"
        )
    return BearerOptions(function=function, function_config=config, **where)


def _azure_url(given: Mapping[str, Any]) -> str:
    url, query = _text(given, "bearer.auth.issuer.endpoint.url"), _text(given, "bearer.auth.issuer.endpoint.query")
    if url is None and query is None:
        raise KafkaConfigurationError(
            "'bearer.auth.credentials.source' OAUTHBEARER_AZURE_IMDS needs 'bearer.auth.issuer.endpoint.query', such "
            "as 'api-version=2018-02-01&resource=api://...'"
        )
    try:
        parts = urlsplit(_AZURE_URL if url is None else url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good:
        raise KafkaConfigurationError("'bearer.auth.issuer.endpoint.url' must be a URL, http://HOST/PATH")
    return parts.geturl() if query is None else parts._replace(query=query, fragment="").geturl()


def _needed(given: Mapping[str, Any], name: str, source: str) -> str:
    text = _text(given, name)
    if text is None:
        raise KafkaConfigurationError(f"'bearer.auth.credentials.source' {source} needs {name!r}")
    return text


def _text(given: Mapping[str, Any], name: str) -> str | None:
    value = given.get(name)
    if value is not None and (not isinstance(value, str) or not value):
        shown = "an empty one" if value == "" else type(value).__name__ if name in _SECRET else repr(value)
        raise KafkaConfigurationError(f"{name!r} must be a non-empty string, not {shown}")
    return value


def _number(given: Mapping[str, Any], name: str, default: float, least: float) -> float:
    value = given.get(name, default)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= least:
        raise KafkaConfigurationError(f"{name!r} must be a number of at least {least:g}, not {value!r}")
    return value


def _one_of(names: tuple[str, ...]) -> str:
    return " or ".join(map(repr, names))
