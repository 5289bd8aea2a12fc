# Written by scripts/twins.py from kafka/formats/registry/_async/requests.py: change that file, not this one.
"""The requests behind the calls of a schema registry client."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from kafka.errors import IllegalArgumentError
from kafka.formats.registry.errors import SchemaRegistryError
from kafka.formats.registry.responses import items_of


class RegistryRequests:
    """Sends requests, and checks the types of answers."""

    def _send(
        self, method: str, path: str, query: Mapping[str, Any] | None = None, body: Mapping[str, Any] | None = None
    ) -> Any:
        raise NotImplementedError

    def _asked(self, kind: type, method: str, path: str, query: Any = None, body: Any = None) -> Any:
        """An answer of a type; raises `SchemaRegistryError` for any other answer."""
        answer = self._send(method, path, {k: v for k, v in (query or {}).items() if v is not None}, body)
        if not isinstance(answer, kind):
            got = type(answer).__name__
            raise SchemaRegistryError(
                0, -1, f"expected an answer of type {kind.__name__}, got {got}", f"{method} /{path}"
            )
        return answer

    def _listed(self, kind: type, method: str, path: str, query: Any = None) -> list[Any]:
        """A list of texts or numbers; raises `SchemaRegistryError` for any other answer."""
        return items_of(self._asked(list, method, path, query), kind, f"{method} /{path}")


def quoted(part: str) -> str:
    """One part of a path. An empty part, or dots, would address something else: the settings of all subjects.

    Raises `IllegalArgumentError` for an empty name.
    """
    if not part:
        raise IllegalArgumentError("expected the name of a subject, or a GUID, got an empty text")
    return part.replace(".", "%2E") if part in (".", "..") else quote(part, safe="")
