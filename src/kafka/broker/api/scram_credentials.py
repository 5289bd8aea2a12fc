"""DescribeUserScramCredentials (key 50) and AlterUserScramCredentials (51): the users of SCRAM (KIP-554).

Versions served: 0.
Behaviour: the users of the setting `users` are listed, too; what is set or deleted here goes before it, also after a
restart. As by Kafka, a request changes one credential of a user: two of different mechanisms are DUPLICATE_RESOURCE,
and the user keeps what there was. Without the setting nobody logs in, and what is set is only kept.
Known gaps: PLAIN has the passwords of the setting alone, as it has in Kafka those of its configuration.
"""

from kafka.broker.codes import ErrorCode, RequestFailed
from kafka.broker.context import Broker, RequestContext
from kafka.broker.sasl.credentials import ITERATIONS
from kafka.broker.sasl.scram_credential import HASHES, ScramCredential, from_salted_password
from kafka.wire.api.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
    ScramCredentialUpsertion,
)
from kafka.wire.api.describe_user_scram_credentials import (
    CredentialInfo,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)

_BY_NUMBER = dict(enumerate(HASHES, 1))
_NUMBERS = {name: number for number, name in _BY_NUMBER.items()}
_MOST_ITERATIONS = 16_384


def describe_user_scram_credentials(
    broker: Broker, request: DescribeUserScramCredentialsRequest, context: RequestContext
) -> DescribeUserScramCredentialsResponse:
    """Tell mechanisms and iterations of some users, or of all."""
    asked = [each.name for each in request.users or ()]
    results = []
    for name in dict.fromkeys(asked or broker.credentials.scram_users()):
        found = broker.credentials.iterations(name)
        result = DescribeUserScramCredentialsResult(
            user=name,
            credential_infos=[
                CredentialInfo(mechanism=_NUMBERS[each], iterations=count) for each, count in found.items()
            ],
        )
        if asked.count(name) > 1:
            result.error_code, result.error_message = ErrorCode.DUPLICATE_RESOURCE, f"user {name!r} is asked for twice"
            result.credential_infos = []
        elif not found:
            result.error_code = ErrorCode.RESOURCE_NOT_FOUND
            result.error_message = f"user {name!r} has no credential of SCRAM"
        results.append(result)
    return DescribeUserScramCredentialsResponse(results=results)


def alter_user_scram_credentials(
    broker: Broker, request: AlterUserScramCredentialsRequest, context: RequestContext
) -> AlterUserScramCredentialsResponse:
    """Set and delete credentials, one of each user."""
    results = []
    for user in dict.fromkeys([one.name for one in request.deletions] + [one.name for one in request.upsertions]):
        result = AlterUserScramCredentialsResult(user=user)
        try:
            broker.credentials.altered.change(_changes(broker, request, user))
        except RequestFailed as failed:
            result.error_code, result.error_message = failed.code, failed.message
        results.append(result)
    return AlterUserScramCredentialsResponse(results=results)


def _changes(
    broker: Broker, request: AlterUserScramCredentialsRequest, user: str
) -> dict[tuple[str, str], ScramCredential | None]:
    """A user's change; raises `RequestFailed` where it cannot be, or is not the only one."""
    if not user:
        raise RequestFailed(ErrorCode.UNACCEPTABLE_CREDENTIAL, "a user has a name that is not empty")
    changes: dict[tuple[str, str], ScramCredential | None] = {}
    numbers = [one.mechanism for one in request.deletions if one.name == user]
    numbers += [one.mechanism for one in request.upsertions if one.name == user]
    if not set(numbers) <= set(_BY_NUMBER):
        raise RequestFailed(ErrorCode.UNSUPPORTED_SASL_MECHANISM, "there is no such mechanism of SCRAM")
    for deletion in request.deletions:
        if deletion.name == user:
            mechanism = _BY_NUMBER[deletion.mechanism]
            if mechanism not in broker.credentials.iterations(user):
                raise RequestFailed(ErrorCode.RESOURCE_NOT_FOUND, f"there is no credential of {mechanism} to delete")
            changes[mechanism, user] = None
    for upsertion in request.upsertions:
        if upsertion.name == user:
            changes[_BY_NUMBER[upsertion.mechanism], user] = _made(upsertion)
    if len(numbers) > 1:
        raise RequestFailed(ErrorCode.DUPLICATE_RESOURCE, "a user cannot be changed twice in a request")
    return changes


def _made(asked: ScramCredentialUpsertion) -> ScramCredential:
    if not ITERATIONS <= asked.iterations <= _MOST_ITERATIONS:
        raise RequestFailed(
            ErrorCode.UNACCEPTABLE_CREDENTIAL, f"expected {ITERATIONS} to {_MOST_ITERATIONS} iterations"
        )
    if not asked.salt or not asked.salted_password:
        raise RequestFailed(ErrorCode.UNACCEPTABLE_CREDENTIAL, "expected a salt and a salted password")
    mechanism = _BY_NUMBER[asked.mechanism]
    return from_salted_password(mechanism, bytes(asked.salt), asked.iterations, bytes(asked.salted_password))
