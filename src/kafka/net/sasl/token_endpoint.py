"""Tokens from an OAuth 2 or OIDC server, with client credentials (KIP-768) or a signed assertion (RFC 7523).

All calls block, so they run in the threads of `kafka.net.helper_threads`. Only this module needs Authlib and requests,
which are imported when the first token is requested.
"""

import json
import logging
import time
import urllib.parse
import uuid
from typing import Any

from kafka.config import SecurityOptions
from kafka.errors import KafkaConfigurationError, KafkaConnectionError, SaslAuthenticationFailedError
from kafka.net.peer_text import shown_text

log = logging.getLogger(__name__)

_JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_MAX_ANSWER_BYTES = 1024 * 1024
_BUSY = (408, 429)
"""Status codes below 500 that mean a temporary failure."""
_EXTRA = "pip install 'kafka-columnar[oauth]'"


class TokenEndpoint:
    """Requests tokens from a token endpoint. `fetch` returns the endpoint's response, a dict with ``access_token``."""

    def __init__(self, options: SecurityOptions) -> None:
        self._options = options
        self._url = options.sasl_oauthbearer_token_endpoint_url or ""
        parts = urllib.parse.urlsplit(self._url)
        port = f":{parts.port}" if parts.port else ""
        self.described_as = f"the token endpoint {parts.scheme}://{parts.hostname}{port}{parts.path}"

    def fetch(self) -> dict[str, Any]:
        """Request a new token.

        Raises `KafkaConnectionError` if the endpoint cannot be reached or fails, `SaslAuthenticationFailedError` if the
        endpoint rejects the request, and `KafkaConfigurationError`. No error contains a secret.
        """
        try:
            import requests
            from authlib.integrations.base_client import OAuthError
        except ImportError as error:
            raise KafkaConfigurationError(
                f"'sasl_oauthbearer_token_endpoint_url' requires a package that is not installed ({error}): {_EXTRA}"
            ) from error
        try:
            answer = self._ask()
        except OAuthError as error:
            refusal = f"{error.error}: {error.description}" if error.description else f"{error.error}"
            raise SaslAuthenticationFailedError(
                f"{self.described_as} rejected the request: {self._scrubbed(refusal)}"
            ) from None
        except requests.RequestException as error:
            why = type(error).__name__
            if isinstance(error, requests.exceptions.SSLError):
                why += "; 'sasl_oauthbearer_ssl_cafile' says which authorities to trust"
            raise KafkaConnectionError(f"{self.described_as} cannot be reached: {why}") from None
        if not isinstance(answer.get("access_token"), str):
            raise SaslAuthenticationFailedError(f"{self.described_as} returned no 'access_token'")
        return answer

    def _ask(self) -> dict[str, Any]:
        from authlib.integrations.requests_client import OAuth2Session

        options = self._options
        client, secret = self._client()
        form = {"grant_type": "client_credentials"}
        method: Any = "client_secret_basic"
        if self.signs:
            form, method = {"grant_type": _JWT_BEARER, "assertion": assertion(options)}, _no_client
        if options.sasl_oauthbearer_scope is not None:
            form["scope"] = options.sasl_oauthbearer_scope
        with OAuth2Session(client, secret, token_endpoint_auth_method=method) as session:
            session.register_compliance_hook("access_token_response", self._checked)
            answer: dict[str, Any] = session.fetch_token(
                self._url,
                **form,
                timeout=(options.sasl_login_connect_timeout_ms / 1000, options.sasl_login_read_timeout_ms / 1000),
                verify=options.sasl_oauthbearer_ssl_cafile or True,
                allow_redirects=False,  # the credentials must only be sent to this endpoint
                stream=True,
            )
        return answer

    @property
    def signs(self) -> bool:
        """Whether a signed assertion replaces the client secret."""
        options = self._options
        given = options.sasl_oauthbearer_assertion_private_key_file or options.sasl_oauthbearer_assertion_file
        return given is not None

    def _client(self) -> tuple[str, str]:
        options = self._options
        client = options.sasl_oauthbearer_client_credentials_client_id or ""
        secret = options.sasl_oauthbearer_client_credentials_client_secret or ""
        if options.sasl_oauthbearer_header_urlencode:
            return urllib.parse.quote_plus(client), urllib.parse.quote_plus(secret)
        return client, secret

    def _checked(self, response: Any) -> Any:
        """Read a limited part of a response. Raise an error if it does not come from a token endpoint."""
        with response:
            body = self._body(response.raw)
        if response.status_code >= 500 or response.status_code in _BUSY:
            raise KafkaConnectionError(f"{self.described_as} fails with HTTP status {response.status_code}")
        response._content = body  # requests expects the content there
        try:
            answer = json.loads(body) if len(body) <= _MAX_ANSWER_BYTES else None
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict) or (response.status_code != 200 and "error" not in answer):
            raise SaslAuthenticationFailedError(
                f"{self.described_as} answered with HTTP status {response.status_code} and no token; "
                "is it the URL of a token endpoint?"
            )
        return response

    def _body(self, raw: Any) -> bytes:
        """Read a response, limiting its size and the total time; the HTTP library only limits the time of each read.

        Arguments:
            raw: urllib3's response, which raises urllib3's own errors instead of those of the requests library.
        """
        from urllib3.exceptions import HTTPError

        limit_ms = self._options.sasl_login_read_timeout_ms
        deadline = time.monotonic() + limit_ms / 1000
        read = raw.read1 if hasattr(raw, "read1") else raw.read  # urllib3 before 2 has only read()
        body = bytearray()
        try:
            while len(body) <= _MAX_ANSWER_BYTES:
                part = read(_MAX_ANSWER_BYTES + 1 - len(body), decode_content=True)
                if not part:
                    break
                body += part
                if time.monotonic() > deadline:
                    raise KafkaConnectionError(f"{self.described_as} did not finish its answer in {limit_ms} ms")
        except (HTTPError, OSError) as error:
            raise KafkaConnectionError(f"{self.described_as} aborted its answer: {type(error).__name__}") from None
        return bytes(body)

    def _scrubbed(self, text: str) -> str:
        """Return the server's text without the client secret, in case the server repeats it."""
        secret = self._options.sasl_oauthbearer_client_credentials_client_secret
        return shown_text(text.replace(secret, "(not shown)") if secret else text)


def _no_client(client: Any, method: str, uri: str, headers: Any, body: Any) -> tuple[str, Any, Any]:
    """Send no client id, because the assertion identifies the client, as in the Java client."""
    return uri, headers, body


def assertion(options: SecurityOptions) -> str:
    """Return the assertion (RFC 7523) that the options specify, either read from a file or newly signed."""
    if options.sasl_oauthbearer_assertion_file is not None:
        return _read(options.sasl_oauthbearer_assertion_file).strip()
    from joserfc import jwt
    from joserfc.errors import JoseError
    from joserfc.jwk import ECKey, RSAKey

    now = int(time.time())
    header: dict[str, Any] = {"alg": options.sasl_oauthbearer_assertion_algorithm, "typ": "JWT"}
    claims: dict[str, Any] = {
        "iat": now,
        "exp": now + options.sasl_oauthbearer_assertion_claim_exp_seconds,
        "nbf": now - options.sasl_oauthbearer_assertion_claim_nbf_seconds,
    }
    template = _template(options.sasl_oauthbearer_assertion_template_file)
    header |= template["header"]
    claims |= template["payload"]
    for name in ("aud", "iss", "sub"):
        value = getattr(options, f"sasl_oauthbearer_assertion_claim_{name}")
        if value is not None:
            claims[name] = value
    if options.sasl_oauthbearer_assertion_claim_jti_include:
        claims["jti"] = str(uuid.uuid4())
    kind = ECKey if header["alg"].startswith("ES") else RSAKey
    path = options.sasl_oauthbearer_assertion_private_key_file or ""
    try:
        key = kind.import_key(_read(path), password=options.sasl_oauthbearer_assertion_private_key_passphrase)
        return jwt.encode(header, claims, key, algorithms=[header["alg"]])
    except (JoseError, ValueError, TypeError) as error:
        raise KafkaConfigurationError(
            f"the key {path} cannot sign with {header['alg']} ({type(error).__name__}): is it a PEM file of such a "
            "key, and 'sasl_oauthbearer_assertion_private_key_passphrase' correct?"
        ) from None


def _template(path: str | None) -> dict[str, dict[str, Any]]:
    if path is None:
        return {"header": {}, "payload": {}}
    try:
        found = json.loads(_read(path))
        return {part: dict(found.get(part, {})) for part in ("header", "payload")}
    except (ValueError, TypeError, AttributeError):
        raise KafkaConfigurationError(
            f'the template {path} is not of the form {{"header": {{...}}, "payload": {{...}}}}'
        ) from None


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise KafkaConfigurationError(f"{path} cannot be read: {error}") from None
