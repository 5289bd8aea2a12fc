"""Delegation tokens."""

from collections.abc import Iterable

from kafka.admin import arguments
from kafka.admin import delegation_tokens as _tokens
from kafka.admin.async_calls.base import AsyncAdminCalls
from kafka.admin.delegation_tokens import DelegationToken, principal
from kafka.errors import IllegalArgumentError


class AsyncTokenCalls(AsyncAdminCalls):
    """What is done with delegation tokens (KIP-48, Kafka 1.1).

    Brokers without ``delegation.token.secret.key`` raise `DelegationTokenAuthDisabledError`. The client has to be
    logged in, otherwise than by a token: `DelegationTokenRequestNotAllowedError`. kafka-python has no such methods.
    """

    async def create_delegation_token(
        self,
        renewers: Iterable[str] = (),
        max_lifetime_ms: int = -1,
        owner: str | None = None,
        timeout_ms: float | None = None,
    ) -> DelegationToken:
        """Create a token.

        Arguments:
            renewers: principals that can renew it beside the owner, such as "User:alice".
            max_lifetime_ms: until when it can be renewed, from now; -1: as long as the brokers allow.
            owner: the principal that its bearer is (KIP-373, Kafka 3.3); None: who calls.
            timeout_ms: how long the brokers may take; None: ``request_timeout_ms``.
        """
        who = [principal("renewers", each) for each in arguments.names("renewers", renewers)]
        whose = None if owner is None else principal("owner", owner)
        lifetime, limit = arguments.number("max_lifetime_ms", max_lifetime_ms), arguments.timeout(timeout_ms)
        return await self._run(_tokens.create_delegation_token(self._requests, who, lifetime, whose, limit))

    async def renew_delegation_token(
        self, token: DelegationToken | bytes, renew_period_ms: int = -1, timeout_ms: float | None = None
    ) -> int:
        """Let a token expire later: when, in milliseconds since 1970.

        Arguments:
            token: the token, or its ``hmac``.
            renew_period_ms: from now; -1: as long as the brokers renew it.
            timeout_ms: how long the brokers may take; None: ``request_timeout_ms``.
        """
        period, limit = arguments.number("renew_period_ms", renew_period_ms), arguments.timeout(timeout_ms)
        return await self._run(_tokens.renew_delegation_token(self._requests, _hmac(token), period, limit))

    async def expire_delegation_token(
        self, token: DelegationToken | bytes, expiry_period_ms: int = -1, timeout_ms: float | None = None
    ) -> int:
        """Let a token expire earlier: when, in milliseconds since 1970.

        Arguments:
            token: the token, or its ``hmac``.
            expiry_period_ms: from now; -1: at once.
            timeout_ms: how long the brokers may take; None: ``request_timeout_ms``.
        """
        period, limit = arguments.number("expiry_period_ms", expiry_period_ms), arguments.timeout(timeout_ms)
        return await self._run(_tokens.expire_delegation_token(self._requests, _hmac(token), period, limit))

    async def describe_delegation_tokens(
        self, owners: Iterable[str] | None = None, timeout_ms: float | None = None
    ) -> list[DelegationToken]:
        """The tokens of these principals, None: all, as far as the client may see them.

        Arguments:
            owners: principals such as "User:alice"; None: of all.
            timeout_ms: how long the brokers may take; None: ``request_timeout_ms``.
        """
        whose = None
        if owners is not None:
            whose = [principal("owners", each) for each in arguments.names("owners", owners)]
        return await self._run(_tokens.describe_delegation_tokens(self._requests, whose, arguments.timeout(timeout_ms)))


def _hmac(token: object) -> bytes:
    if isinstance(token, DelegationToken):
        return token.hmac
    if not isinstance(token, bytes):
        raise IllegalArgumentError(f"token: expected a DelegationToken or its hmac, got {type(token).__name__}")
    return token
