"""The record that a consumer returns, and the type variables of its key and value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Self, overload

from kafka.structs import values_by_name

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    Key = TypeVar("Key", default=Any)
    Value = TypeVar("Value", default=Any)
else:
    from typing import TypeVar

    Key = TypeVar("Key")
    """The type of keys: what the consumer's ``key_deserializer`` returns; without one, `bytes` or None."""
    Value = TypeVar("Value")
    """The type of values: what the consumer's ``value_deserializer`` returns; without one, `bytes` or None."""


_IntOrNone = int | Any
"""An int in records from consumers; None in records created by programs, and as the timestamp of magic 0 messages."""


class _Fields(NamedTuple, Generic[Key, Value]):
    """The fields of a record, in kafka-python's order."""

    topic: str
    partition: int
    leader_epoch: _IntOrNone
    offset: int
    timestamp: _IntOrNone
    timestamp_type: _IntOrNone
    key: Key
    value: Value
    headers: list[tuple[str, bytes | None]]
    checksum: int | None
    serialized_key_size: _IntOrNone
    serialized_value_size: _IntOrNone
    serialized_header_size: _IntOrNone


_DEFAULTS: dict[str, Any] = {**dict.fromkeys(_Fields._fields[2:]), "offset": -1}
_OTHERS = len(_DEFAULTS)
"""Number of fields other than the topic and partition."""
_HEADERS = _Fields._fields.index("headers")
_ORDER_BEFORE_2_3 = tuple(name for name in _DEFAULTS if name != "leader_epoch")


class ConsumerRecord(_Fields[Key, Value]):
    """One record of a partition, as a named tuple (Java: `ConsumerRecord`).

    Attributes:
        topic: the topic's name.
        partition: the partition's number.
        leader_epoch: epoch of the leader that wrote the batch; -1 if unknown.
        offset: the position in the partition.
        timestamp: milliseconds since the epoch; -1 or None without a timestamp.
        timestamp_type: 0 for the producer's time, 1 for the broker's append time, -1 without a timestamp.
        key: the deserialized key; bytes without a deserializer; None for a null key.
        value: the deserialized value; bytes without a deserializer; None for a tombstone.
        headers: `(key, value)` in the producer's order, keys as str, values as bytes or None.
        checksum: the CRC of a magic 0 or 1 message; None for other formats.
        serialized_key_size: size of the key in bytes; -1 for a null key.
        serialized_value_size: size of the value in bytes; -1 for a null value.
        serialized_header_size: total size of all header keys and values in bytes; -1 without headers.
    """

    __slots__ = ()

    @overload
    def __new__(
        cls,
        topic: str,
        partition: int,
        leader_epoch: int | None = None,
        offset: int = -1,
        timestamp: int | None = None,
        timestamp_type: int | None = None,
        key: Any = None,
        value: Any = None,
        headers: list[tuple[str, bytes | None]] | None = None,
        checksum: int | None = None,
        serialized_key_size: int | None = None,
        serialized_value_size: int | None = None,
        serialized_header_size: int | None = None,
    ) -> Self: ...
    @overload
    def __new__(cls, topic: str, partition: int, *in_order: Any, **named: Any) -> Self: ...
    def __new__(cls, topic: str, partition: int, *in_order: Any, **named: Any) -> Self:
        """Create a record, for tests of code that uses records; only topic and partition are required.

        Arguments:
            topic: the topic's name.
            partition: the partition's number.
            in_order: values of the other fields. All eleven follow the order of the fields. Fewer follow the order used
                before kafka-python 2.3, in which ``offset`` is third.
            named: values of other fields by name.
        """
        names = _Fields._fields[2:] if len(in_order) == _OTHERS else _ORDER_BEFORE_2_3
        given = {**_DEFAULTS, **values_by_name(cls.__name__, names, in_order, named, _DEFAULTS)}
        if given["headers"] is None:
            given["headers"] = []
        return tuple.__new__(cls, (topic, partition, *given.values()))

    def __hash__(self) -> int:
        """Hash the record without the list of headers, so that records can be in a set, as in kafka-python 1.0."""
        return hash((*self[:_HEADERS], *(self.headers or ()), *self[_HEADERS + 1 :]))

    def _repr_html_(self) -> str:
        """Return the HTML that notebooks display: the fields, with long values shortened."""
        from kafka.display.html_tables import one_record

        return one_record(self)
