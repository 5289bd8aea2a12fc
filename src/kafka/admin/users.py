"""Users and their SCRAM credentials (KIP-554): describe, store and delete them."""

import hashlib
import os
from enum import IntEnum
from typing import Any, ClassVar

from kafka.admin.admin_requests import AdminRequests, check_answered, own_error_code, raise_first
from kafka.admin.enums import answered_member
from kafka.errors import IllegalArgumentError, for_code
from kafka.wire.api.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from kafka.wire.api.describe_user_scram_credentials import DescribeUserScramCredentialsRequest, UserName


class ScramMechanism(IntEnum):
    """The SCRAM mechanisms that a user's credentials can be for (KIP-554). Java: ``ScramMechanism``."""

    UNKNOWN = 0
    """A value that this client does not know."""
    SCRAM_SHA_256 = 1
    """SCRAM with SHA-256."""
    SCRAM_SHA_512 = 2
    """SCRAM with SHA-512."""

    @property
    def hash_name(self) -> str:
        """The name of the hash function in `hashlib`."""
        if self is ScramMechanism.UNKNOWN:
            raise IllegalArgumentError("mechanism: UNKNOWN has no hash function")
        return "sha256" if self is ScramMechanism.SCRAM_SHA_256 else "sha512"


def _mechanism(given: ScramMechanism | int | str) -> ScramMechanism:
    try:
        if isinstance(given, str):
            return ScramMechanism[given.upper().replace("-", "_")]
        return ScramMechanism(given)
    except (KeyError, ValueError):
        raise IllegalArgumentError(f"mechanism: expected SCRAM-SHA-256 or SCRAM-SHA-512, got {given!r:.80}") from None


class UserScramCredentialDeletion:
    """A credential to delete.

    Arguments:
        user: name of the user.
        mechanism: a `ScramMechanism`, its number, or its name, such as SCRAM-SHA-256.
    """

    def __init__(self, user: str, mechanism: ScramMechanism | int | str) -> None:
        self.user = user
        self.mechanism = _mechanism(mechanism)

    def __repr__(self) -> str:
        return f"UserScramCredentialDeletion({self.user!r}, {self.mechanism.name})"


class UserScramCredentialUpsertion:
    """A credential to store; the object does not keep the password itself.

    Arguments:
        user: name of the user.
        mechanism: a `ScramMechanism`, its number, or its name, such as SCRAM-SHA-256.
        iterations: number of hash iterations; `DEFAULT_ITERATIONS` if not given.
        salt: random bytes if not given.
    """

    DEFAULT_ITERATIONS: ClassVar[int] = 4096

    def __init__(
        self,
        user: str,
        mechanism: ScramMechanism | int | str,
        password: str | bytes,
        iterations: int | None = None,
        salt: bytes | None = None,
    ) -> None:
        self.user = user
        self.mechanism = _mechanism(mechanism)
        self.iterations = self.DEFAULT_ITERATIONS if iterations is None else iterations
        self.salt = os.urandom(24) if salt is None else salt
        secret = password.encode() if isinstance(password, str) else password
        self.salted_password = hashlib.pbkdf2_hmac(self.mechanism.hash_name, secret, self.salt, self.iterations)

    def __repr__(self) -> str:
        return f"UserScramCredentialUpsertion({self.user!r}, {self.mechanism.name}, iterations={self.iterations})"


Alteration = UserScramCredentialDeletion | UserScramCredentialUpsertion


def _failure(code: int, message: str | None) -> str | None:
    return (message or for_code(code).description) if code else None


async def alter_user_scram_credentials(requests: AdminRequests, alterations: list[Alteration]) -> dict[str, str | None]:
    """See `KafkaAdminClient.alter_user_scram_credentials`."""
    deletions, upsertions = [], []
    for each in alterations:
        if isinstance(each, UserScramCredentialDeletion):
            deletions.append(ScramCredentialDeletion(name=each.user, mechanism=each.mechanism))
        else:
            upsertions.append(
                ScramCredentialUpsertion(
                    name=each.user,
                    mechanism=each.mechanism,
                    iterations=each.iterations,
                    salt=each.salt,
                    salted_password=each.salted_password,
                )
            )
    response = await requests.controller(
        AlterUserScramCredentialsRequest(deletions=deletions, upsertions=upsertions),
        lambda response: [each.error_code for each in response.results],
    )
    check_answered("users", (each.user for each in alterations), (each.user for each in response.results))
    return {each.user: _failure(each.error_code, each.error_message) for each in response.results}


async def describe_user_scram_credentials(
    requests: AdminRequests, users: list[str] | None
) -> dict[str, dict[str, Any]]:
    """See `KafkaAdminClient.describe_user_scram_credentials`."""
    names = None if users is None else [UserName(name=user) for user in users]
    response = await requests.any_broker(DescribeUserScramCredentialsRequest(users=names), error_codes=own_error_code)
    raise_first([("describing users", response.error_code, response.error_message)])
    return {
        each.user: {
            "error": _failure(each.error_code, each.error_message),
            "credential_infos": [
                {
                    "mechanism": answered_member(ScramMechanism, info.mechanism),
                    "iterations": info.iterations,
                }
                for info in each.credential_infos
            ],
        }
        for each in response.results
    }
