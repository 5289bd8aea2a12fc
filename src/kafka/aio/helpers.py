"""Helpers for configuring clients."""

import os
import ssl
from collections.abc import Callable


def create_ssl_context(
    *,
    cafile: str | os.PathLike[str] | None = None,
    capath: str | os.PathLike[str] | None = None,
    cadata: str | bytes | None = None,
    certfile: str | os.PathLike[str] | None = None,
    keyfile: str | os.PathLike[str] | None = None,
    password: str | bytes | bytearray | Callable[[], str | bytes | bytearray] | None = None,
) -> ssl.SSLContext:
    """Return an SSL context for the option ``ssl_context`` that verifies the brokers' certificates and host names.

    Arguments:
        cafile, capath, cadata: trusted authorities, as for `ssl.create_default_context`; by default, the system's.
        certfile, keyfile, password: the client's certificate, its key, and the key's password.
    """
    context = ssl.create_default_context(ssl.Purpose.SERVER_AUTH, cafile=cafile, capath=capath, cadata=cadata)
    if certfile is not None:
        context.load_cert_chain(certfile, keyfile, password)
    return context
