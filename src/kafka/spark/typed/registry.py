"""The clients of schema registries in this process, and the patience with a registry that does not answer."""

import collections
import logging
import os
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from kafka.formats.registry.errors import SchemaRegistryConnectionError, SchemaRegistryError

if TYPE_CHECKING:
    from kafka.formats.avro.schema import Schema as ParsedSchema
    from kafka.formats.registry.client import SchemaRegistryClient
    from kafka.formats.registry.schemas import Schema

log = logging.getLogger(__name__)

Conf = tuple[tuple[str, Any], ...]
Answer = TypeVar("Answer")

_MOST_CLIENTS = 8
_PAUSE_S = 5.0
_DEEPEST = 100
_MISSING = 404


class _Clients:
    """Clients by their options, which a forked process makes anew."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pid = os.getpid()
        self._made: collections.OrderedDict[Conf, SchemaRegistryClient] = collections.OrderedDict()

    def of(self, conf: Conf) -> "SchemaRegistryClient":
        """The client with these options."""
        from kafka.formats.registry.client import SchemaRegistryClient

        with self._lock:
            if self._pid != os.getpid():
                self._pid = os.getpid()
                self._made.clear()
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


def writers_schema(conf: Conf, schema_id: int, wait_ms: int) -> "ParsedSchema":
    """The Avro schema with an id, which is asked for once; raises LookupError where the registry does not know it."""
    client = client_of(conf)

    def ask() -> "ParsedSchema":
        try:
            schema = client.get_schema(schema_id)
        except SchemaRegistryError as error:
            if error.http_status_code != _MISSING or error.error_code == SchemaRegistryError.UNKNOWN:
                raise
            raise LookupError(f"schema id {schema_id} is not in the registry: {error}") from error
        return parsed(client, schema)[0]

    return patiently(ask, wait_ms, f"looking for schema id {schema_id}")


def parsed(
    client: "SchemaRegistryClient", schema: "Schema", depth: int = 0
) -> "tuple[ParsedSchema, dict[str, ParsedSchema]]":
    """An Avro schema with what it refers to, and all its types by name; raises ValueError for one that is none."""
    from kafka.formats.avro.schema import AvroSchemaError, parse_named

    if schema.schema_type not in ("AVRO", None):
        raise AvroSchemaError(f"Expected a schema of the type AVRO, got {schema.schema_type}")
    if depth > _DEEPEST:
        raise AvroSchemaError(f"Expected references at most {_DEEPEST} levels deep")
    named: dict[str, ParsedSchema] = {}
    for reference in schema.references or ():
        found = client.get_version(str(reference.subject), reference.version or "latest", deleted=True)
        named.update(parsed(client, found.schema, depth + 1)[1])
    return parse_named(schema.schema_str or "", named)


def texts_of_references(client: "SchemaRegistryClient", schema: "Schema", depth: int = 0) -> list[tuple[str, str]]:
    """The schemas that one refers to, each after those that it refers to itself: names and texts."""
    if depth > _DEEPEST:
        raise ValueError(f"Expected references at most {_DEEPEST} levels deep")
    texts: dict[str, str] = {}
    for reference in schema.references or ():
        found = client.get_version(str(reference.subject), reference.version or "latest", deleted=True)
        texts.update(texts_of_references(client, found.schema, depth + 1))
        texts[str(reference.name)] = found.schema.schema_str or ""
    return list(texts.items())
