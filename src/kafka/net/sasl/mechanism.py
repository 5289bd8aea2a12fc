"""What a SASL mechanism is to the exchange, and which there are."""

from typing import Protocol

from kafka.config import SecurityOptions
from kafka.errors import KafkaConfigurationError

SUPPORTED = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")


class Mechanism(Protocol):
    """The client's side of one exchange. Its methods may block: they are called off the event loop."""

    def first(self) -> bytes:
        """The message that begins the exchange."""
        ...

    def answer(self, challenge: bytes) -> bytes | None:
        """The answer to the broker's message, or None when the exchange is over.

        Raises `SaslAuthenticationFailedError` when the broker does not prove what it has to.
        """
        ...


def check_mechanism(security: SecurityOptions) -> None:
    """Raise `KafkaConfigurationError` for SASL options that cannot work, before anything is connected."""
    if not security.security_protocol.startswith("SASL_"):
        return
    name = security.sasl_mechanism
    if name in ("GSSAPI", "AWS_MSK_IAM"):
        raise KafkaConfigurationError(f"sasl_mechanism {name!r} is not supported yet; there are {', '.join(SUPPORTED)}")
    if name not in SUPPORTED:
        raise KafkaConfigurationError(f"sasl_mechanism {name!r} is unknown; there are {', '.join(SUPPORTED)}")
    if name == "OAUTHBEARER":
        if not callable(getattr(security.sasl_oauth_token_provider, "token", None)):
            raise KafkaConfigurationError(
                "sasl_mechanism 'OAUTHBEARER' needs 'sasl_oauth_token_provider', an object whose token() gives a string"
            )
    elif security.sasl_plain_username is None or security.sasl_plain_password is None:
        raise KafkaConfigurationError(f"sasl_mechanism {name!r} needs 'sasl_plain_username' and 'sasl_plain_password'")


def make_mechanism(security: SecurityOptions) -> Mechanism:
    """A mechanism ready for one exchange with the credentials of these options."""
    from kafka.net.sasl.oauth import OAuthBearer
    from kafka.net.sasl.plain import Plain
    from kafka.net.sasl.scram import Scram

    check_mechanism(security)
    name = security.sasl_mechanism or ""
    if name == "OAUTHBEARER":
        return OAuthBearer(security.sasl_oauth_token_provider)
    user, password = security.sasl_plain_username or "", security.sasl_plain_password or ""
    if name == "PLAIN":
        return Plain(user, password)
    return Scram(name, user, password, tokenauth=security.sasl_scram_tokenauth)
