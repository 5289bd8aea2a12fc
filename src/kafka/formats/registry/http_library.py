"""The HTTP library, imported for the first request: httpx2, or its predecessor httpx."""

from __future__ import annotations

import importlib
from typing import Any

from kafka.errors import KafkaConfigurationError


def http_library() -> Any:
    """The module; raises `KafkaConfigurationError`, which names the package to install."""
    for name in ("httpx2", "httpx"):
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name != name:
                raise
    raise KafkaConfigurationError(
        "the schema registry client needs an HTTP library: pip install 'kafka-columnar[schema-registry]'"
    )
