"""The HTTP library, imported when a first request is sent: httpx2, or httpx, which it succeeds."""

from __future__ import annotations

import importlib
from typing import Any

from kafka.errors import KafkaConfigurationError


def http_library() -> Any:
    """The module; raises `KafkaConfigurationError`, which says what to install."""
    for name in ("httpx2", "httpx"):
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name != name:
                raise
    raise KafkaConfigurationError(
        "the schema registry client needs an HTTP library: pip install 'kafka-columnar[schema-registry]'"
    )
