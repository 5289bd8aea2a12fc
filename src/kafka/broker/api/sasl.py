"""SaslHandshake (key 17), SaslAuthenticate (36), DescribeUserScramCredentials (50) and AlterUserScramCredentials (51).

Versions served: SaslHandshake 0 to 1, SaslAuthenticate 0 to 2, the others 0.

SaslHandshake, SaslAuthenticate: a client has ten minutes to log in with PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512 as a user
in the setting `users`. The response to a wrong password is SASL_AUTHENTICATION_FAILED; the response to an unknown
mechanism is UNSUPPORTED_SASL_MECHANISM, with the list of supported mechanisms. The connection is closed after either
response. `kafka.broker.sasl.login` holds the login state and decides which requests a client may send before the login.
If there are no users, or if the client's login does not expire, the response is ILLEGAL_SASL_STATE, as in Kafka.

DescribeUserScramCredentials, AlterUserScramCredentials (KIP-554): the response includes the users in the setting
`users`. Credentials that are set or deleted with AlterUserScramCredentials take precedence over the setting, even after
a restart. As in Kafka, a request can change one credential per user: changes for two mechanisms fail with
DUPLICATE_RESOURCE and have no effect. Without the setting, clients do not log in, and credentials are only stored.

Known gaps: no OAUTHBEARER, GSSAPI or delegation tokens, and no authorization. PLAIN uses only the passwords in the
setting, just as Kafka uses those in its configuration.
"""

from kafka.broker.broker import Broker, RequestContext
from kafka.broker.error_codes import ErrorCode, RequestFailed
from kafka.broker.sasl.credentials import HASHES, ITERATIONS, ScramCredential, from_salted_password
from kafka.broker.sasl.exchanges import EXCHANGES, LoginFailed
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
from kafka.wire.api.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from kafka.wire.api.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse

_FRAMED_SINCE = 1


def sasl_handshake(broker: Broker, request: SaslHandshakeRequest, context: RequestContext) -> SaslHandshakeResponse:
    """Select a mechanism. After a version 0 handshake the client sends its messages as bare frames (KIP-152)."""
    login = context.login
    if login is None or not login.may_begin():
        return SaslHandshakeResponse(error_code=ErrorCode.ILLEGAL_SASL_STATE)
    begun = login.begin(request.mechanism, is_bare=context.version < _FRAMED_SINCE)
    error = ErrorCode.NONE if begun else ErrorCode.UNSUPPORTED_SASL_MECHANISM
    return SaslHandshakeResponse(error_code=error, mechanisms=list(EXCHANGES))


def sasl_authenticate(
    broker: Broker, request: SaslAuthenticateRequest, context: RequestContext
) -> SaslAuthenticateResponse:
    """Respond to a message of the SASL exchange."""
    login = context.login
    if login is None or not login.is_exchanging():
        return SaslAuthenticateResponse(
            error_code=ErrorCode.ILLEGAL_SASL_STATE, error_message="there is no login that this could belong to"
        )
    try:
        token, lifetime_ms = login.answer(bytes(request.auth_bytes))
    except LoginFailed as failed:
        return SaslAuthenticateResponse(error_code=ErrorCode.SASL_AUTHENTICATION_FAILED, error_message=str(failed))
    return SaslAuthenticateResponse(auth_bytes=token, session_lifetime_ms=lifetime_ms)


_BY_NUMBER = dict(enumerate(HASHES, 1))
_NUMBERS = {name: number for number, name in _BY_NUMBER.items()}
_MOST_ITERATIONS = 16_384


def describe_user_scram_credentials(
    broker: Broker, request: DescribeUserScramCredentialsRequest, context: RequestContext
) -> DescribeUserScramCredentialsResponse:
    """Return the SCRAM mechanisms and iteration counts for the requested users, or for all users."""
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
    """Set and delete SCRAM credentials, at most one per user."""
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
    """Return the requested change for a user; raises `RequestFailed` if it is invalid or there is more than one."""
    if not user:
        raise RequestFailed(ErrorCode.UNACCEPTABLE_CREDENTIAL, "the user name is empty")
    changes: dict[tuple[str, str], ScramCredential | None] = {}
    numbers = [one.mechanism for one in request.deletions if one.name == user]
    numbers += [one.mechanism for one in request.upsertions if one.name == user]
    if not set(numbers) <= set(_BY_NUMBER):
        raise RequestFailed(ErrorCode.UNSUPPORTED_SASL_MECHANISM, "unknown SCRAM mechanism")
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
