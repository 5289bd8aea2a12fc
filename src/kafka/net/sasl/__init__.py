"""SASL authentication of a connection (KIP-43, KIP-152, KIP-368): a module per mechanism, the exchange in `session`."""

from kafka.net.sasl.mechanism import (
    Mechanism,
    check_mechanism,
    get_sasl_mechanism,
    make_mechanism,
    register_sasl_mechanism,
)
from kafka.net.sasl.sasl_session import SaslSession

__all__ = [
    "Mechanism",
    "SaslSession",
    "check_mechanism",
    "get_sasl_mechanism",
    "make_mechanism",
    "register_sasl_mechanism",
]
