"""The types of a `Schema`, each of which encodes and decodes one kind of value, and `Struct`, the base of messages.

Types without settings are used as classes (`Int32`), the others as instances (`String("utf-8")`, `Array(Int32)`).
"""

from __future__ import annotations

import abc
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from io import BytesIO
from types import MappingProxyType
from typing import Any, BinaryIO, ClassVar, Self, TypeAlias

FieldType: TypeAlias = Any
"""An `AbstractType` subclass, or an instance of one."""


class AbstractType(abc.ABC):
    """Base class of the types in a schema."""

    @abc.abstractmethod
    def encode(self, value: Any) -> bytes:
        """Encode a value. Raises `ValueError` for an unsuitable value."""

    @abc.abstractmethod
    def decode(self, data: BinaryIO) -> Any:
        """Decode a value from a stream. Raises `ValueError` for invalid bytes."""

    @classmethod
    def repr(cls, value: Any) -> str:
        """Format a value as part of a message."""
        return repr(value)


def read_exactly(data: BinaryIO, size: int, what: str) -> bytes:
    """Read `size` bytes from a stream. Raises `ValueError` if the stream contains fewer."""
    found = data.read(size)
    if len(found) != size:
        raise ValueError(f"Buffer underrun decoding {what}: expected {size} bytes, found {len(found)}")
    return found


def _pack(form: Callable[[Any], bytes], value: Any) -> bytes:
    """Encode a value with a `struct.Struct.pack`, for types that programs define. Raises `ValueError` if that fails."""
    try:
        return form(value)
    except struct.error as error:
        raise ValueError(f"cannot write {value!r}: {error}") from error


def _unpack(form: Callable[[bytes], tuple[Any]], data: bytes) -> Any:
    """Decode a value with a `struct.Struct.unpack`. Raises `ValueError` for invalid bytes."""
    try:
        (value,) = form(data)
    except struct.error as error:
        raise ValueError(f"cannot read {data!r}: {error}") from error
    return value


class _Number(AbstractType):
    """A fixed-width number."""

    _form: ClassVar[struct.Struct]

    @classmethod
    def encode(cls, value: Any) -> bytes:
        try:
            return cls._form.pack(value)
        except struct.error as error:
            raise ValueError(f"{cls.__name__} cannot hold {value!r}: {error}") from error

    @classmethod
    def decode(cls, data: BinaryIO) -> Any:
        return cls._form.unpack(read_exactly(data, cls._form.size, cls.__name__))[0]


class Int8(_Number):
    """A signed 8-bit number."""

    _form = struct.Struct(">b")


class Int16(_Number):
    """A signed 16-bit number."""

    _form = struct.Struct(">h")


class Int32(_Number):
    """A signed 32-bit number."""

    _form = struct.Struct(">i")


class Int64(_Number):
    """A signed 64-bit number."""

    _form = struct.Struct(">q")


class Float64(_Number):
    """A 64-bit floating-point number."""

    _form = struct.Struct(">d")


class Boolean(_Number):
    """A byte that is 0 or 1."""

    _form = struct.Struct(">?")


class String(AbstractType):
    """Text, preceded by its size; None has size -1."""

    def __init__(self, encoding: str = "utf-8") -> None:
        self.encoding = encoding

    def _bytes(self, value: Any) -> bytes:
        """Encode text; bytes, as programs on Python 2 passed them, are returned unchanged."""
        return bytes(value) if isinstance(value, (bytes, bytearray)) else str(value).encode(self.encoding)

    def encode(self, value: Any) -> bytes:
        if value is None:
            return Int16.encode(-1)
        data = self._bytes(value)
        return Int16.encode(len(data)) + data

    def decode(self, data: BinaryIO) -> str | None:
        size = Int16.decode(data)
        return None if size < 0 else read_exactly(data, size, "string").decode(self.encoding)


class Bytes(AbstractType):
    """Bytes, preceded by their size; None has size -1."""

    @classmethod
    def encode(cls, value: Any) -> bytes:
        return Int32.encode(-1) if value is None else Int32.encode(len(value)) + value

    @classmethod
    def decode(cls, data: BinaryIO) -> bytes | None:
        size = Int32.decode(data)
        return None if size < 0 else read_exactly(data, size, "Bytes")

    @classmethod
    def repr(cls, value: Any) -> str:
        return repr(value[:100] + b"..." if value is not None and len(value) > 100 else value)


class Schema(AbstractType):
    """A sequence of named fields; a value is a sequence of the same length."""

    names: tuple[str, ...]
    fields: tuple[FieldType, ...]

    def __init__(self, *fields: tuple[str, FieldType]) -> None:
        self.names = tuple(name for name, _ in fields)
        self.fields = tuple(field for _, field in fields)

    def encode(self, item: Sequence[Any]) -> bytes:
        if len(item) != len(self.fields):
            raise ValueError(f"Item field count does not match Schema: {len(item)} values for {', '.join(self.names)}")
        return b"".join([field.encode(value) for field, value in zip(self.fields, item, strict=True)])

    def decode(self, data: BinaryIO) -> tuple[Any, ...]:
        return tuple([field.decode(data) for field in self.fields])

    def __len__(self) -> int:
        return len(self.fields)

    def repr(self, value: Any) -> str:  # type: ignore[override]  # a schema is an instance
        is_sequence = isinstance(value, (tuple, list))
        try:
            shown = [
                f"{name}={field.repr(value[index] if is_sequence else getattr(value, name))}"
                for index, (name, field) in enumerate(zip(self.names, self.fields, strict=True))
            ]
        except Exception:
            return repr(value)
        return f"({', '.join(shown)})"


class Array(AbstractType):
    """Values of one type, preceded by their count; None has count -1."""

    array_of: FieldType

    def __init__(self, *array_of: Any) -> None:
        """Accept the type of the elements, or the fields of a `Schema`."""
        if len(array_of) > 1:
            self.array_of = Schema(*array_of)
        elif array_of and (
            isinstance(array_of[0], AbstractType)
            or (isinstance(array_of[0], type) and issubclass(array_of[0], AbstractType))
        ):
            self.array_of = array_of[0]
        else:
            raise ValueError("Array instantiated with no array_of type")

    def encode(self, items: Iterable[Any] | None) -> bytes:
        if items is None:
            return Int32.encode(-1)
        encoded = [self.array_of.encode(item) for item in items]
        return b"".join([Int32.encode(len(encoded)), *encoded])

    def decode(self, data: BinaryIO) -> list[Any] | None:
        count = Int32.decode(data)
        return None if count == -1 else [self.array_of.decode(data) for _ in range(count)]

    def repr(self, list_of_items: Any) -> str:  # type: ignore[override]  # an array is an instance
        return "NULL" if list_of_items is None else f"[{', '.join(map(self.array_of.repr, list_of_items))}]"


class BitField(AbstractType):
    """A set of numbers from 0 to 31, as the bits of a 32-bit number."""

    @classmethod
    def encode(cls, vals: Iterable[int]) -> bytes:
        return cls.to_32_bit_field(vals).to_bytes(4, "big")

    @classmethod
    def decode(cls, data: BinaryIO) -> set[int]:
        return cls.from_32_bit_field(Int32.decode(data))

    @classmethod
    def to_32_bit_field(cls, vals: Iterable[int]) -> int:
        """Return a number with the given bits set."""
        value = 0
        for bit in vals:
            if not 0 <= bit < 32:
                raise ValueError(f"expected a bit from 0 to 31, got {bit}")
            value |= 1 << bit
        return value

    @classmethod
    def from_32_bit_field(cls, value: int) -> set[int]:
        """Return the positions of the bits that are set."""
        return {bit for bit in range(32) if value >> bit & 1}


def _to_varint(value: int) -> bytes:
    """Encode a non-negative number as a varint: seven bits per byte, lowest first."""
    written = bytearray()
    while value > 0x7F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    written.append(value)
    return bytes(written)


def _from_varint(data: BinaryIO, width: int) -> int:
    """Decode a varint."""
    value = 0
    for shift in range(0, width, 7):
        byte = read_exactly(data, 1, "a varint")[0]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & ((1 << width) - 1)
    raise ValueError(f"a varint has more than {width} bits")


class UnsignedVarInt32(AbstractType):
    """A number from 0 to 2³² - 1, in one to five bytes."""

    @classmethod
    def encode(cls, value: int) -> bytes:
        return _to_varint(value & 0xFFFFFFFF)

    @classmethod
    def decode(cls, data: BinaryIO) -> int:
        return _from_varint(data, 32)


class VarInt32(AbstractType):
    """A signed number in one to five bytes; numbers close to 0 take fewer bytes (zigzag encoding)."""

    _width: ClassVar[int] = 32

    @classmethod
    def encode(cls, value: int) -> bytes:
        return _to_varint((value << 1 ^ value >> cls._width - 1) & (1 << cls._width) - 1)

    @classmethod
    def decode(cls, data: BinaryIO) -> int:
        value = _from_varint(data, cls._width)
        return value >> 1 ^ -(value & 1)


class VarInt64(VarInt32):
    """A signed number, in one to ten bytes."""

    _width = 64


class CompactString(String):
    """Text, preceded by its size as a varint (KIP-482)."""

    def encode(self, value: Any) -> bytes:
        if value is None:
            return UnsignedVarInt32.encode(0)
        data = self._bytes(value)
        return UnsignedVarInt32.encode(len(data) + 1) + data

    def decode(self, data: BinaryIO) -> str | None:
        size = UnsignedVarInt32.decode(data) - 1
        return None if size < 0 else read_exactly(data, size, "string").decode(self.encoding)


class CompactBytes(AbstractType):
    """Bytes, preceded by their size as a varint (KIP-482)."""

    @classmethod
    def encode(cls, value: Any) -> bytes:
        return UnsignedVarInt32.encode(0) if value is None else UnsignedVarInt32.encode(len(value) + 1) + value

    @classmethod
    def decode(cls, data: BinaryIO) -> bytes | None:
        size = UnsignedVarInt32.decode(data) - 1
        return None if size < 0 else read_exactly(data, size, "Bytes")


class CompactArray(Array):
    """Values of one type, preceded by their count as a varint (KIP-482)."""

    def encode(self, items: Iterable[Any] | None) -> bytes:
        if items is None:
            return UnsignedVarInt32.encode(0)
        encoded = [self.array_of.encode(item) for item in items]
        return b"".join([UnsignedVarInt32.encode(len(encoded) + 1), *encoded])

    def decode(self, data: BinaryIO) -> list[Any] | None:
        count = UnsignedVarInt32.decode(data) - 1
        return None if count == -1 else [self.array_of.decode(data) for _ in range(count)]


class TaggedFields(AbstractType):
    """Tagged fields (KIP-482), as a dict of bytes by tag."""

    @classmethod
    def encode(cls, value: dict[int, bytes] | None) -> bytes:
        fields: list[tuple[int, Any]] = sorted((value or {}).items())
        written = [UnsignedVarInt32.encode(len(fields))]
        for tag, data in fields:
            if not isinstance(data, bytes) or tag < 0:
                raise ValueError(f"expected bytes with a non-negative tag, got {data!r} with {tag}")
            written += [UnsignedVarInt32.encode(tag), UnsignedVarInt32.encode(len(data)), data]
        return b"".join(written)

    @classmethod
    def decode(cls, data: BinaryIO) -> dict[int, bytes]:
        found: dict[int, bytes] = {}
        last = -1
        for _ in range(UnsignedVarInt32.decode(data)):
            tag = UnsignedVarInt32.decode(data)
            if tag <= last:
                raise ValueError(f"Invalid or out-of-order tag {tag}")
            last = tag
            found[tag] = read_exactly(data, UnsignedVarInt32.decode(data), "a tagged field")
        return found


class _Encode(classmethod):  # type: ignore[type-arg]
    """`encode`: called on the class, encodes a sequence of values; called on an instance, encodes the instance."""

    def __get__(self, instance: Any, owner: Any = None, /) -> Any:
        return super().__get__(instance, owner) if instance is None else instance._encode_self


def _encode_values(owner: type[Struct], item: Any) -> bytes:
    """Encode a struct, or the values of its fields in order."""
    if isinstance(item, Struct):
        return item._encode_self()
    return b"".join([field.encode(item[index]) for index, field in enumerate(owner.SCHEMA.fields)])


class Struct(AbstractType):
    """An object with the fields of `SCHEMA`, passed in order or by name; omitted fields are None."""

    SCHEMA: ClassVar[Schema] = Schema()
    ALIASES: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """Alternative field names used by other releases."""

    encode: ClassVar[Any] = _Encode(_encode_values)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Accept all fields in order, or any by name.

        Raises:
            ValueError: there are more or fewer values than fields, or a name is unknown.
        """
        names = self.SCHEMA.names
        if args and len(args) != len(names):
            raise ValueError(f"Args must be empty or mirror schema: {len(args)} values for {', '.join(names)}")
        if args:
            given = dict(zip(names, args, strict=True))
        else:
            given = {self.ALIASES.get(name, name): value for name, value in kwargs.items()}
        unknown = given.keys() - set(names)
        if unknown or (args and kwargs):
            raise ValueError(f"Keyword(s) not in schema {list(names)}: {', '.join(sorted(unknown or kwargs))}")
        for name in names:
            setattr(self, name, given.get(name))

    def __getattr__(self, name: str) -> Any:
        """Return the field that has this alternative name."""
        if name in self.ALIASES:
            return getattr(self, self.ALIASES[name])
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _encode_self(self) -> bytes:
        return self.SCHEMA.encode([getattr(self, name) for name in self.SCHEMA.names])

    @classmethod
    def decode(cls, data: Any) -> Self:
        """Decode an instance from bytes or a stream. Raises `ValueError` for invalid bytes."""
        if isinstance(data, bytes):
            data = BytesIO(data)
        return cls(*[field.decode(data) for field in cls.SCHEMA.fields])

    def get_item(self, name: str) -> Any:
        """Return a field by name. Raises `KeyError` if the field does not exist."""
        if name not in self.SCHEMA.names:
            raise KeyError(f"{name} is not in the schema")
        return getattr(self, name)

    def __repr__(self) -> str:
        fields = zip(self.SCHEMA.names, self.SCHEMA.fields, strict=True)
        return f"{type(self).__name__}({', '.join(f'{name}={f.repr(getattr(self, name))}' for name, f in fields)})"

    def __hash__(self) -> int:
        return hash(self._encode_self())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Struct) or self.SCHEMA is not other.SCHEMA:
            return False
        return all(getattr(self, name) == getattr(other, name) for name in self.SCHEMA.names)
