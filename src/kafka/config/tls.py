"""TLS options: trusted certificates, and the client's own certificate and key."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from kafka.config.option import Parser, anything, boolean, choice, invalid, option, path, text
from kafka.errors import KafkaConfigurationError

if TYPE_CHECKING:  # importing it takes longer than all options, and few commands need it
    import ssl

PROTOCOLS = {name.lower(): name for name in ("TLSv1.2", "TLSv1.3")}
_STORE_TYPES = choice({"jks": "JKS", "pkcs12": "PKCS12", "pem": "PEM", None: None})


def _parse_protocols(name: str, value: Any) -> tuple[str, ...]:
    entries = value.split(",") if isinstance(value, str) else value
    if not isinstance(entries, list | tuple) or not entries:
        raise invalid(name, "a list of 'TLSv1.2' and 'TLSv1.3'", value)
    found = []
    for each in entries:
        if not isinstance(each, str) or each.strip().lower() not in PROTOCOLS:
            raise invalid(name, "a list of 'TLSv1.2' and 'TLSv1.3' (older versions are insecure)", value)
        found.append(PROTOCOLS[each.strip().lower()])
    return tuple(found)


@dataclasses.dataclass(frozen=True, repr=False)
class TlsOptions:
    """TLS options.

    Certificates and keys come from stores, as in Java, or from PEM files, as in Python, but not from both.
    """

    ssl_context: ssl.SSLContext | None = option(
        None,
        anything,
        "A configured ssl.SSLContext; replaces the other ssl_ options.",
        accepts="ssl.SSLContext | None",
    )
    ssl_check_hostname: bool = option(
        True,
        boolean,
        "Whether the broker's certificate must match its host name.",
        accepts="bool",  # None must not disable the check
    )
    ssl_cafile: str | None = option(
        None,
        path,
        "PEM file of trusted certificate authorities, or a directory of such files processed by `openssl rehash`; "
        "None: the system's.",
    )
    ssl_certfile: str | None = option(None, path, "PEM file of the client's certificate.")
    ssl_keyfile: str | None = option(None, path, "PEM file of the client's private key.")
    ssl_password: str | None = option(
        None,
        anything,
        "Password of the private key, or a function that returns it; the function is called in a separate thread.",
        "ssl.key.password",
        accepts="str | bytes | Callable[[], str | bytes] | None",
    )
    ssl_crlfile: str | None = option(None, path, "PEM file with a certificate revocation list.")
    ssl_ciphers: str | None = option(None, text(none=True), "TLS 1.2 ciphers to offer, in OpenSSL's notation.")
    ssl_enabled_protocols: tuple[str, ...] = option(
        "TLSv1.2,TLSv1.3",
        Parser(_parse_protocols, "str | Sequence[str]"),
        "TLS versions to offer.",
        "ssl.enabled.protocols",
    )
    ssl_truststore_location: str | None = option(
        None,
        path,
        "Trust store: a Java key store (JKS or PKCS#12) or a PEM file.",
        "ssl.truststore.location",
    )
    ssl_truststore_password: str | None = option(
        None, text(none=True), "Password of the trust store.", "ssl.truststore.password"
    )
    ssl_truststore_type: str | None = option(
        None,
        _STORE_TYPES,
        "Type of the trust store, 'JKS', 'PKCS12' or 'PEM'; None: detected from the file.",
        "ssl.truststore.type",
    )
    ssl_truststore_certificates: str | None = option(
        None, text(none=True), "Trusted certificate authorities, as PEM text.", "ssl.truststore.certificates"
    )
    ssl_keystore_location: str | None = option(
        None,
        path,
        "Key store with the client's private key and certificate chain: a Java key store (JKS or PKCS#12) or a PEM "
        "file.",
        "ssl.keystore.location",
    )
    ssl_keystore_password: str | None = option(
        None, text(none=True), "Password of the key store.", "ssl.keystore.password"
    )
    ssl_keystore_type: str | None = option(
        None,
        _STORE_TYPES,
        "Type of the key store, 'JKS', 'PKCS12' or 'PEM'; None: detected from the file.",
        "ssl.keystore.type",
    )
    ssl_keystore_certificate_chain: str | None = option(
        None, text(none=True), "The client's certificate chain, as PEM text.", "ssl.keystore.certificate.chain"
    )
    ssl_keystore_key: str | None = option(
        None, text(none=True), "The client's private key (PKCS#8), as PEM text.", "ssl.keystore.key"
    )


def check_tls(tls: TlsOptions) -> None:
    """Raise `KafkaConfigurationError` for options that contradict each other."""
    _check_one_of(
        "the authorities to trust", tls, "ssl_cafile", "ssl_truststore_location", "ssl_truststore_certificates"
    )
    _check_one_of(
        "the client's certificate", tls, "ssl_certfile", "ssl_keystore_location", "ssl_keystore_certificate_chain"
    )
    if (tls.ssl_keystore_key is None) != (tls.ssl_keystore_certificate_chain is None):
        raise KafkaConfigurationError("'ssl_keystore_key' and 'ssl_keystore_certificate_chain' must be set together")
    for store, inline in (("truststore", tls.ssl_truststore_certificates), ("keystore", tls.ssl_keystore_key)):
        kind = getattr(tls, f"ssl_{store}_type")
        if inline is not None and kind not in (None, "PEM"):
            raise KafkaConfigurationError(f"PEM text requires ssl_{store}_type='PEM', not {kind!r}")


def _check_one_of(what: str, tls: TlsOptions, *names: str) -> None:
    given = [name for name in names if getattr(tls, name) is not None]
    if len(given) > 1:
        raise KafkaConfigurationError(f"{' and '.join(map(repr, given))} both set {what}: use only one of them")
