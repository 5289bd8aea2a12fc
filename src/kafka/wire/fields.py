# mypy: no-warn-return-any
"""Declarations of message fields: wire type, versions and default.

The functions in this module are used on the right-hand side of the declarations in `kafka.wire.api`. According to its
return annotation, each returns the attribute's value, so that type checkers compare the attribute's annotation with the
wire type. The functions are not `field_specifiers` of `dataclass_transform`, because a checker would treat a field
without `default=` as a required argument, while every field of a message has a default.

Common arguments:
    since, until: the first and the last version of the message that has the field.
    nullable: whether None may be written and read; only in versions `null_since` to `null_until` if these are given.
    tag: the number of a tagged field (KIP-482); -1 for a field with a fixed position.
    default: the value of a field that is not set; if omitted, the empty value of the type.
    ignorable: whether a value may be dropped silently if the version to write lacks the field.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias, TypeVar, overload
from uuid import UUID

from kafka.wire.kinds import Kind
from kafka.wire.structs import NEVER, Field, Struct

T = TypeVar("T")
S = TypeVar("S", bound=Struct)

RecordBytes: TypeAlias = bytes | bytearray | memoryview
"""Record batches in wire format. Decoding returns a memoryview of the input; encoding accepts all of these types."""

NO_UUID = UUID(int=0)
"""The zero UUID, which stands for no UUID."""


def int8(*, default: int = 0, since: int = 0, until: int = NEVER, tag: int = -1, ignorable: bool = False) -> int:
    """Declare an 8-bit signed integer."""
    return _made(Kind.INT8, default, since=since, until=until, tag=tag, ignorable=ignorable)


def int16(*, default: int = 0, since: int = 0, until: int = NEVER, tag: int = -1, ignorable: bool = False) -> int:
    """Declare a 16-bit signed integer."""
    return _made(Kind.INT16, default, since=since, until=until, tag=tag, ignorable=ignorable)


def uint16(*, default: int = 0, since: int = 0, until: int = NEVER, tag: int = -1, ignorable: bool = False) -> int:
    """Declare a 16-bit unsigned integer (for ports)."""
    return _made(Kind.UINT16, default, since=since, until=until, tag=tag, ignorable=ignorable)


def int32(*, default: int = 0, since: int = 0, until: int = NEVER, tag: int = -1, ignorable: bool = False) -> int:
    """Declare a 32-bit signed integer."""
    return _made(Kind.INT32, default, since=since, until=until, tag=tag, ignorable=ignorable)


def int64(*, default: int = 0, since: int = 0, until: int = NEVER, tag: int = -1, ignorable: bool = False) -> int:
    """Declare a 64-bit signed integer."""
    return _made(Kind.INT64, default, since=since, until=until, tag=tag, ignorable=ignorable)


def float64(
    *, default: float = 0.0, since: int = 0, until: int = NEVER, tag: int = -1, ignorable: bool = False
) -> float:
    """Declare a 64-bit floating-point number."""
    return _made(Kind.FLOAT64, default, since=since, until=until, tag=tag, ignorable=ignorable)


def boolean(
    *, default: bool = False, since: int = 0, until: int = NEVER, tag: int = -1, ignorable: bool = False
) -> bool:
    """Declare a boolean."""
    return _made(Kind.BOOL, default, since=since, until=until, tag=tag, ignorable=ignorable)


def uuid(*, since: int = 0, until: int = NEVER, tag: int = -1, ignorable: bool = False) -> UUID:
    """Declare a `uuid.UUID`."""
    return _made(Kind.UUID, NO_UUID, since=since, until=until, tag=tag, ignorable=ignorable)


@overload
def string(
    *,
    default: str = ...,
    since: int = ...,
    until: int = ...,
    tag: int = ...,
    ignorable: bool = ...,
    never_compact: bool = ...,
) -> str: ...
@overload
def string(
    *,
    nullable: Literal[True],
    default: str | None = ...,
    since: int = ...,
    until: int = ...,
    null_since: int = ...,
    tag: int = ...,
    ignorable: bool = ...,
    never_compact: bool = ...,
) -> str | None: ...
def string(*, default: str | None = "", **settings: Any) -> str | None:
    """Declare a string of at most 32,767 bytes in UTF-8.

    `never_compact` keeps the old encoding of its length (RequestHeader).
    """
    return _made(Kind.STRING, default, **settings)


@overload
def binary(*, since: int = ..., until: int = ..., tag: int = ..., ignorable: bool = ...) -> bytes: ...
@overload
def binary(
    *,
    nullable: Literal[True],
    default: bytes | None = ...,
    since: int = ...,
    until: int = ...,
    null_since: int = ...,
    tag: int = ...,
    ignorable: bool = ...,
) -> bytes | None: ...
def binary(*, default: bytes | None = b"", **settings: Any) -> bytes | None:
    """Declare bytes (Kafka's type `bytes`), which are copied from the message."""
    return _made(Kind.BYTES, default, **settings)


@overload
def record_bytes(*, since: int = ..., until: int = ..., ignorable: bool = ...) -> RecordBytes: ...
@overload
def record_bytes(
    *,
    nullable: Literal[True],
    since: int = ...,
    until: int = ...,
    null_since: int = ...,
    null_until: int = ...,
    ignorable: bool = ...,
) -> RecordBytes | None: ...
def record_bytes(*, nullable: bool = False, **settings: Any) -> RecordBytes | None:
    """Declare record batches (Kafka's type `records`), which are never copied.

    The default is None if the field is nullable.
    """
    return _made(Kind.RECORDS, None if nullable else b"", nullable=nullable, **settings)


@overload
def array(
    element: Callable[..., T],
    *,
    since: int = ...,
    until: int = ...,
    tag: int = ...,
    ignorable: bool = ...,
) -> list[T]: ...
@overload
def array(
    element: Callable[..., T],
    *,
    nullable: Literal[True],
    default: None = ...,
    since: int = ...,
    until: int = ...,
    null_since: int = ...,
    tag: int = ...,
    ignorable: bool = ...,
) -> list[T] | None: ...
def array(element: Callable[..., T], *, default: Any = (), **settings: Any) -> list[T] | None:
    """Declare a list of structs (`element` is their class) or of values (`element` is a function of this module)."""
    if isinstance(element, type):
        return _made(Kind.ARRAY, default, element=Kind.STRUCT, struct=element, **settings)
    return _made(Kind.ARRAY, default, element=_KINDS[element], **settings)


@overload
def struct(kind: type[S], *, since: int = ..., until: int = ..., tag: int = ..., ignorable: bool = ...) -> S: ...
@overload
def struct(
    kind: type[S],
    *,
    nullable: Literal[True],
    default: None = ...,
    since: int = ...,
    until: int = ...,
    null_since: int = ...,
    tag: int = ...,
    ignorable: bool = ...,
) -> S | None: ...
def struct(kind: type[S], *, default: Any = (), **settings: Any) -> S | None:
    """Declare a struct inside a message."""
    return _made(Kind.STRUCT, default, struct=kind, **settings)


def _made(kind: Kind, default: Any, **settings: Any) -> Any:
    """Return the declaration, typed as Any because the attribute has the type of the value."""
    return Field(kind, default, **settings)


_KINDS: dict[Callable[..., Any], Kind] = {
    int8: Kind.INT8,
    int16: Kind.INT16,
    uint16: Kind.UINT16,
    int32: Kind.INT32,
    int64: Kind.INT64,
    string: Kind.STRING,
    uuid: Kind.UUID,
}
