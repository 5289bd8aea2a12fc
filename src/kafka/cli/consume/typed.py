"""Converts typed keys and values of records, such as Avro, to text."""

from collections.abc import Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from kafka.cli.command_output import note
from kafka.cli.consume.typed_columns import TextColumns
from kafka.cli.typed_fields import ToText
from kafka.cli.typed_values import Translator, Typed
from kafka.consumer.records.build_records import is_about_record
from kafka.errors import KafkaError, RecordDeserializationError, error_text
from kafka.formats.bad_values import prefix_hint
from kafka.formats.registry.errors import SchemaRegistryError
from kafka.serialization import SerializationError
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    from kafka.record import Columns, ConsumerRecord

_TOLD = 3


class TypedRecords:
    """Converts the keys and values of records to text.

    Arguments:
        typed: the formats of keys and values.
        skips: whether to skip records that cannot be decoded.
    """

    def __init__(self, typed: Typed, skips: bool) -> None:
        self._translator = Translator(typed)
        self._is_needed = bool(typed)
        self._key = self._translator.to_text(typed.key)
        self._value = self._translator.to_text(typed.value)
        self._has_registry = typed.registry is not None
        self._skips = skips
        self._skipped = 0

    def of(self, columns: "Columns") -> "Iterator[Any]":
        """Yield the columns with keys and values rendered as text, split at each record that cannot be decoded.

        Such a record is skipped, or raises `RecordDeserializationError` after the records before it.
        """
        if not self._is_needed:
            yield columns
            return
        made: list[ConsumerRecord] = []
        first = 0
        for row, record in enumerate(columns.to_records()):
            try:
                key = self._text("key", self._key, record.key, record)
                made.append(record._replace(key=key, value=self._text("value", self._value, record.value, record)))
            except RecordDeserializationError as error:
                if made:
                    yield TextColumns(columns.slice(first, row), made)
                if not self._skips:
                    raise
                self._skipped += 1
                if self._skipped <= _TOLD:
                    note(str(error))
                made, first = [], row + 1
        if made:
            yield TextColumns(columns.slice(first, len(columns)), made)

    def _text(self, part: str, to_text: ToText | None, data: bytes | None, record: Any) -> bytes | None:
        if to_text is None or data is None:
            return data
        try:
            return to_text(record.topic, data, record.headers)
        except (KafkaError, ValueError, RecursionError) as error:
            if not _is_about_record(error):
                raise
            why = error_text(error) if isinstance(error, KafkaError) else str(error)
            if not self._has_registry:
                why += prefix_hint(data)
            tp = TopicPartition(record.topic, record.partition)
            advice = "skipped (--skip-bad)" if self._skips else "use --skip-bad to skip such records"
            named = (error.schema_id, error.field) if isinstance(error, SerializationError) else (None, None)
            raise RecordDeserializationError(tp, record.offset, part, why, record, advice, *named) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the registry's client, and report the number of skipped records."""
        self._translator.close()
        if self._skipped:
            note(f"skipped {self._skipped:,} records that could not be read")


def _is_about_record(error: Exception) -> bool:
    """Return whether the record is the cause of an error; this includes schema ids unknown to the registry."""
    return is_about_record(error) or (isinstance(error, SchemaRegistryError) and error.is_missing)
