"""Declared fields, and the structs that consist of them. All messages, and all their parts, are structs."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, dataclass_transform

from kafka.wire.kinds import Kind

NEVER = 32767
"""A version that no message has.

A field with ``since`` NEVER is in no version; a field with ``until`` NEVER is in all versions from ``since`` on.
"""


class Field:
    """A declared field. `name` is its attribute, set by the class that declares it."""

    __slots__ = (
        "default",
        "element",
        "ignorable",
        "kind",
        "name",
        "never_compact",
        "null_since",
        "null_until",
        "since",
        "struct",
        "tag",
        "until",
    )

    def __init__(
        self,
        kind: Kind,
        default: Any,
        *,
        element: Kind | None = None,
        struct: type[Struct] | None = None,
        since: int = 0,
        until: int = NEVER,
        nullable: bool = False,
        null_since: int = 0,
        null_until: int = NEVER,
        tag: int = -1,
        ignorable: bool = False,
        never_compact: bool = False,
    ) -> None:
        self.name = ""
        self.kind = kind
        self.default = default
        self.element = element
        self.struct = struct
        self.since, self.until = since, until
        self.null_since, self.null_until = (null_since, null_until) if nullable else (NEVER, NEVER)
        self.tag = tag
        self.ignorable = ignorable
        self.never_compact = never_compact

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @property
    def is_mutable(self) -> bool:
        """Whether the default is a mutable object, so that each message needs its own."""
        return self.default is not None and self.kind in (Kind.ARRAY, Kind.STRUCT)

    def make_default(self) -> Any:
        """Return the default; a new object if it is mutable."""
        if not self.is_mutable:
            return self.default
        return [] if self.struct is None or self.kind is Kind.ARRAY else self.struct()

    def in_version(self, version: int) -> bool:
        """Return whether the version has the field."""
        return self.since <= version <= self.until

    def nullable_in(self, version: int) -> bool:
        """Return whether the field may be None in the version."""
        return self.null_since <= version <= self.null_until

    def __get__(self, instance: object | None, owner: type) -> Any:
        """Create a mutable default when it is first read, and store it. A field that is never read costs nothing."""
        value = self.make_default()
        if instance is not None:
            instance.__dict__[self.name] = value
        return value


@dataclass_transform(kw_only_default=True)
class Struct:
    """A group of fields. Structs are constructed with keyword arguments and compared by value.

    An instance only stores fields that were set. Reading any other field returns the default, which is stored in the
    class. So a message with forty fields, three of which are set, costs as much as a message with three.
    """

    FIELDS: ClassVar[tuple[Field, ...]] = ()
    HAS_RECORDS: ClassVar[bool] = False
    """Whether the struct or a nested struct has a record field.

    A message with a record field references the bytes from which it was read.
    """

    unknown_tags: Mapping[int, bytes] = MappingProxyType({})
    """Unknown tagged fields that were read, by tag. They are written back unchanged."""

    _NAMES: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, **values: Any) -> None:
        if not self._NAMES.issuperset(values):
            unknown, known = ", ".join(sorted(values.keys() - self._NAMES)), ", ".join(sorted(self._NAMES))
            raise TypeError(f"{type(self).__name__} has no field {unknown}; it has {known}")
        self.__dict__ = values

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        own = tuple(value for value in vars(cls).values() if isinstance(value, Field))
        cls.FIELDS = own
        cls._NAMES = frozenset(["unknown_tags", *(field.name for field in own)])
        cls.HAS_RECORDS = any(
            field.kind is Kind.RECORDS or (field.struct is not None and field.struct.HAS_RECORDS) for field in own
        )
        for field in own:
            if not field.is_mutable:
                setattr(cls, field.name, field.default)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.unknown_tags == other.unknown_tags and all(
            getattr(self, field.name) == getattr(other, field.name) for field in self.FIELDS
        )

    __hash__ = None  # type: ignore[assignment]  # its fields can change

    def __repr__(self) -> str:
        """Show the fields that differ from their default."""
        set_here = (field for field in self.FIELDS if field.name in self.__dict__)
        shown = [f"{f.name}={v!r}" for f in set_here if (v := getattr(self, f.name)) != f.make_default()]
        return f"{type(self).__name__}({', '.join(shown)})"
