"""The TLS context for a client's security options, and descriptions of TLS failures."""

import contextlib
import os
import ssl
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any, ClassVar

from kafka.config import SecurityOptions
from kafka.errors import KafkaConfigurationError, KafkaConnectionError
from kafka.net.helper_threads import run_blocking
from kafka.net.keystores import KeyPassword, Store, pem_store, read_store

_KEPT = 8
_contexts: "OrderedDict[tuple[object, ...], tuple[SecurityOptions, ssl.SSLContext]]" = OrderedDict()
_VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
_OPEN_FILES = "/proc/self/fd"
_FILES = (
    "ssl_cafile",
    "ssl_certfile",
    "ssl_keyfile",
    "ssl_crlfile",
    "ssl_truststore_location",
    "ssl_keystore_location",
)


def _stamp(path: str | None) -> int | None:
    if path is None:
        return None
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return None  # the error will be reported when the file is read


async def tls_context(security: SecurityOptions) -> ssl.SSLContext | None:
    """Return the context for new connections, or None if the protocol does not use TLS.

    The context is cached for further connections, and rebuilt when one of its files has changed, so that a renewed
    certificate takes effect without a restart. It is built in a thread: decrypting stores takes time, and a user
    function may supply the password. Raises `KafkaConfigurationError` for settings or files that cannot be used.
    """
    if not security.uses_tls:
        return None
    if security.ssl_context is not None:
        return security.ssl_context
    key = (id(security), *(_stamp(getattr(security, name)) for name in _FILES))
    found = _contexts.get(key)
    if found is None:
        found = _contexts[key] = (security, await run_blocking(_make, security))
        while len(_contexts) > _KEPT:
            _contexts.popitem(last=False)
    return found[1]


def _make(security: SecurityOptions) -> ssl.SSLContext:
    try:
        authorities = _authorities(security)
        # If neither is set, the system's certificate authorities are used.
        file, folder = _file_or_folder(security.ssl_cafile)
        context = ssl.create_default_context(cafile=file, capath=folder, cadata=authorities)
        context.check_hostname = security.ssl_check_hostname
        _judge_as_java(context)
        _set_versions(context, security.ssl_enabled_protocols)
        if security.ssl_crlfile is not None:
            context.load_verify_locations(security.ssl_crlfile)
            context.verify_flags |= ssl.VerifyFlags.VERIFY_CRL_CHECK_LEAF
        _load_identity(context, security)
        if security.ssl_ciphers is not None:
            context.set_ciphers(security.ssl_ciphers)
    except KafkaConfigurationError:
        raise
    except (OSError, ValueError) as error:
        given = ", ".join(
            f"{name}={getattr(security, name)!r}" for name in (*_FILES, "ssl_ciphers") if getattr(security, name)
        )
        raise KafkaConfigurationError(f"the TLS options cannot be used ({given}): {error}") from error
    return context


def _file_or_folder(path: str | None) -> tuple[str | None, str | None]:
    """Return the paths of a file and a folder of certificate authorities, one of which is None."""
    return (None, path) if path is not None and os.path.isdir(path) else (path, None)


def _judge_as_java(context: ssl.SSLContext) -> None:
    """Trust every certificate in the store, even without newer extensions, as Java and kafka-python do."""
    context.verify_flags |= ssl.VerifyFlags.VERIFY_X509_PARTIAL_CHAIN
    context.verify_flags &= ~ssl.VerifyFlags.VERIFY_X509_STRICT


def _set_versions(context: ssl.SSLContext, names: tuple[str, ...]) -> None:
    versions = [_VERSIONS[name] for name in names]
    context.minimum_version, context.maximum_version = min(versions), max(versions)


def _authorities(security: SecurityOptions) -> str | None:
    """Return the certificates from the trust store options as PEM text; None if these options are not set."""
    if security.ssl_truststore_certificates is not None:
        store = pem_store(security.ssl_truststore_certificates, "'ssl_truststore_certificates'")
    elif security.ssl_truststore_location is not None:
        password = security.ssl_truststore_password
        store = read_store(security.ssl_truststore_location, security.ssl_truststore_type, password, None)
    else:
        return None
    if not store.authorities:
        raise KafkaConfigurationError("the trust store contains no certificate, so no broker can be trusted")
    return store.authorities


def _load_identity(context: ssl.SSLContext, security: SecurityOptions) -> None:
    """Load the client's certificate into the context, if there is one."""
    if security.ssl_certfile is not None:
        context.load_cert_chain(security.ssl_certfile, security.ssl_keyfile, _key_password(security))
        return
    if security.ssl_keystore_key is not None:
        chain = security.ssl_keystore_certificate_chain or ""
        store = Store(chain=chain, key=security.ssl_keystore_key)
    elif security.ssl_keystore_location is not None:
        store = read_store(
            security.ssl_keystore_location,
            security.ssl_keystore_type,
            security.ssl_keystore_password,
            _key_password(security) if security.ssl_password is not None else None,
        )
    else:
        return
    if not store.key or not store.chain:
        raise KafkaConfigurationError(
            "the key store contains no private key with a certificate, so the client cannot authenticate"
        )
    _load_from_memory(context, store, _key_password(security))


def _load_from_memory(context: ssl.SSLContext, store: Store, password: KeyPassword) -> None:
    """Load a certificate and a key from memory, although `ssl` reads only files."""
    try:
        with _key_file(f"{store.key.strip()}\n{store.chain.strip()}\n") as path:
            context.load_cert_chain(path, None, password)
    except ssl.SSLError as error:  # the error would name a file that no longer exists
        raise KafkaConfigurationError(
            f"cannot use the client's key and certificate ({error.reason or error}): do they belong together, and is "
            "'ssl_password' (ssl.key.password) correct?"
        ) from None


@contextlib.contextmanager
def _key_file(text: str) -> Iterator[str]:
    """Yield the path of a file that contains ``text``.

    The file is in memory, and disappears even if the process is killed. If the system does not support in-memory files,
    it is a temporary file that only this user can read, and that is deleted after the block.
    """
    descriptor, path = _in_memory()
    if descriptor < 0:
        import tempfile  # a slow import, needed only for keys in memory

        descriptor, path = tempfile.mkstemp(prefix="kafka-key-")  # with mode 0600
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
            file.flush()
            yield path
    finally:
        if not path.startswith(_OPEN_FILES):
            os.unlink(path)


def _in_memory() -> tuple[int, str]:
    """Create an in-memory file; return its descriptor and path.

    The descriptor is -1 if the system does not support in-memory files.
    """
    if not hasattr(os, "memfd_create") or not os.path.isdir(_OPEN_FILES):
        return -1, ""
    try:
        descriptor = os.memfd_create("kafka-key")
    except OSError:  # for example because a sandbox forbids in-memory files
        return -1, ""
    return descriptor, f"{_OPEN_FILES}/{descriptor}"


def _key_password(security: SecurityOptions) -> KeyPassword:
    """Return a function that returns the password of an encrypted key, so that OpenSSL does not prompt for it."""
    given: Any = security.ssl_password

    def password() -> str | bytes:
        if given is None:
            raise KafkaConfigurationError("the client's key is encrypted: set its password as 'ssl_password'")
        found = given() if callable(given) else given
        if not isinstance(found, str | bytes):
            raise KafkaConfigurationError(f"'ssl_password' must be text or bytes, not {type(found).__name__}")
        return found

    return password


_HOSTNAME_MISMATCH = (62, 63, 64)
"""X509_V_ERR_HOSTNAME_MISMATCH, and the corresponding errors for email and IP addresses."""
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
    """The TLS handshake failed because one side rejected the other; retrying does not help.

    With TLS 1.3, the handshake is complete for the client before the peer has checked the client's certificate. So an
    alert that ends a connection before its first answer also means that the peer rejects the client.
    """

    permanent = True
    retriable: ClassVar[bool] = False


def is_alert(error: BaseException) -> bool:
    """Return whether the peer has sent a TLS alert with its reason for ending the connection."""
    return isinstance(error, ssl.SSLError) and "ALERT" in (error.reason or "")


def speaks_no_tls(error: ssl.SSLError) -> bool:
    """Return whether the peer has sent something other than TLS."""
    return (error.reason or "") in _NO_TLS


def describe_tls_failure(error: ssl.SSLError) -> str:
    """Describe why the handshake, or the connection after it, failed."""
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
