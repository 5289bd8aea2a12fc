"""Why TLS failed, in words, and what to do about it."""

import ssl
from typing import ClassVar

from kafka.errors import KafkaConnectionError

_HOSTNAME_MISMATCH = (62, 63, 64)
"""X509_V_ERR_HOSTNAME_MISMATCH and its kin for addresses."""
_NO_AUTHORITY = (2, 18, 19, 20, 21)
_NOT_VALID_NOW = (9, 10)
_ALERTS_ABOUT_US = (
    "CERTIFICATE_REQUIRED",
    "ALERT_UNKNOWN_CA",
    "ALERT_BAD_CERTIFICATE",
    "ALERT_CERTIFICATE_EXPIRED",
    "ALERT_CERTIFICATE_REVOKED",
    "ALERT_CERTIFICATE_UNKNOWN",
    "ALERT_UNSUPPORTED_CERTIFICATE",
)
_NO_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "UNKNOWN_PROTOCOL", "HTTP_REQUEST")


class TlsRefusedError(KafkaConnectionError):
    """TLS does not come about: one side does not accept the other, and no repetition mends that.

    With TLS 1.3 the handshake is done for the client before the peer has looked at the client's certificate: an alert
    that ends a connection before anything was answered is such a refusal, too.
    """

    permanent = True
    retriable: ClassVar[bool] = False


def is_alert(error: BaseException) -> bool:
    """Whether the peer has said by an alert of TLS why it ends the connection."""
    return isinstance(error, ssl.SSLError) and "ALERT" in (error.reason or "")


def speaks_no_tls(error: ssl.SSLError) -> bool:
    """Whether the peer has sent something else than TLS."""
    return (error.reason or "") in _NO_TLS


def describe_tls_failure(error: ssl.SSLError) -> str:
    """Why the handshake, or what came after it, failed."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted: {error.verify_message}{_advice(error.verify_code)}"
    reason = error.reason or ""
    if speaks_no_tls(error):
        return f"it does not speak TLS on this port ({reason}); is security_protocol right?"
    if reason.endswith(_ALERTS_ABOUT_US):
        return (
            f"it does not accept this client's certificate, or requires one ({reason}); set 'ssl_certfile' or "
            "'ssl_keystore_location' to a valid certificate from an authority that the broker trusts"
        )
    if reason.endswith("ALERT_HANDSHAKE_FAILURE"):
        return (
            f"the TLS handshake failed: {reason}; it requires a client certificate (set 'ssl_certfile' or "
            "'ssl_keystore_location'), or has no cipher in common with this client ('ssl_ciphers')"
        )
    if reason.endswith("ALERT_PROTOCOL_VERSION"):
        return (
            f"the TLS handshake failed: {reason}; it has no TLS version in common with this client "
            "('ssl_enabled_protocols')"
        )
    return f"the TLS handshake failed: {reason or error}"


def _advice(code: int) -> str:
    if code in _HOSTNAME_MISMATCH:
        return "; connect with a name in the certificate, or disable the check with ssl_check_hostname=False"
    if code in _NO_AUTHORITY:
        return "; set the trusted authorities with 'ssl_cafile' or 'ssl_truststore_location'"
    if code in _NOT_VALID_NOW:
        return "; the broker needs a new certificate, or this machine's clock is wrong"
    return ""
