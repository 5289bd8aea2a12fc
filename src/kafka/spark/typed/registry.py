"""The clients of schema registries in this process, and the patience with a registry that does not answer."""

import collections
import logging
import os
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from kafka.formats.header_ids import SchemaName
from kafka.formats.registry.errors import SchemaRegistryConnectionError, SchemaRegistryError
from kafka.formats.registry.references import referenced_schemas

if TYPE_CHECKING:
    from kafka.formats.registry.client import SchemaRegistryClient
    from kafka.formats.registry.schemas import Schema

log = logging.getLogger(__name__)

Conf = tuple[tuple[str, Any], ...]
Answer = TypeVar("Answer")

_MOST_CLIENTS = 8
_PAUSE_S = 5.0


class _Clients:
    """Clients by their options.

    A forked process has none: another thread of its parent may have held any lock of a client, or this one's.
    """

    def __init__(self) -> None:
        self._of_parent: list[object] = []
        self._begin()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._begin_again)

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._made: collections.OrderedDict[Conf, SchemaRegistryClient] = collections.OrderedDict()

    def _begin_again(self) -> None:
        self._of_parent.append(self._made)  # their connections are the parent's to close
        self._begin()

    def of(self, conf: Conf) -> "SchemaRegistryClient":
        """The client with these options; it stays open for as long as somebody holds it."""
        from kafka.formats.registry.client import SchemaRegistryClient

        with self._lock:
            found = self._made.get(conf)
            if found is None:
                found = self._made[conf] = SchemaRegistryClient(dict(conf))
                if len(self._made) > _MOST_CLIENTS:
                    self._made.popitem(last=False)
            else:
                self._made.move_to_end(conf)
            return found


_CLIENTS = _Clients()


def client_of(conf: Conf) -> "SchemaRegistryClient":
    """The client of this process with these options; it keeps what it was told of ids for good."""
    return _CLIENTS.of(conf)


def patiently(
    ask: Callable[[], Answer],
    wait_ms: int,
    what: str,
    *,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], object] = time.sleep,
) -> Answer:
    """Ask a registry; where none answers, say so and ask again, for so long.

    Arguments:
        ask: asks, and raises `SchemaRegistryConnectionError` where none answers.
        wait_ms: how long; then that error is raised.
        what: what it is asked for, for the log.
        clock: in seconds.
        sleep: lets so many seconds go by.
    """
    until = clock() + wait_ms / 1_000
    while True:
        try:
            return ask()
        except SchemaRegistryConnectionError as error:
            left = until - clock()
            if left <= 0:
                error.add_note(f"while {what}, after {wait_ms} ms (option schemaRegistryWait)")
                raise
            log.warning("%s: the schema registry does not answer, asking again for %.0f s: %s", what, left, error)
            sleep(min(_PAUSE_S, left))


class WritersSchemas:
    """What values are decoded by, by the ids or GUIDs of their schemas, for one task: it is not for several threads.

    Each is asked for once; one that cannot be used is asked for again after a while.

    Arguments:
        client: has the schemas.
        kind: the type that they have to be of.
        made: makes what is wanted of a schema; raises ValueError for one that cannot be used.
        wait_ms: how long to wait for a registry that does not answer.
    """

    def __init__(
        self, client: "SchemaRegistryClient", kind: str, made: Callable[["Schema"], Any], wait_ms: int
    ) -> None:
        from kafka.formats.registry.unusable_schemas import UnusableSchemas

        self._client = client
        self._kind = kind
        self._made = made
        self._wait_ms = wait_ms
        self._known: dict[SchemaName, Any] = {}
        self._unusable = UnusableSchemas()

    def of(self, name: SchemaName) -> Any:
        """What was made of the schema with an id or GUID; raises LookupError, with the reason, where there is none."""
        if name not in self._known:
            self._unusable.forget_old()
            if name in self._unusable:
                raise LookupError(self._unusable.cause(name))
            what = f"looking for schema {name}" if isinstance(name, str) else f"looking for schema id {name}"
            try:
                found = patiently(lambda: self._asked(name), self._wait_ms, what)
            except ValueError as error:
                self._unusable.add(name, str(error))
                raise LookupError(self._unusable.cause(name)) from error
            self._known[name] = found
        return self._known[name]

    def _asked(self, name: SchemaName) -> Any:
        client = self._client
        try:
            schema = client.get_schema_by_guid(name) if isinstance(name, str) else client.get_schema(name)
        except SchemaRegistryError as error:
            if not error.is_missing:
                raise
            raise ValueError(f"the schema is not in the registry: {error}") from error
        if (schema.schema_type or "AVRO") != self._kind:
            raise ValueError(f"expected a schema of the type {self._kind}, got {schema.schema_type}")
        try:
            return self._made(schema)
        except SchemaRegistryError as error:
            if not error.is_missing:
                raise
            raise ValueError(f"the schema registry lacks what the schema refers to: {error}") from error


def texts_of_references(client: "SchemaRegistryClient", schema: "Schema", kind: str) -> tuple[tuple[str, str], ...]:
    """The schemas that one refers to, each after those that it refers to itself: names and texts.

    Arguments:
        client: has them.
        schema: the schema.
        kind: its type, and theirs.

    Raises `SerializationError`, and `SchemaRegistryError`.
    """
    found = referenced_schemas(schema, client, kind)
    return tuple((name, each.schema_str or "") for name, each in found.items())
