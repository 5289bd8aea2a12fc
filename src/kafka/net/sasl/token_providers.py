"""The built-in token providers: a token endpoint with a cache, a file, and unsigned tokens."""

import abc
import base64
import functools
import json
import logging
import math
import threading
import time
import urllib.parse
import urllib.request
from typing import Any, Protocol

from kafka.config import SecurityOptions
from kafka.errors import KafkaConfigurationError, KafkaError
from kafka.net.fork import after_fork
from kafka.net.sasl.token_endpoint import TokenEndpoint

log = logging.getLogger(__name__)


class AbstractTokenProvider(abc.ABC):
    """kafka-python's base class for token providers. Any object with these methods can be used."""

    def __init__(self, **config: Any) -> None:
        """Accept any settings; subclasses store the settings that they use."""
        del config

    @abc.abstractmethod
    def token(self) -> str:
        """Return a token that has not expired.

        This is called for each authentication, so cache the token while it is valid.
        """

    def extensions(self) -> dict[str, str]:
        """Return the SASL extensions to send with the token (supported by brokers since 2.1)."""
        return {}


_UNSIGNED_LIFE_S = 3_600


def token_provider(security: SecurityOptions) -> Any:
    """Return the token provider for the given options: the user's own, or a built-in one.

    Clients with the same credentials share a built-in provider, and therefore its token. Raises
    `KafkaConfigurationError`.
    """
    if security.sasl_oauth_token_provider is not None:
        return security.sasl_oauth_token_provider
    if security.sasl_oauthbearer_unsecured_claims:
        return UnsecuredTokens(security.sasl_oauthbearer_unsecured_claims, security.sasl_oauthbearer_extensions)
    return _shared(_Hashable(security))


def check_tokens(security: SecurityOptions) -> None:
    """Raise `KafkaConfigurationError` if the options do not specify how to get a token."""
    url = security.sasl_oauthbearer_token_endpoint_url
    provider = security.sasl_oauth_token_provider
    ways = [provider is not None, url is not None, bool(security.sasl_oauthbearer_unsecured_claims)]
    if sum(ways) != 1:
        raise KafkaConfigurationError(
            "sasl_mechanism 'OAUTHBEARER' requires exactly one of 'sasl_oauth_token_provider', "
            f"'sasl_oauthbearer_token_endpoint_url' and 'sasl_oauthbearer_unsecured_claims'; {sum(ways)} are set"
        )
    if provider is not None and not callable(getattr(provider, "token", None)):
        raise KafkaConfigurationError("'sasl_oauth_token_provider' must be an object whose token() returns a string")
    if url is None or url.startswith("file:"):
        return
    try:
        parts = urllib.parse.urlsplit(url)
        is_one = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # the error's text may contain parts of the URL
        is_one = False
    if not is_one:
        raise KafkaConfigurationError("'sasl_oauthbearer_token_endpoint_url' expects an https:, http: or file: URL")
    if TokenEndpoint(security).signs:
        return
    client = security.sasl_oauthbearer_client_credentials_client_id
    if client is None or security.sasl_oauthbearer_client_credentials_client_secret is None:
        raise KafkaConfigurationError(
            "'sasl_oauthbearer_token_endpoint_url' requires 'sasl_oauthbearer_client_credentials_client_id' and "
            "'sasl_oauthbearer_client_credentials_client_secret', or a key or file of an assertion"
        )


class _Hashable:
    """Options that compare equal if all options that affect tokens are equal, so that they share a provider."""

    def __init__(self, security: SecurityOptions) -> None:
        self.security = security
        names = sorted(name for name in vars(security) if name.startswith(("sasl_oauthbearer_", "sasl_login_")))
        self._key = tuple(getattr(security, name) for name in names)

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Hashable) and self._key == other._key


@functools.lru_cache(maxsize=32)
def _shared(options: _Hashable) -> "AbstractTokenProvider":
    url = options.security.sasl_oauthbearer_token_endpoint_url or ""
    if url.startswith("file:"):
        return FileTokens(url, options.security.sasl_oauthbearer_extensions)
    if url.startswith("http:"):
        log.warning(
            "'sasl_oauthbearer_token_endpoint_url' is an http: URL: credentials and tokens are sent unencrypted"
        )
    return EndpointTokens(options.security)


# A child cannot use an object whose lock a thread of its parent may hold.
after_fork(_shared.cache_clear)


class _WithExtensions(AbstractTokenProvider):
    """The common base of the built-in providers."""

    def __init__(self, extensions: tuple[tuple[str, str], ...]) -> None:
        super().__init__()
        self._extensions = extensions

    def extensions(self) -> dict[str, str]:
        """Return the SASL extensions that the options specify."""
        return dict(self._extensions)


class AnyTokenEndpoint(Protocol):
    """An endpoint that returns new tokens."""

    def fetch(self) -> dict[str, Any]:
        """Request a new token; see `TokenEndpoint.fetch`."""


class EndpointTokens(_WithExtensions):
    """Tokens from a token endpoint. A token is cached for ``sasl_login_refresh_window_factor`` of its lifetime.

    Arguments:
        security: the options.
        endpoint: returns new tokens; None for the endpoint that the options specify.
    """

    def __init__(self, security: SecurityOptions, endpoint: AnyTokenEndpoint | None = None) -> None:
        super().__init__(security.sasl_oauthbearer_extensions)
        self._endpoint = TokenEndpoint(security) if endpoint is None else endpoint
        self._factor = security.sasl_login_refresh_window_factor
        self._lock = threading.Lock()  # acquired only in helper threads; several connections wait for one token
        self._token = ""
        self._renew_at = self._expires_at = 0.0

    def token(self) -> str:
        """Return the cached token or a new one; if no new one is available, the cached one while it is still valid."""
        with self._lock:
            if time.time() < self._renew_at:
                return self._token
            try:
                answer = self._endpoint.fetch()
            except KafkaError as error:
                if time.time() < self._expires_at:
                    log.warning("cannot refresh the token; the current one is used until it expires: %s", error)
                    return self._token
                raise
            now = time.time()
            self._token = answer["access_token"]
            self._expires_at = _expiry(self._token, answer.get("expires_in"), now)
            self._renew_at = now + (self._expires_at - now) * min(1.0, self._factor)
            return self._token


def _expiry(token: str, expires_in: Any, now: float) -> float:
    """Return the time at which a token expires, according to its ``exp`` claim or the server's response.

    If neither contains an expiry, return ``now``, so that the token is not cached.
    """
    try:
        body = token.split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
        return _finite(claims["exp"])
    except (IndexError, ValueError, TypeError, KeyError, OverflowError, RecursionError):
        pass
    try:
        return now + _finite(expires_in)
    except (TypeError, ValueError, OverflowError):
        return now


def _finite(value: Any) -> float:
    """Convert a value to a float.

    Raises ValueError for infinity, which JSON allows, because the token would be cached forever.
    """
    found = float(value)
    if not math.isfinite(found):
        raise ValueError("not a finite number")
    return found


class FileTokens(_WithExtensions):
    """A token in a file that another program keeps up to date (Java's FileJwtRetriever).

    The file is read for each login.
    """

    def __init__(self, url: str, extensions: tuple[tuple[str, str], ...]) -> None:
        super().__init__(extensions)
        self._path = urllib.request.url2pathname(urllib.parse.urlsplit(url).path)

    def token(self) -> str:
        """Return the contents of the file."""
        try:
            with open(self._path, encoding="ascii") as file:
                return file.read().strip()
        except (OSError, UnicodeDecodeError) as error:
            why = getattr(error, "strerror", None) or "it is not ASCII"
            raise KafkaConfigurationError(f"the token file {self._path} cannot be read: {why}") from None


class UnsecuredTokens(_WithExtensions):
    """Unsigned tokens (Java's OAuthBearerUnsecuredLoginCallbackHandler), for test brokers."""

    def __init__(self, claims: tuple[tuple[str, Any], ...], extensions: tuple[tuple[str, str], ...]) -> None:
        super().__init__(extensions)
        self._claims = dict(claims)

    def token(self) -> str:
        """Return a token that is valid from now on."""
        now = int(time.time())
        claims = {"iat": now, "exp": now + _UNSIGNED_LIFE_S, **self._claims}
        parts = (json.dumps(each, separators=(",", ":")).encode() for each in ({"alg": "none"}, claims))
        return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts) + "."
