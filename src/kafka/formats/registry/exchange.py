"""Sends requests to a schema registry: tries its URLs in turn, and retries transient errors after a pause.

`BaseRegistryClient` is the common part of the synchronous and the asyncio client; `Credentials` makes the headers that
authenticate a client.
"""

from __future__ import annotations

import asyncio
import base64
import inspect
import json
import logging
import ssl
from collections.abc import Mapping
from typing import Any, NoReturn

from kafka.cluster.backoff import Backoff
from kafka.cluster.retry import RetryPolicy
from kafka.config import SecurityOptions
from kafka.errors import (
    IllegalStateError,
    KafkaConfigurationError,
    KafkaConnectionError,
    KafkaError,
    SaslAuthenticationFailedError,
)
from kafka.formats.registry.client_options import BearerOptions, RegistryOptions, RegistryUrl, parse
from kafka.formats.registry.errors import SchemaRegistryConnectionError, SchemaRegistryError, http_library
from kafka.formats.registry.responses import ACCEPTED, body_of
from kafka.net.helper_threads import run_blocking
from kafka.net.peer_text import shown_text
from kafka.net.sasl.token_providers import EndpointTokens
from kafka.net.tls_context import tls_context
from kafka.version import __version__

log = logging.getLogger(__name__)

MAX_ANSWER_BYTES = 64 * 1024 * 1024
_CONTENT_TYPE = "application/vnd.schemaregistry.v1+json"
_ACCEPT = "application/vnd.schemaregistry.v1+json, application/vnd.schemaregistry+json, application/json"
_PASSING = (408, 429, 500, 502, 503, 504)
"""HTTP status codes of transient errors."""
_ADVICE = {
    401: "; check 'basic.auth.user.info' or the options 'bearer.auth.*'",
    403: "; the user that the client logs in as lacks the right to do that",
}


class Exchange:
    """Sends requests on one event loop, and owns the connections for them.

    Arguments:
        options: the client's options.
    """

    def __init__(self, options: RegistryOptions) -> None:
        self._options = options
        self._credentials = Credentials(options)
        self._http = http_library()
        self._session: Any = None
        self._replaced: list[Any] = []
        self._context: ssl.SSLContext | None = None
        self._is_closed = False
        self._urls = options.urls
        backoff = Backoff(options.retries_wait_ms, options.retries_max_wait_ms)
        self._policy = RetryPolicy(backoff, log, fatal=lambda error: not _may_pass(error))

    async def request(
        self, method: str, path: str, query: Mapping[str, Any] | None = None, body: Mapping[str, Any] | None = None
    ) -> Any:
        """Send a request and return the JSON value of the response.

        Arguments:
            method: the HTTP method, such as GET.
            path: the path below the registry's URL, with quoted segments.
            query: the query parameters: strings, numbers, booleans and lists of strings.
            body: the request body, which is sent as JSON.

        Raises `SchemaRegistryError` if the registry rejects the request, and `SchemaRegistryConnectionError` if no
        registry responds.
        """
        attempts = self._policy.attempts(f"{method} /{path} of the schema registry")
        while True:
            try:
                answer = await self._ask_each(method, path, query, body)
            except Exception as error:
                if self._is_closed:
                    raise _closed() from error
                if attempts.failures >= self._options.max_retries:
                    attempts.ended()
                    raise
                await attempts.failed(error)
            else:
                attempts.succeeded()
                return answer

    async def close(self) -> None:
        """Close the connections. Requests in progress fail and are not retried."""
        self._is_closed = True
        sessions, self._replaced, self._session = [*self._replaced, self._session], [], None
        for session in sessions:
            if session is not None:
                await session.aclose()

    async def _ask_each(self, method: str, path: str, query: Any, body: Any) -> Any:
        """Try the registries in turn until one responds. The next request begins with that registry."""
        for number, url in enumerate(self._urls):
            try:
                answer = await self._ask(url, method, path, query, body)
            except SchemaRegistryError as error:
                if not _may_pass(error) or number == len(self._urls) - 1:
                    raise
                log.info("%s; trying the next registry", error)
            else:
                if number:
                    self._urls = (*self._urls[number:], *self._urls[:number])
                return answer
        raise AssertionError("a client has at least one URL")

    async def _ask(self, url: RegistryUrl, method: str, path: str, query: Any, body: Any) -> Any:
        asked = f"{method} /{path} at {url.address}"
        limit_s = self._options.timeout_s
        try:
            async with asyncio.timeout(limit_s):
                headers = {
                    "Accept": _ACCEPT,
                    "Accept-Encoding": ACCEPTED,
                    "Confluent-Client-Version": f"kafka-columnar/{__version__}",
                    **await self._credentials.headers(url),
                }
                content = None
                if body is not None:
                    content = json.dumps(body).encode()
                    headers["Content-Type"] = _CONTENT_TYPE
                    headers["Confluent-Accept-Unknown-Properties"] = "true"
                session = await self._opened()
                status, data = await _sent(
                    session,
                    method,
                    f"{url.address}/{path}",
                    headers=headers,
                    params=_parameters(query),
                    content=content,
                )
        except TimeoutError as error:
            raise SchemaRegistryConnectionError(
                0, -1, f"no response in {limit_s:g} s; the option 'timeout' allows more", asked
            ) from error
        except (self._http.HTTPError, OSError) as error:  # with TLS 1.3, reading may raise SSLError
            if isinstance(error, KafkaError):
                raise
            raise SchemaRegistryConnectionError(
                0, -1, f"the registry cannot be reached: {_why(error)}", asked
            ) from error
        except self._http.InvalidURL as error:
            raise KafkaConfigurationError(f"'url' cannot be used: {url.address}: {_why(error)}") from error
        except ValueError as error:
            if isinstance(error, KafkaError):
                raise
            raise SchemaRegistryError(0, -1, f"the response cannot be read: {_why(error)}", asked) from error
        return _judged(status, data, asked)

    async def _opened(self) -> Any:
        """Return the session, or a new session if a file named by the TLS options has changed."""
        context = await self._tls()
        if self._is_closed:
            raise _closed()
        if self._session is None or context is not self._context:
            if self._session is not None:
                self._replaced.append(self._session)  # another task may still be waiting for a response
            self._context = context
            self._session = self._made(context)
        return self._session

    def _made(self, context: ssl.SSLContext) -> Any:
        further = {} if self._options.proxy is None else {"proxy": self._options.proxy}
        try:
            return self._http.AsyncClient(verify=context, timeout=self._options.timeout_s, **further)
        except ImportError as error:
            raise KafkaConfigurationError(f"the proxy cannot be used: {error}") from error
        except (self._http.InvalidURL, ValueError):  # the errors' messages may contain parts of a password
            raise KafkaConfigurationError(
                "the proxy, of the option 'proxy' or of the environment, cannot be used: expected http://HOST:PORT, "
                "https://HOST:PORT or socks5://HOST:PORT"
            ) from None

    async def _tls(self) -> ssl.SSLContext:
        if self._options.uses_tls and self._options.verify:
            context = await tls_context(self._options.security)
            assert context is not None
            return context
        if self._context is not None:
            return self._context
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        if self._options.uses_tls:  # with 'ssl.ca.location' False, any server is trusted
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
            security = self._options.security
            if security.ssl_certfile is not None:
                try:
                    context.load_cert_chain(security.ssl_certfile, security.ssl_keyfile, security.ssl_password)
                except (OSError, ValueError) as error:
                    raise KafkaConfigurationError(
                        f"the certificate {security.ssl_certfile} and its key cannot be used: {error}"
                    ) from error
        return context


async def _sent(session: Any, method: str, address: str, **parts: Any) -> tuple[int, bytes]:
    """Send a request; returns the status and the body, which must not exceed a size limit."""
    async with session.stream(method, address, **parts) as response:
        return response.status_code, await body_of(response, MAX_ANSWER_BYTES)


def _closed() -> IllegalStateError:
    return IllegalStateError("the schema registry client was closed")


def _parameters(query: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if not query:
        return None
    return {name: str(value).lower() if isinstance(value, bool) else value for name, value in query.items()}


def _judged(status: int, data: bytes, asked: str) -> Any:
    """Return the JSON value of a successful response; raises `SchemaRegistryError` for any other."""
    try:
        answer = json.loads(data) if data.strip() else None
        is_json = True
    except (ValueError, RecursionError):
        answer, is_json = None, False
    if 200 <= status < 300:
        if is_json:
            return answer
        raise SchemaRegistryError(
            status, -1, f"the response is not JSON; is it the URL of a schema registry? It begins {_begin(data)}", asked
        )
    advice = _ADVICE.get(status, "")
    if isinstance(answer, dict) and isinstance(answer.get("message"), str):
        code = answer.get("error_code")
        text = shown_text(answer["message"], 4000)
        raise SchemaRegistryError(status, code if isinstance(code, int) else -1, text + advice, asked)
    if not advice:
        advice = "; is it the URL of a schema registry's API?" if status in (301, 302, 307, 308, 404, 405) else ""
    raise SchemaRegistryError(status, -1, f"the registry gave no reason, but {_begin(data)}{advice}", asked)


def _begin(data: bytes) -> str:
    return repr(shown_text(data[:200].decode("utf-8", "replace"))) if data.strip() else "an empty answer"


def _may_pass(error: Exception) -> bool:
    if isinstance(error, SchemaRegistryConnectionError):
        return True
    if isinstance(error, SchemaRegistryError):
        return error.http_status_code in _PASSING
    return isinstance(error, KafkaError) and error.retriable


def _why(error: BaseException) -> str:
    text = shown_text(str(error))
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


class BaseRegistryClient:
    """Base class of registry clients: the options and the connections."""

    _options: RegistryOptions
    _exchange: Exchange | None = None
    _exchange_loop: asyncio.AbstractEventLoop | None = None

    def _parse(self, conf: Mapping[str, Any]) -> None:
        """Parse the configuration; raises `KafkaConfigurationError`."""
        self._options = parse(conf)
        self._conf = dict(conf)

    def config(self) -> dict[str, Any]:
        """Return the configuration that the constructor got, including its secrets: do not log it."""
        return self._conf

    async def _request(
        self, method: str, path: str, query: Mapping[str, Any] | None, body: Mapping[str, Any] | None
    ) -> Any:
        """Send a request over the running loop's connections. A client may be used on one loop after another."""
        loop = asyncio.get_running_loop()
        if self._exchange is None or self._exchange_loop is not loop:
            exchange = Exchange(self._options)
            self._hold(exchange)
            self._exchange, self._exchange_loop = exchange, loop
        return await self._exchange.request(method, path, query, body)

    def _hold(self, exchange: Exchange) -> None:
        """Called with new connections, so that a client can keep a reference and close them when garbage-collected."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(each.address for each in self._options.urls)})"

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"{type(self).__name__} objects own connections, so they cannot be pickled or copied: make one where it is "
            "needed, for example in each process"
        )


class Credentials:
    """Makes the headers that authenticate requests; runs on an event loop.

    Arguments:
        options: the client's options.
    """

    def __init__(self, options: RegistryOptions) -> None:
        self._bearer = options.bearer
        self._tokens = None if options.bearer is None else _tokens(options.bearer, options.timeout_s)

    async def headers(self, url: RegistryUrl) -> dict[str, str]:
        """Return the headers for requests to one registry.

        Raises the token endpoint's error, or `KafkaConfigurationError` if a user function returns no token.
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
                "'bearer.auth.custom.provider.function' must return a dict with 'bearer.auth.token'"
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
    """Check and return a header value, because the HTTP library's errors show invalid values, including tokens."""
    if not isinstance(value, str) or not value.isascii() or not value.isprintable() or value != value.strip():
        raise KafkaConfigurationError(
            f"{name!r} must be ASCII text without line breaks and surrounding spaces; text that is "
            "read from a file often ends with a line break"
        )
    return value


async def _fields(bearer: BearerOptions) -> Mapping[str, Any]:
    """Call the user's function, which may be asynchronous, in a thread, because it may block."""
    assert bearer.function is not None
    fields: Any = await run_blocking(bearer.function, bearer.function_config)
    if inspect.isawaitable(fields):
        fields = await fields
    return fields if isinstance(fields, Mapping) else {}


_MAX_TOKEN_ANSWER_BYTES = 1024 * 1024
_AZURE_RETRIABLE = (404, 408, 410, 429)
"""Status codes below 500 with which the service responds while it is starting or busy."""


class AzureTokenEndpoint:
    """Requests tokens from Azure's metadata service, which identifies the machine itself and needs no credentials.

    Arguments:
        url: the URL with the query that names the resource.
        timeout_s: timeout for each step of a request, in seconds.
    """

    def __init__(self, url: str, timeout_s: float) -> None:
        self._url = url
        self._timeout_s = timeout_s
        self._described_as = f"the token endpoint {url.partition('?')[0]}"

    def fetch(self) -> dict[str, Any]:
        """Request a new token, and return the endpoint's response, a dict with ``access_token``. Blocks the thread.

        Raises `KafkaConnectionError` if the endpoint cannot be reached or fails, and `SaslAuthenticationFailedError`
        if it rejects the request.
        """
        http = http_library()
        try:
            status, body = self._asked(http)
        except http.HTTPError as error:
            raise KafkaConnectionError(
                f"{self._described_as} cannot be reached: {type(error).__name__}; it exists only on Azure machines"
            ) from None
        if status >= 500 or status in _AZURE_RETRIABLE:
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
        """Return the status and the body, up to a size limit. Uses no proxy, as a proxy could not reach the service."""
        body = bytearray()
        with (
            http.Client(trust_env=False, timeout=self._timeout_s) as client,
            client.stream("GET", self._url, headers={"Metadata": "true", "Accept-Encoding": "identity"}) as response,
        ):
            for part in response.iter_raw():
                body += part
                if len(body) > _MAX_TOKEN_ANSWER_BYTES:
                    break
            return response.status_code, bytes(body)
