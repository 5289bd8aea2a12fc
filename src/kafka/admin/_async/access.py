"""Methods for access control: ACLs, users' SCRAM credentials and delegation tokens."""

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
    """Methods for ACLs and users. Brokers without an authorizer reject ACL requests with `SecurityDisabledError`."""

    async def describe_acls(self, acl_filter: ACLFilter) -> tuple[list[ACL], type[BrokerResponseError]]:
        """List the ACLs that match a filter.

        Arguments:
            acl_filter: the filter.

        Returns a pair of the list and `NoError`.

        Like Java's `Admin.describeAcls`. Requires Kafka 0.11. The embedded broker does not support it.
        """
        (wanted,) = arguments.instances("acl_filter", ACLFilter, [acl_filter])
        return await self._run(_acls.describe_acls(self._requests, wanted))

    async def create_acls(self, acls: Iterable[ACL]) -> dict[str, list[Any]]:
        """Create ACLs.

        Arguments:
            acls: the ACLs to create. Creating an existing ACL succeeds.

        Returns a dict with ``succeeded``, a list of ACLs, and ``failed``, a list of pairs of an ACL and an error class.

        Like Java's `Admin.createAcls`. Requires Kafka 0.11. The embedded broker does not support it.
        """
        return await self._run(_acls.create_acls(self._requests, arguments.instances("acls", ACL, acls)))

    async def delete_acls(
        self, acl_filters: Iterable[ACLFilter]
    ) -> list[tuple[ACLFilter, list[MatchedACL], type[BrokerResponseError]]]:
        """Delete the ACLs that match any of the filters.

        Arguments:
            acl_filters: the filters.

        Returns, for each filter, the filter, the matching ACLs and an error class. Each matching ACL has an attribute
        ``error``, and can be unpacked as a pair of the ACL and its error.

        Like Java's `Admin.deleteAcls`. Requires Kafka 0.11. The embedded broker does not support it.
        """
        filters = arguments.instances("acl_filters", ACLFilter, acl_filters)
        return await self._run(_acls.delete_acls(self._requests, filters))

    async def alter_user_scram_credentials(
        self, alterations: Iterable[UserScramCredentialDeletion | UserScramCredentialUpsertion]
    ) -> dict[str, str | None]:
        """Store or delete SCRAM credentials of users (KIP-554, Kafka 2.7).

        Arguments:
            alterations: the credentials to store or delete; Kafka rejects more than one change for the same user.

        Returns an error message for each user, or None for success.

        Like Java's `Admin.alterUserScramCredentials`. Requires Kafka 2.7.
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
        """Describe the SCRAM credentials of users.

        Arguments:
            users: the names of the users; None: all users.

        Returns a dict with ``error`` and ``credential_infos`` for each user. A credential is a dict with ``mechanism``,
        a `ScramMechanism`, and ``iterations``.

        Like Java's `Admin.describeUserScramCredentials`. Requires Kafka 2.7.
        """
        names = None if users is None else arguments.names("users", users)
        return await self._run(_users.describe_user_scram_credentials(self._requests, names))


class AsyncTokenCalls(AsyncAdminCalls):
    """Methods for delegation tokens (KIP-48, Kafka 1.1).

    Brokers without ``delegation.token.secret.key`` respond with `DelegationTokenAuthDisabledError`. If the client
    itself was authenticated with a delegation token, they respond with `DelegationTokenRequestNotAllowedError`.
    kafka-python has no methods for delegation tokens.
    """

    async def create_delegation_token(
        self,
        renewers: Iterable[str] = (),
        max_lifetime_ms: int = -1,
        owner: str | None = None,
        timeout_ms: float | None = None,
    ) -> DelegationToken:
        """Create a delegation token.

        Arguments:
            renewers: principals that may renew the token, in addition to the owner, such as "User:alice".
            max_lifetime_ms: for how long the token can be renewed; -1: as long as the brokers allow.
            owner: the principal that the token authenticates (KIP-373, Kafka 3.3); None: this client's principal.
            timeout_ms: how long the brokers may take; None: ``request_timeout_ms``.

        Like Java's `Admin.createDelegationToken`. Requires Kafka 1.1. The embedded broker does not support it.
        """
        who = [principal("renewers", each) for each in arguments.names("renewers", renewers)]
        whose = None if owner is None else principal("owner", owner)
        lifetime, limit = arguments.number("max_lifetime_ms", max_lifetime_ms), arguments.timeout(timeout_ms)
        return await self._run(_tokens.create_delegation_token(self._requests, who, lifetime, whose, limit))

    async def renew_delegation_token(
        self, token: DelegationToken | bytes, renew_period_ms: int = -1, timeout_ms: float | None = None
    ) -> int:
        """Renew a delegation token; return the new expiry time in milliseconds since 1970.

        Arguments:
            token: the token, or its ``hmac``.
            renew_period_ms: time from now until expiry; -1: as long as the brokers allow.
            timeout_ms: how long the brokers may take; None: ``request_timeout_ms``.

        Like Java's `Admin.renewDelegationToken`. Requires Kafka 1.1. The embedded broker does not support it.
        """
        period, limit = arguments.number("renew_period_ms", renew_period_ms), arguments.timeout(timeout_ms)
        return await self._run(_tokens.renew_delegation_token(self._requests, _hmac(token), period, limit))

    async def expire_delegation_token(
        self, token: DelegationToken | bytes, expiry_period_ms: int = -1, timeout_ms: float | None = None
    ) -> int:
        """Change the expiry time of a delegation token; return the new expiry time in milliseconds since 1970.

        Arguments:
            token: the token, or its ``hmac``.
            expiry_period_ms: time from now until expiry; -1: expire immediately.
            timeout_ms: how long the brokers may take; None: ``request_timeout_ms``.

        Like Java's `Admin.expireDelegationToken`. Requires Kafka 1.1. The embedded broker does not support it.
        """
        period, limit = arguments.number("expiry_period_ms", expiry_period_ms), arguments.timeout(timeout_ms)
        return await self._run(_tokens.expire_delegation_token(self._requests, _hmac(token), period, limit))

    async def describe_delegation_tokens(
        self, owners: Iterable[str] | None = None, timeout_ms: float | None = None
    ) -> list[DelegationToken]:
        """List the delegation tokens that this client is allowed to see.

        Arguments:
            owners: the owners of the tokens, such as "User:alice"; None: all owners.
            timeout_ms: how long the brokers may take; None: ``request_timeout_ms``.

        Returns a list of `DelegationToken`.

        Like Java's `Admin.describeDelegationToken`. Requires Kafka 1.1. The embedded broker does not support it.
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
