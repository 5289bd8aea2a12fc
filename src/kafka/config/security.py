"""Options of how a client is let in: the protocol, TLS, SASL, and the proxy on the way."""

import dataclasses

from kafka.config.option import choice, option
from kafka.config.proxy import ProxyOptions
from kafka.config.sasl import OAuthBearerOptions, SaslOptions
from kafka.config.tls import TlsOptions


@dataclasses.dataclass(frozen=True, repr=False)
class SecurityOptions(TlsOptions, SaslOptions, OAuthBearerOptions, ProxyOptions):
    """Protocol, TLS, SASL and proxy; all clients have these. Full of secrets, so its text form has none of it."""

    security_protocol: str = option(
        "PLAINTEXT",
        choice({name.lower(): name for name in ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")}),
        "Protocol for connections to brokers: 'PLAINTEXT', 'SSL', 'SASL_PLAINTEXT' or 'SASL_SSL'.",
        "security.protocol",
    )

    @property
    def uses_tls(self) -> bool:
        """Whether connections are encrypted."""
        return self.security_protocol in ("SSL", "SASL_SSL")

    @property
    def uses_sasl(self) -> bool:
        """Whether the client logs in by SASL."""
        return self.security_protocol in ("SASL_PLAINTEXT", "SASL_SSL")

    def __repr__(self) -> str:
        return f"SecurityOptions(security_protocol={self.security_protocol!r}, sasl_mechanism={self.sasl_mechanism!r})"
