"""kafka-python's import path of `AbstractTokenProvider`, in 1.4 and 2.0."""

from typing import Any

from kafka import _old_names
from kafka.net.sasl.oauth import AbstractTokenProvider as AbstractTokenProvider


def __getattr__(name: str) -> Any:
    """Load a submodule when it is asked for (PEP 562), as kafka-python's are there with the package."""
    return _old_names.of_a_package(__name__, name, {})
