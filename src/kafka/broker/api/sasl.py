"""SaslHandshake (key 17) and SaslAuthenticate (36): a client logs in.

Versions served: SaslHandshake 0 to 1, SaslAuthenticate 0 to 2.
Behaviour: by PLAIN, SCRAM-SHA-256 and SCRAM-SHA-512, as one of the setting users. A wrong password is answered with
SASL_AUTHENTICATION_FAILED, an unknown mechanism with UNSUPPORTED_SASL_MECHANISM and those there are; then the
connection is closed. Where it stands in the login is in `kafka.broker.sasl.login`, which also says what a client may
send before; it has ten minutes for it. Without users, and for a client that has logged in for good, it is
ILLEGAL_SASL_STATE, as by Kafka.
Known gaps: OAUTHBEARER, GSSAPI and delegation tokens; there is no authorization.
"""

from kafka.broker.codes import ErrorCode
from kafka.broker.context import Broker, RequestContext
from kafka.broker.sasl.credentials import MECHANISMS
from kafka.broker.sasl.mechanism import LoginFailed
from kafka.wire.api.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from kafka.wire.api.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse

_FRAMED_SINCE = 1


def sasl_handshake(broker: Broker, request: SaslHandshakeRequest, context: RequestContext) -> SaslHandshakeResponse:
    """Agree on a mechanism; after version 0 its messages come in bare frames (KIP-152)."""
    login = context.login
    if login is None or not login.may_begin():
        return SaslHandshakeResponse(error_code=ErrorCode.ILLEGAL_SASL_STATE)
    begun = login.begin(request.mechanism, is_bare=context.version < _FRAMED_SINCE)
    error = ErrorCode.NONE if begun else ErrorCode.UNSUPPORTED_SASL_MECHANISM
    return SaslHandshakeResponse(error_code=error, mechanisms=list(MECHANISMS))


def sasl_authenticate(
    broker: Broker, request: SaslAuthenticateRequest, context: RequestContext
) -> SaslAuthenticateResponse:
    """Take a message of the mechanism."""
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
