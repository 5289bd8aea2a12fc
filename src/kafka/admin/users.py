"""Users: their SCRAM credentials (KIP-554)."""

from typing import Any

from kafka.admin.enum_names import answered_member
from kafka.admin.requests import AdminRequests, check_answered, own_error_code, raise_first
from kafka.admin.scram_credential import ScramMechanism, UserScramCredentialDeletion, UserScramCredentialUpsertion
from kafka.errors import for_code
from kafka.wire.api.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from kafka.wire.api.describe_user_scram_credentials import DescribeUserScramCredentialsRequest, UserName

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
