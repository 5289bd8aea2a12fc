"""kafka-python's folder of SASL mechanisms, from 2.1 to 2.3; they are chosen by the option `sasl_mechanism`."""

from typing import Any

from kafka import _old_names

_HOMES = dict.fromkeys(("get_sasl_mechanism", "register_sasl_mechanism"), "kafka.net.sasl")


def __getattr__(name: str) -> Any:
    """Load a submodule when it is asked for (PEP 562), as kafka-python's are there with the package."""
    return _old_names.of_a_package(__name__, name, _HOMES)
