"""GSSAPI with Kerberos (RFC 4752; KIP-12), through the gssapi library, which uses the system's Kerberos.

All calls block, because tickets are requested from the KDC. They run in the threads of `kafka.net.helper_threads`.
"""

import hashlib
from typing import Any, Self

from kafka.config import SecurityOptions
from kafka.errors import KafkaConfigurationError, KafkaConnectionError, SaslAuthenticationFailedError

_NO_LAYER = 1
"""The RFC 4752 security layer that adds no protection; TLS protects connections instead."""
_KDC_AWAY = (-1765328228, -1765328230, -1765328164)
"""Kerberos error codes for a KDC that cannot be reached (such as KRB5_KDC_UNREACH); a retry may succeed."""


def _library() -> Any:
    try:
        import gssapi
    except (ImportError, OSError) as error:
        raise KafkaConfigurationError(
            f"sasl_mechanism 'GSSAPI' requires the package gssapi and the system's Kerberos ({error}): pip install "
            "'kafka-columnar[kerberos]'"
        ) from error
    return gssapi


class Gssapi:
    """A GSSAPI exchange.

    Arguments:
        host: the broker's host name, used as the second part of its Kerberos name unless ``sasl_kerberos_domain_name``
            is set.
    """

    def __init__(self, security: SecurityOptions, host: str) -> None:
        self._security, self._host = security, host
        self._context: Any = None
        self._chose = False

    @classmethod
    def of(cls, security: SecurityOptions, host: str) -> Self:
        """Prepare an exchange with the credentials in the given options."""
        return cls(security, host)

    def first(self) -> bytes:
        """Return the ticket for the broker."""
        gssapi = _library()
        try:
            self._context = gssapi.SecurityContext(
                name=self._service(gssapi),
                creds=self._credentials(gssapi),
                mech=gssapi.MechType.kerberos,
                flags=gssapi.RequirementFlag.mutual_authentication | gssapi.RequirementFlag.integrity,
                usage="initiate",
            )
            token: bytes = self._context.step() or b""
        except gssapi.exceptions.GSSError as error:
            raise self._failure(error) from None
        return token

    def answer(self, challenge: bytes) -> bytes | None:
        """Continue until both sides are authenticated, then negotiate no security layer."""
        if self._chose:
            if challenge:
                raise SaslAuthenticationFailedError(
                    f"expected the end of the GSSAPI exchange, got {len(challenge)} bytes"
                )
            return None
        gssapi = _library()
        try:
            if not self._context.complete:
                return self._context.step(challenge) or b""
            return self._choose(challenge)
        except gssapi.exceptions.GSSError as error:
            raise self._failure(error) from None

    def _choose(self, challenge: bytes) -> bytes:
        offer = self._context.unwrap(challenge).message
        if len(offer) != 4 or not offer[0] & _NO_LAYER:
            raise SaslAuthenticationFailedError(
                "the broker does not offer GSSAPI without a security layer; Kafka supports no security layers"
            )
        chosen = bytes((_NO_LAYER, 0, 0, 0)) + str(self._context.initiator_name).encode()
        self._chose = True
        wrapped: bytes = self._context.wrap(chosen, False).message
        return wrapped

    def _service(self, gssapi: Any) -> Any:
        security = self._security
        name = security.sasl_kerberos_name
        if isinstance(name, gssapi.Name):
            return name
        kinds = gssapi.NameType
        if name is None:
            name = f"{security.sasl_kerberos_service_name}@{security.sasl_kerberos_domain_name or self._host}"
        return gssapi.Name(str(name), kinds.kerberos_principal if "/" in str(name) else kinds.hostbased_service)

    def _credentials(self, gssapi: Any) -> Any:
        """Return the configured credentials; None for the default credentials (KRB5CCNAME, KRB5_CLIENT_KTNAME)."""
        security = self._security
        store: dict[str, str] = {}
        if security.sasl_kerberos_ccache is not None:
            store["ccache"] = security.sasl_kerberos_ccache
        if security.sasl_kerberos_keytab is not None:
            store["client_keytab"] = security.sasl_kerberos_keytab
            whose = f"{security.sasl_kerberos_keytab}\0{security.sasl_kerberos_principal}"
            # A separate cache, in which Kerberos renews tickets from the keytab when they expire.
            store.setdefault("ccache", f"MEMORY:kafka-{hashlib.sha256(whose.encode()).hexdigest()[:16]}")
        principal = None
        if security.sasl_kerberos_principal is not None:
            principal = gssapi.Name(security.sasl_kerberos_principal, gssapi.NameType.kerberos_principal)
        if not store and principal is None:
            return None
        return gssapi.Credentials(usage="initiate", name=principal, store=store or None)

    def _failure(self, error: Any) -> KafkaConnectionError | SaslAuthenticationFailedError:
        text = " ".join(str(error).split())
        if getattr(error, "min_code", 0) in _KDC_AWAY:
            return KafkaConnectionError(f"cannot request a ticket from Kerberos: {text}")
        service = self._security.sasl_kerberos_name or (
            f"{self._security.sasl_kerberos_service_name}@{self._security.sasl_kerberos_domain_name or self._host}"
        )
        return SaslAuthenticationFailedError(
            f"cannot get a Kerberos ticket for the broker as {str(service)!r}: {text}. The brokers' name consists of "
            "'sasl_kerberos_service_name' and 'sasl_kerberos_domain_name'; the client's tickets come from "
            "'sasl_kerberos_keytab', 'sasl_kerberos_ccache' or kinit"
        )
