"""Certificates and keys as PEM text, from PEM files and from Java's stores (JKS, PKCS#12).

Only Java's stores require the purejks and cryptography libraries.
"""

import base64
import dataclasses
import logging
import re
import textwrap
from collections.abc import Callable
from typing import TypeAlias

from kafka.errors import KafkaConfigurationError

log = logging.getLogger(__name__)

KeyPassword: TypeAlias = Callable[[], str | bytes]

_JKS_MAGIC = (b"\xfe\xed\xfe\xed", b"\xce\xce\xce\xce")
_BLOCK = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----.+?-----END \1-----", re.DOTALL)
_EXTRA = "pip install 'kafka-columnar[keystores]'"


@dataclasses.dataclass(frozen=True)
class Store:
    """The contents of a store.

    Arguments:
        authorities: PEM text of the certificates to trust; "" for none.
        chain: PEM text of the key's certificate chain, starting with the client's own certificate; "" for none.
        key: PEM text of the private key; "" for none. The key is not encrypted, except in PEM stores.
    """

    authorities: str = dataclasses.field(default="", repr=False)
    chain: str = dataclasses.field(default="", repr=False)
    key: str = dataclasses.field(default="", repr=False)


def read_store(path: str, kind: str | None, password: str | None, key_password: KeyPassword | None) -> Store:
    """Read a store.

    Arguments:
        kind: "JKS", "PKCS12", "PEM" or None for any of them. JKS and PKCS12 are interchangeable, as in Java.
        password: the password of the store.
        key_password: returns the password of the store's key; None: the password of the store. Keys in PEM text are
            not decrypted.

    Raises `KafkaConfigurationError` if the store cannot be read, and `OSError`.
    """
    with open(path, "rb") as file:
        data = file.read()
    is_pem = data.lstrip()[:10] == b"-----BEGIN" or (kind is None and b"-----BEGIN " in data)
    if is_pem != (kind == "PEM") and kind is not None:
        raise KafkaConfigurationError(f"{path} is {'PEM text' if is_pem else 'not PEM text'}, but its type is {kind!r}")
    if is_pem:
        return pem_store(data.decode("utf-8", "replace"), path)
    try:
        if data[:4] in _JKS_MAGIC:
            return _jks(data, path, password, key_password)
        return _pkcs12(data, path, password)
    except ImportError as error:
        raise KafkaConfigurationError(
            f"reading the key store {path} requires a package that is not installed ({error}): {_EXTRA}"
        ) from error


def pem_store(text: str, source: str) -> Store:
    """Return the certificates, and the key if there is one, from PEM text. ``source`` names the text in errors."""
    blocks = [(match[1], match[0]) for match in _BLOCK.finditer(text)]
    certificates = "\n".join(block for kind, block in blocks if kind in ("CERTIFICATE", "TRUSTED CERTIFICATE"))
    keys = [block for kind, block in blocks if kind.endswith("PRIVATE KEY")]
    if not certificates and not keys:
        raise KafkaConfigurationError(f"{source} has neither a certificate nor a key in PEM text (-----BEGIN ...)")
    if len(keys) > 1:
        raise KafkaConfigurationError(f"{source} has {len(keys)} keys; one was expected")
    return Store(certificates, certificates if keys else "", keys[0] if keys else "")


def _jks(data: bytes, path: str, password: str | None, key_password: KeyPassword | None) -> Store:
    import jks

    try:
        store = jks.KeyStore.loads(data, password, try_decrypt_keys=False)
        keys = list(store.private_keys.items())
        authorities = [entry.cert for entry in store.certs.values()] + [key.cert_chain[0][1] for _, key in keys]
        if not all(authorities):
            raise ValueError("it ends within a certificate")
        trusted = _as_pem("CERTIFICATE", authorities)
    except jks.KeystoreSignatureException:
        raise _wrong_password(path) from None
    except Exception as error:  # the file is damaged, or of another kind
        raise KafkaConfigurationError(f"{path} cannot be read as a Java key store (JKS): {_why(error)}") from None
    if not keys:
        return Store(trusted)
    if len(keys) > 1:
        log.warning("%s has %d keys; the first, %r, is used", path, len(keys), keys[0][0])
    alias, key = keys[0]
    secret: str | bytes = password or ""
    if key_password is not None:
        secret = key_password()
    try:
        key.decrypt(secret if isinstance(secret, str) else secret.decode())
        chain = _as_pem("CERTIFICATE", [each for _, each in key.cert_chain])
        return Store(trusted, chain, _as_pem("PRIVATE KEY", [key.pkey_pkcs8]))
    except Exception as error:
        raise KafkaConfigurationError(
            f"cannot decrypt the key {alias!r} in {path} ({type(error).__name__}): is its password, 'ssl_password' "
            "(ssl.key.password) or the store's, correct?"
        ) from None


def _pkcs12(data: bytes, path: str, password: str | None) -> Store:
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, pkcs12

    try:
        found = pkcs12.load_pkcs12(data, None if password is None else password.encode())
    except ValueError as error:
        if "password" in str(error).lower() or "mac" in str(error).lower():
            raise _wrong_password(path) from None
        raise KafkaConfigurationError(f"{path} cannot be read as a key store (PKCS#12): {_why(error)}") from None
    except Exception as error:  # the file is damaged, or of another kind
        raise KafkaConfigurationError(f"{path} cannot be read as a key store (PKCS#12): {_why(error)}") from None
    others = [each.certificate.public_bytes(Encoding.PEM).decode() for each in found.additional_certs]
    own = [found.cert.certificate.public_bytes(Encoding.PEM).decode()] if found.cert is not None else []
    if found.key is None:
        return Store("".join(own + others))
    key = found.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    return Store("".join(own + others), "".join(own + others), key)


def _wrong_password(path: str) -> KafkaConfigurationError:
    return KafkaConfigurationError(
        f"cannot open the key store {path}: is its password (ssl_truststore_password or ssl_keystore_password) "
        "correct, and the file complete?"
    )


def _why(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error)[:200]}"


def _as_pem(kind: str, each_der: list[bytes]) -> str:
    blocks = []
    for der in each_der:
        body = "\n".join(textwrap.wrap(base64.b64encode(der).decode(), 64))
        blocks.append(f"-----BEGIN {kind}-----\n{body}\n-----END {kind}-----\n")
    return "".join(blocks)
