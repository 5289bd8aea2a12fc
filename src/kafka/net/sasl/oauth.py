"""OAUTHBEARER (RFC 7628; KIP-255, KIP-342): a bearer token provided by the application."""

import re
from typing import Any, Self

from kafka.config import SecurityOptions
from kafka.errors import KafkaConfigurationError, KafkaConnectionError, SaslAuthenticationFailedError
from kafka.net.sasl.token_providers import AbstractTokenProvider as AbstractTokenProvider
from kafka.net.sasl.token_providers import check_tokens, token_provider

_SEPARATOR = "\x01"
_NAME = re.compile(r"[A-Za-z]+\Z")
_TOKEN = re.compile(r"[!-~]+\Z")
_VALUE = re.compile(r"[\x21-\x7e \t\r\n]*\Z")


class OAuthBearer:
    """An OAUTHBEARER exchange.

    Arguments:
        provider: an object whose ``token()`` returns the token as a string. If it has a method ``extensions()``, that
            method returns a dict of SASL extensions. Both are called for each authentication, in a separate thread.
    """

    def __init__(self, provider: Any) -> None:
        self._provider = provider
        self._refusal: bytes | None = None

    @classmethod
    def of(cls, security: SecurityOptions, host: str) -> Self:
        """Prepare an exchange with the credentials in the given options."""
        return cls(token_provider(security))

    @staticmethod
    def check(security: SecurityOptions) -> None:
        """Raise `KafkaConfigurationError` if the options do not specify how to get a token."""
        check_tokens(security)

    def first(self) -> bytes:
        """Return the token and the extensions.

        Raises `KafkaConnectionError` if the provider raises an `OSError`, because its server may be reachable later.
        """
        try:
            token = self._provider.token()
        except OSError as error:
            raise KafkaConnectionError(
                f"cannot get a token to authenticate: token() of sasl_oauth_token_provider raised {error!r}"
            ) from error
        if not isinstance(token, str) or not _TOKEN.match(token):
            raise KafkaConfigurationError(
                f"token() of sasl_oauth_token_provider must return a string without spaces, not {type(token).__name__}"
            )
        extensions = self._provider.extensions() if callable(getattr(self._provider, "extensions", None)) else {}
        for name, value in extensions.items():
            if not _NAME.match(name) or name == "auth" or not _VALUE.match(value):
                raise KafkaConfigurationError(f"the SASL extension {name!r} has a name or value that is not allowed")
        pairs = "".join(f"{name}={value}{_SEPARATOR}" for name, value in extensions.items())
        return f"n,,{_SEPARATOR}auth=Bearer {token}{_SEPARATOR}{pairs}{_SEPARATOR}".encode()

    def answer(self, challenge: bytes) -> bytes | None:
        """Return None on success.

        A broker that rejects the token sends the reason, and expects an empty message before it ends the exchange.
        """
        if self._refusal is not None:
            raise SaslAuthenticationFailedError(f"the broker refused the token: {self._refusal[:500]!r}")
        if not challenge:
            return None
        self._refusal = challenge
        return _SEPARATOR.encode()
