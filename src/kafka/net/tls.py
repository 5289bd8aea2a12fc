"""The TLS context of a client's security options."""

import os
import ssl
from collections import OrderedDict

from kafka.config import SecurityOptions
from kafka.errors import KafkaConfigurationError

_KEPT = 8
_contexts: "OrderedDict[tuple[object, ...], tuple[SecurityOptions, ssl.SSLContext]]" = OrderedDict()


def _stamp(path: str | None) -> int | None:
    if path is None:
        return None
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return None  # reading it will tell what is wrong


def tls_context(security: SecurityOptions) -> ssl.SSLContext | None:
    """The context for new connections, or None where the protocol has no TLS.

    It is kept for further connections and made anew when one of its files has changed, so that a renewed certificate
    is taken up without a restart. Raises `KafkaConfigurationError` for a file that cannot be used.
    """
    if security.security_protocol not in ("SSL", "SASL_SSL"):
        return None
    if security.ssl_context is not None:
        return security.ssl_context
    files = (security.ssl_cafile, security.ssl_certfile, security.ssl_keyfile, security.ssl_crlfile)
    key = (id(security), *map(_stamp, files))
    found = _contexts.get(key)
    if found is None:
        found = _contexts[key] = (security, _make(security))
        while len(_contexts) > _KEPT:
            _contexts.popitem(last=False)
    return found[1]


def _make(security: SecurityOptions) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=security.ssl_cafile)  # None: the system's authorities
        context.check_hostname = security.ssl_check_hostname
        if security.ssl_crlfile is not None:
            context.load_verify_locations(security.ssl_crlfile)
            context.verify_flags |= ssl.VerifyFlags.VERIFY_CRL_CHECK_LEAF
        if security.ssl_certfile is not None:
            context.load_cert_chain(security.ssl_certfile, security.ssl_keyfile, security.ssl_password)
        if security.ssl_ciphers is not None:
            context.set_ciphers(security.ssl_ciphers)
    except (OSError, ValueError) as error:
        raise KafkaConfigurationError(
            "the TLS options cannot be used (ssl_cafile="
            f"{security.ssl_cafile!r}, ssl_certfile={security.ssl_certfile!r}, ssl_keyfile={security.ssl_keyfile!r}, "
            f"ssl_crlfile={security.ssl_crlfile!r}, ssl_ciphers={security.ssl_ciphers!r}): {error}"
        ) from error
    return context
