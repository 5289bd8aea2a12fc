"""The headers that authenticate a client to a schema registry, and tokens from Azure's metadata service."""

from __future__ import annotations

import base64
import inspect
import json
from collections.abc import Mapping
from typing import Any

from kafka.config import SecurityOptions
from kafka.errors import KafkaConfigurationError, KafkaConnectionError, SaslAuthenticationFailedError
from kafka.formats.registry.errors import http_library
from kafka.formats.registry.options import BearerOptions, RegistryOptions, RegistryUrl
from kafka.net.helper_threads import run_blocking
from kafka.net.sasl.token_providers import EndpointTokens


class Credentials:
    """Makes the headers of each request; runs on an event loop.

    Arguments:
        options: of the client.
    """

    def __init__(self, options: RegistryOptions) -> None:
        self._bearer = options.bearer
        self._tokens = None if options.bearer is None else _tokens(options.bearer, options.timeout_s)

    async def headers(self, url: RegistryUrl) -> dict[str, str]:
        """The headers for one registry.

        Raises the token endpoint's error, `KafkaConfigurationError` for a function that returns no token.
        """
        if self._bearer is not None:
            return await self._bearer_headers(self._bearer)
        if url.user is None:
            return {}
        pair = base64.b64encode(":".join(url.user).encode()).decode()
        return {"Authorization": f"Basic {pair}"}

    async def _bearer_headers(self, bearer: BearerOptions) -> dict[str, str]:
        token, cluster, pool = bearer.token, bearer.logical_cluster, bearer.identity_pool
        if self._tokens is not None:
            token = await run_blocking(self._tokens.token)
        elif bearer.function is not None:
            fields = await _fields(bearer)
            token = fields.get("bearer.auth.token")
            cluster = fields.get("bearer.auth.logical.cluster", cluster)
            pool = fields.get("bearer.auth.identity.pool.id", pool)
        if not isinstance(token, str) or not token:
            raise KafkaConfigurationError(
                "'bearer.auth.custom.provider.function' has to give a dict with 'bearer.auth.token'"
            )
        headers = {"Authorization": f"Bearer {_sendable(token, 'bearer.auth.token')}"}
        if cluster is not None:
            headers["target-sr-cluster"] = _sendable(cluster, "bearer.auth.logical.cluster")
        if pool is not None:
            headers["Confluent-Identity-Pool-Id"] = _sendable(pool, "bearer.auth.identity.pool.id")
        return headers


def _tokens(bearer: BearerOptions, timeout_s: float) -> EndpointTokens | None:
    if bearer.azure_url is not None:
        return EndpointTokens(SecurityOptions(), AzureTokenEndpoint(bearer.azure_url, timeout_s))
    return None if bearer.endpoint is None else EndpointTokens(bearer.endpoint)


def _sendable(value: Any, name: str) -> str:
    """A header's value, checked here: the HTTP library's errors would show invalid values, tokens included."""
    if not isinstance(value, str) or not value.isascii() or not value.isprintable() or value != value.strip():
        raise KafkaConfigurationError(
            f"{name!r} has to be a text without line breaks, blanks at its ends and letters beyond ASCII; one that is "
            "read from a file often ends with a line break"
        )
    return value


async def _fields(bearer: BearerOptions) -> Mapping[str, Any]:
    """The result of the user's function, which may be asynchronous; run in a thread, as it may block."""
    assert bearer.function is not None
    fields: Any = await run_blocking(bearer.function, bearer.function_config)
    if inspect.isawaitable(fields):
        fields = await fields
    return fields if isinstance(fields, Mapping) else {}


_MAX_ANSWER_BYTES = 1024 * 1024
_PASSING = (404, 408, 410, 429)
"""Statuses below 500 that the service answers with while it starts or is busy."""


class AzureTokenEndpoint:
    """Asks the metadata service. It knows the machine, so nothing proves who asks.

    Arguments:
        url: with the query that names the resource.
        timeout_s: limit of each step of a request.
    """

    def __init__(self, url: str, timeout_s: float) -> None:
        self._url = url
        self._timeout_s = timeout_s
        self._described_as = f"the token endpoint {url.partition('?')[0]}"

    def fetch(self) -> dict[str, Any]:
        """A new token: the endpoint's answer, a dict with ``access_token``. Blocks.

        Raises `KafkaConnectionError` if the endpoint cannot be reached or fails, `SaslAuthenticationFailedError` if it
        refuses.
        """
        http = http_library()
        try:
            status, body = self._asked(http)
        except http.HTTPError as error:
            raise KafkaConnectionError(
                f"{self._described_as} cannot be asked: {type(error).__name__}; it is there on machines of Azure alone"
            ) from None
        if status >= 500 or status in _PASSING:
            raise KafkaConnectionError(f"{self._described_as} fails with HTTP status {status}")
        try:
            answer = json.loads(body)
        except (ValueError, RecursionError):
            answer = None
        if status != 200 or not isinstance(answer, dict) or not isinstance(answer.get("access_token"), str):
            raise SaslAuthenticationFailedError(
                f"{self._described_as} answered with HTTP status {status} and no token; does "
                "'bearer.auth.issuer.endpoint.query' have api-version, resource and, if need be, client_id?"
            )
        return answer

    def _asked(self, http: Any) -> tuple[int, bytes]:
        """The status and the body, up to a limit. No proxy would reach the service."""
        body = bytearray()
        with (
            http.Client(trust_env=False, timeout=self._timeout_s) as client,
            client.stream("GET", self._url, headers={"Metadata": "true", "Accept-Encoding": "identity"}) as response,
        ):
            for part in response.iter_raw():
                body += part
                if len(body) > _MAX_ANSWER_BYTES:
                    break
            return response.status_code, bytes(body)
