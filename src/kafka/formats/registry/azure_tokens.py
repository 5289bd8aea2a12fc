"""Tokens of the machine's own identity, from Azure's instance metadata service."""

from __future__ import annotations

import json
from typing import Any

from kafka.errors import KafkaConnectionError, SaslAuthenticationFailedError
from kafka.formats.registry.http_library import http_library

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
