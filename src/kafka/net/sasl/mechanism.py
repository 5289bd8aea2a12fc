"""What a SASL mechanism is to the exchange, and which there are."""

from typing import Protocol

from kafka.config import SecurityOptions
from kafka.config.sasl import MECHANISMS
from kafka.errors import KafkaConfigurationError


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
    if not security.uses_sasl:
        return
    name = security.sasl_mechanism
    if name not in MECHANISMS:
        raise KafkaConfigurationError(f"sasl_mechanism {name!r} is unknown; there are {', '.join(MECHANISMS)}")
    if name == "OAUTHBEARER":
        from kafka.net.sasl.tokens import check_tokens

        check_tokens(security)
    elif name in ("GSSAPI", "AWS_MSK_IAM"):
        return  # by what the machine has
    else:
        login = {
            "'sasl_plain_username'": security.sasl_plain_username,
            "'sasl_plain_password'": security.sasl_plain_password,
        }
        if missing := [option for option, value in login.items() if value is None]:
            raise KafkaConfigurationError(f"sasl_mechanism {name!r} needs {' and '.join(missing)}")


def make_mechanism(security: SecurityOptions, host: str) -> Mechanism:
    """A mechanism ready for one exchange with the credentials of these options.

    Arguments:
        host: of the broker, as it was connected to.
    """
    check_mechanism(security)
    name = security.sasl_mechanism or ""
    if name == "OAUTHBEARER":
        from kafka.net.sasl.oauth import OAuthBearer
        from kafka.net.sasl.tokens import token_provider

        return OAuthBearer(token_provider(security))
    if name == "GSSAPI":
        from kafka.net.sasl.gssapi import Gssapi

        return Gssapi(security, host)
    if name == "AWS_MSK_IAM":
        from kafka.net.sasl.msk_iam import MskIam

        return MskIam(security, host)
    user, password = security.sasl_plain_username or "", security.sasl_plain_password or ""
    if name == "PLAIN":
        from kafka.net.sasl.plain import Plain

        return Plain(user, password)
    from kafka.net.sasl.scram import Scram

    return Scram(name, user, password, tokenauth=security.sasl_scram_tokenauth)
