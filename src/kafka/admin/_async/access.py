"""Access to the cluster: ACLs, users' SCRAM credentials and delegation tokens."""

from collections.abc import Iterable
from typing import Any

from kafka.admin import acls as _acls
from kafka.admin import arguments
from kafka.admin import delegation_tokens as _tokens
from kafka.admin import users as _users
from kafka.admin._async import AsyncAdminCalls
from kafka.admin.acls import ACL, ACLFilter, MatchedACL
from kafka.admin.delegation_tokens import DelegationToken, principal
from kafka.admin.users import UserScramCredentialDeletion, UserScramCredentialUpsertion
from kafka.errors import BrokerResponseError, IllegalArgumentError


class AsyncAccessCalls(AsyncAdminCalls):
    """What is done with ACLs and users. Brokers without an authorizer refuse ACLs: `SecurityDisabledError`."""

    async def describe_acls(self, acl_filter: ACLFilter) -> tuple[list[ACL], type[BrokerResponseError]]:
        """The ACLs that a filter matches, and `NoError`.

        Arguments:
            acl_filter: what they have to match.
        """
        (wanted,) = arguments.instances("acl_filter", ACLFilter, [acl_filter])
        return await self._run(_acls.describe_acls(self._requests, wanted))

    async def create_acls(self, acls: Iterable[ACL]) -> dict[str, list[Any]]:
        """Create ACLs: a dict of ``succeeded``, ACLs, and ``failed``, pairs of an ACL and an error class.

        Arguments:
            acls: what is created; one that there is already is no error.
        """
        return await self._run(_acls.create_acls(self._requests, arguments.instances("acls", ACL, acls)))

    async def delete_acls(
        self, acl_filters: Iterable[ACLFilter]
    ) -> list[tuple[ACLFilter, list[MatchedACL], type[BrokerResponseError]]]:
        """Delete the ACLs that filters match: filter, the ACLs matched, and the filter's error class, for each filter.

        Arguments:
            acl_filters: a filter each; an ACL goes if one of them matches it.

        Each ACL matched has an attribute ``error``, and can be taken as a pair of the ACL and that.
        """
        filters = arguments.instances("acl_filters", ACLFilter, acl_filters)
        return await self._run(_acls.delete_acls(self._requests, filters))

    async def alter_user_scram_credentials(
        self, alterations: Iterable[UserScramCredentialDeletion | UserScramCredentialUpsertion]
    ) -> dict[str, str | None]:
        """Store or delete SCRAM credentials (KIP-554, Kafka 2.7): what went wrong by user, None for success.

        Arguments:
            alterations: what is stored and what is deleted, one of each user; Kafka refuses two.
        """
        wanted = arguments.elements("alterations", alterations)
        for each in wanted:
            if not isinstance(each, UserScramCredentialDeletion | UserScramCredentialUpsertion):
                raise IllegalArgumentError(
                    "alterations: expected UserScramCredentialDeletion and UserScramCredentialUpsertion objects, got "
                    f"{type(each).__name__}"
                )
        return await self._run(_users.alter_user_scram_credentials(self._requests, wanted))

    async def describe_user_scram_credentials(self, users: Iterable[str] | None = None) -> dict[str, dict[str, Any]]:
        """The SCRAM credentials of users, None: of all: a dict of ``error`` and ``credential_infos`` for each.

        A credential is a dict of ``mechanism``, a `ScramMechanism`, and ``iterations``.
        """
        names = None if users is None else arguments.names("users", users)
        return await self._run(_users.describe_user_scram_credentials(self._requests, names))


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
