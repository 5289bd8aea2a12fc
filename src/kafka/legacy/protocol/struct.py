"""`Struct`: a message, or a part of one, as an object with the fields of a schema."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from types import MappingProxyType
from typing import Any, ClassVar, Self

from kafka.legacy.protocol.types import AbstractType, Schema


class _Encode(classmethod):  # type: ignore[type-arg]
    """`encode`: a class method that writes a sequence of values; of an instance it writes that instance."""

    def __get__(self, instance: Any, owner: Any = None, /) -> Any:
        return super().__get__(instance, owner) if instance is None else instance._encode_self


def _encode_values(owner: type[Struct], item: Any) -> bytes:
    """Write a struct, or the values of its fields in order."""
    if isinstance(item, Struct):
        return item._encode_self()
    return b"".join([field.encode(item[index]) for index, field in enumerate(owner.SCHEMA.fields)])


class Struct(AbstractType):
    """An object with the fields of `SCHEMA`, given in order or by name; those that are not given are None."""

    SCHEMA: ClassVar[Schema] = Schema()
    ALIASES: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """Other names of fields, which other releases used."""

    encode: ClassVar[Any] = _Encode(_encode_values)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Take all fields in order, or any by name.

        Raises:
            ValueError: there are more or fewer values than fields, or a name is not that of a field.
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
        """Serve the other names of fields."""
        if name in self.ALIASES:
            return getattr(self, self.ALIASES[name])
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _encode_self(self) -> bytes:
        return self.SCHEMA.encode([getattr(self, name) for name in self.SCHEMA.names])

    @classmethod
    def decode(cls, data: Any) -> Self:
        """Read an instance from bytes, or from a stream; ValueError if they hold none."""
        if isinstance(data, bytes):
            data = BytesIO(data)
        return cls(*[field.decode(data) for field in cls.SCHEMA.fields])

    def get_item(self, name: str) -> Any:
        """Return a field by its name; KeyError if there is none."""
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
