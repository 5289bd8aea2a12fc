"""The headers that authenticate a client to a schema registry."""

from __future__ import annotations

import base64
import inspect
from collections.abc import Mapping
from typing import Any

from kafka.config import SecurityOptions
from kafka.errors import KafkaConfigurationError
from kafka.formats.registry.azure_tokens import AzureTokenEndpoint
from kafka.formats.registry.options import BearerOptions, RegistryOptions, RegistryUrl
from kafka.net.helper_threads import run_blocking
from kafka.net.sasl.tokens import EndpointTokens


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
