"""Who may do what: ACLs and users."""

from collections.abc import Iterable
from typing import Any

from kafka.admin import acls as _acls
from kafka.admin import arguments
from kafka.admin import users as _users
from kafka.admin.acl_resource import ACL, ACLFilter
from kafka.admin.acls import MatchedACL
from kafka.admin.async_calls.base import AsyncAdminCalls
from kafka.admin.scram_credential import UserScramCredentialDeletion, UserScramCredentialUpsertion
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
