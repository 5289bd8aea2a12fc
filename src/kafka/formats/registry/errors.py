"""Errors of a schema registry, and the import of the HTTP library."""

from __future__ import annotations

import importlib
from typing import Any, ClassVar

from kafka.errors import KafkaConfigurationError, KafkaError, RetriableError

_INCOMPATIBLE = 409
"""The HTTP status with which registries refuse an incompatible schema."""


class SchemaRegistryError(KafkaError):
    """A schema registry rejected a request, or its response is invalid.

    Arguments:
        http_status_code: the HTTP status; 0 if there was no response.
        error_code: the registry's own code, such as 40401 for a subject that does not exist; -1 if there is none.
        error_message: the registry's message.
        request: the request and the registry's address, such as ``GET /subjects at http://localhost:8081``.
    """

    remedy = "Check its `error_code` (Confluent's) and `http_status_code`."

    UNKNOWN = -1
    about_record: ClassVar[bool] = False

    def __init__(self, http_status_code: int, error_code: int, error_message: str, request: str = "") -> None:
        super().__init__(http_status_code, error_code, error_message, request)
        self.http_status_code = http_status_code
        self.error_code = error_code
        self.error_message = error_message
        self.request = request

    @property
    def is_missing(self) -> bool:
        """Whether the registry reports that the requested object does not exist. A proxy's 404 does not count."""
        return self.http_status_code == 404 and self.error_code != self.UNKNOWN

    def __str__(self) -> str:
        asked = f"{self.request}: " if self.request else ""
        if not self.http_status_code:
            return f"{asked}{self.error_message}"
        why = self._explained()
        return f"{asked}{why}{self.error_message} (HTTP status code {self.http_status_code}, SR code {self.error_code})"

    def _explained(self) -> str:
        """Return why a schema is incompatible, in plain words, before the registry's message; "" for other errors."""
        if self.http_status_code != _INCOMPATIBLE:
            return ""
        from kafka.formats.registry.refusals import explained

        why = explained(self.error_message)
        return f"{why}. The registry's message: " if why else ""


class SchemaRegistryConnectionError(SchemaRegistryError, RetriableError):
    """No schema registry could be reached, or none responded in time.

    Arguments:
        http_status_code, error_code, error_message, request: see `SchemaRegistryError`; `http_status_code` is 0.
    """

    remedy = "Check `url`, `timeout`, and that the registry runs."


def http_library() -> Any:
    """Import httpx2, or its predecessor httpx, for the first request.

    Raises `KafkaConfigurationError` with the package to install.
    """
    for name in ("httpx2", "httpx"):
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name != name:
                raise
    raise KafkaConfigurationError(
        "the schema registry client needs an HTTP library: pip install 'kafka-columnar[schema-registry]'"
    )
