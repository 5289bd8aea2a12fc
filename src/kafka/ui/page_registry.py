"""The UI's access to the schema registry: decodes keys and values, and queries schemas."""

import asyncio
import json
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

from kafka.display.payload_text import Decoded
from kafka.errors import KafkaError, error_text
from kafka.formats.registry._sync.named_schemas import named_schema
from kafka.formats.registry.errors import SchemaRegistryConnectionError, SchemaRegistryError
from kafka.formats.registry.registry_clients import SchemaRegistryClient
from kafka.schema_registry.avro_values import AvroJsonReader
from kafka.schema_registry.protobuf_json import ProtobufJsonReader
from kafka.schema_registry.schema_ids import SchemaId, dual_schema_id_deserializer
from kafka.schema_registry.serde import described
from kafka.serialization import MessageField, SerializationContext, SerializationError
from kafka.ui.merged_scan import Found

T = TypeVar("T")
LARGEST = 256 << 10
"""Maximum size of keys and values that are decoded, in bytes."""
_DEFAULTS: Mapping[str, Any] = {"timeout": 5, "max.retries": 0, "cache.latest.ttl.sec": 5}
_THREADS = 4
_MOST_LOOKUPS = 20
"""Maximum number of unknown ids to look up at once, because any bytes may look like a schema id."""
_MEMORY_S = 60.0
"""Seconds until an id that the registry did not know is looked up again."""
_MOST_REMEMBERED = 1000
"""Maximum number of unknown ids to remember; if there are more, all are forgotten."""
_PAUSE_S = 10.0
"""Seconds until a registry that did not respond is asked for schemas again."""


class RecordText(NamedTuple):
    """The decoded key and value of a record; each is None if it has no schema id."""

    key: Decoded | None = None
    value: Decoded | None = None


class PageRegistry:
    """Queries a registry in separate threads, so that a slow registry does not block the rest of the UI.

    Arguments:
        conf: options of `SchemaRegistryClient`.
    """

    def __init__(self, conf: Mapping[str, Any]) -> None:
        self.client = SchemaRegistryClient({**_DEFAULTS, **conf})
        self._threads = ThreadPoolExecutor(_THREADS, "kafka-ui-registry")
        self._avro = AvroJsonReader(self.client)
        self._protobuf = ProtobufJsonReader(self.client)
        self._kinds: dict[int | str, str] = {}
        self._complete: set[int | str] = set()  # decoding with these schemas requires no further requests
        self._unknown: dict[int | str, tuple[float, Decoded]] = {}
        self._silent_until = 0.0
        self._silence = ""

    async def ask(self, question: Callable[..., T], *given: Any) -> T:
        """Call a method of the client in one of the threads; return the method's result, or raise its error."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, question, *given)

    async def decoded(self, topic: str, records: Iterable[Found]) -> list[RecordText]:
        """Decode those keys and values of the records that contain a schema id."""
        return await self.ask(self._decode_all, topic, list(records))

    async def message_name(self, topic: str, record: Found, part: str) -> str:
        """Return the name of the Protobuf message type of a key or value that was decoded."""
        field = MessageField(part)
        data = (record.key if field is MessageField.KEY else record.value) or b""
        return await self.ask(self._protobuf.message_name, data, SerializationContext(topic, field, record.headers))

    def close(self) -> None:
        """Close the client. Requests in progress end no later than when their timeout expires."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self.client.close()

    def _decode_all(self, topic: str, records: list[Found]) -> list[RecordText]:
        lookups = [_MOST_LOOKUPS]
        return [
            RecordText(
                self._decode(topic, MessageField.KEY, each.key, each, lookups),
                self._decode(topic, MessageField.VALUE, each.value, each, lookups),
            )
            for each in records
        ]

    def _decode(
        self, topic: str, field: MessageField, data: bytes | None, record: Found, lookups: list[int]
    ) -> Decoded | None:
        if data is None:
            return None
        context = SerializationContext(topic, field, record.headers)
        schema_id = SchemaId("AVRO")
        try:
            payload = dual_schema_id_deserializer(data, context, schema_id)
        except SerializationError:
            return None
        name = schema_id.name
        if len(data) > LARGEST:
            return Decoded(None, f"schema {name}", schema_id.id, "too long to decode here")
        kind = self._kind(name, schema_id.id, lookups)
        if not isinstance(kind, str):
            return kind
        shown = f"{kind}, schema {name}"
        try:
            text = self._text(kind, data, payload.read(), context)
            self._complete.add(name)
            return Decoded(text, shown, schema_id.id)
        except SchemaRegistryConnectionError as error:  # raised while requesting the schema's references
            return Decoded(None, shown, schema_id.id, self._fall_silent(error))
        except (KafkaError, ValueError, RecursionError) as error:
            return Decoded(None, shown, schema_id.id, error_text(error).removeprefix(f"{described(schema_id)}: "))

    def _kind(self, name: int | str, schema_id: int | None, lookups: list[int]) -> "str | Decoded | None":
        """Return the type of a schema, or a note to show instead; None if no more lookups are allowed."""
        now = time.monotonic()
        if now < self._silent_until and name not in self._complete:
            return Decoded(None, f"schema {name}", schema_id, self._silence)
        if (kind := self._kinds.get(name)) is not None:
            return kind
        if (kept := self._unknown.get(name)) is not None and kept[0] > now:
            return kept[1]
        if lookups[0] == 0:
            return None
        lookups[0] -= 1
        try:
            schema = named_schema(self.client, name)
        except SchemaRegistryConnectionError as error:
            return Decoded(None, f"schema {name}", schema_id, self._fall_silent(error))
        except SchemaRegistryError as error:
            found = Decoded(None, f"schema {name}", schema_id, _why(error))
            if len(self._unknown) >= _MOST_REMEMBERED:
                self._unknown.clear()
            self._unknown[name] = (time.monotonic() + _MEMORY_S, found)
            return found
        kind = self._kinds[name] = schema.schema_type or "AVRO"
        return kind

    def _fall_silent(self, error: SchemaRegistryConnectionError) -> str:
        """Stop asking for schemas for a while; return the reason."""
        self._silent_until = time.monotonic() + _PAUSE_S
        self._silence = f"the schema registry does not answer: {error_text(error)}"
        return self._silence

    def _text(self, kind: str, data: bytes, payload: bytes, context: SerializationContext) -> str:
        """Decode bytes to JSON. Raises `SerializationError` or `ValueError` for invalid bytes."""
        if kind == "AVRO":
            return self._avro.text(data, context)
        if kind == "JSON":
            text = payload.decode()
            json.loads(text)
            return text
        if kind == "PROTOBUF":
            return self._protobuf.text(data, context)
        raise SerializationError(f"values of the type {kind} are not decoded here")


def _why(error: SchemaRegistryError) -> str:
    if error.is_missing:
        return "the schema registry does not know this id"
    return f"the schema registry rejected the request: {error_text(error)}"
