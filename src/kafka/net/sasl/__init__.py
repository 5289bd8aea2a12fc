"""SASL authentication of a connection (KIP-43, KIP-152, KIP-368).

Each mechanism has its own module; `sasl_session` authenticates a connection with a mechanism. To add a mechanism, see
`kafka.config.sasl_mechanisms`.
"""

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
