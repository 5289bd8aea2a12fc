"""The base classes of every message, and what a message can do."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Generic, Self, TypeVar, dataclass_transform

from kafka.errors import UnsupportedVersionError
from kafka.wire import decoder, encoder, plan
from kafka.wire.fields import NEVER, Field, Kind


@dataclass_transform(kw_only_default=True)
class Struct:
    """A group of fields. Built with keywords; compared by value.

    A field that was never set is not in the instance: reading it gives the default that stands on the class. So a
    message with forty fields of which three are set costs as much as one with three.
    """

    FIELDS: ClassVar[tuple[Field, ...]] = ()
    HAS_RECORDS: ClassVar[bool] = False
    """Whether a record field is among its fields, or theirs: such a message holds on to the bytes it was read from."""

    unknown_tags: Mapping[int, bytes] = MappingProxyType({})
    """The tagged fields that were read without being known here, by tag. They are written back as they came."""

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
        """Name the fields that are not at their default."""
        set_here = (field for field in self.FIELDS if field.name in self.__dict__)
        shown = [f"{f.name}={v!r}" for f in set_here if (v := getattr(self, f.name)) != f.make_default()]
        return f"{type(self).__name__}({', '.join(shown)})"


class Message(Struct):
    """A message: a struct with versions of its own. Subclasses give `versions` and what else differs from none.

    Class arguments:
        name: Kafka's name of the message, where the class has another.
        api_key: Kafka's number of the API; -1 for data that are no request and no response.
        versions: the first and the last version.
        flexible_since: the first version with compact lengths and tagged fields (KIP-482).
    """

    NAME: ClassVar[str] = ""
    API_KEY: ClassVar[int] = -1
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = NEVER

    _readers: ClassVar[dict[int, decoder.ReadPlan]] = {}
    _writers: ClassVar[dict[int, encoder.WritePlan]] = {}

    def __init_subclass__(
        cls,
        *,
        name: str = "",
        api_key: int = -1,
        versions: tuple[int, int] = (0, 0),
        flexible_since: int = NEVER,
        **settings: Any,
    ) -> None:
        super().__init_subclass__(**settings)
        cls.NAME = name or cls.__name__
        cls.API_KEY = api_key
        cls.MIN_VERSION, cls.MAX_VERSION = versions
        cls.FLEXIBLE_SINCE = flexible_since
        cls._readers = {}
        cls._writers = {}

    @classmethod
    def check_version(cls, version: int) -> None:
        """Raise UnsupportedVersionError unless the message has the version."""
        if not cls.MIN_VERSION <= version <= cls.MAX_VERSION:
            raise UnsupportedVersionError(
                f"{cls.NAME} has the versions {cls.MIN_VERSION} to {cls.MAX_VERSION}, not {version}"
            )

    @classmethod
    def reader(cls, version: int) -> decoder.ReadPlan:
        """Return the plan by which a version is read; made once."""
        found = cls._readers.get(version)
        if found is None:
            found = cls._readers[version] = plan.read_plan(cls, version)
        return found

    @classmethod
    def writer(cls, version: int) -> encoder.WritePlan:
        """Return the plan by which a version is written; made once."""
        found = cls._writers.get(version)
        if found is None:
            found = cls._writers[version] = plan.write_plan(cls, version)
        return found

    @classmethod
    def decode(cls, data: Any, version: int) -> Self:
        """Read a message that fills the buffer; record fields become views of it, without a copy.

        Raises:
            WireFormatError: the bytes are no such message, or bytes are left over.
            UnsupportedVersionError: there is no such version.
        """
        made: Self = decoder.decode(cls.reader(version), data, 0, True)[0]
        return made

    @classmethod
    def decode_prefix(cls, data: Any, version: int, start: int = 0) -> tuple[Self, int]:
        """Read a message that begins at byte `start` and may end before the buffer; return it and where it ends.

        Raises:
            WireFormatError: the bytes are no such message.
            UnsupportedVersionError: there is no such version.
        """
        made: tuple[Self, int] = decoder.decode(cls.reader(version), data, start, False)
        return made

    def encode(self, version: int) -> bytes:
        """Write the message.

        Raises:
            WireFormatError: a value does not fit its field.
            UnsupportedVersionError: there is no such version, or it lacks a field that is set and is not ignorable.
        """
        return b"".join(self.encode_parts(version))

    def encode_parts(self, version: int) -> list[Any]:
        """Write the message into buffers that make it up one after the other; record bytes are not copied.

        Raises:
            As `encode`.
        """
        return encoder.encode([(self.writer(version), self)], False)

    @classmethod
    def from_dict(cls, json: dict[str, Any], version: int) -> Self:
        """Make a message of Kafka's JSON form, as `to_dict` gives it.

        Raises:
            WireFormatError: a key is missing, or not known, or its value does not fit.
            UnsupportedVersionError: there is no such version.
        """
        from kafka.wire import jsonform

        return jsonform.from_dict(cls, json, version)

    def to_dict(self, version: int) -> dict[str, Any]:
        """Return Kafka's JSON form: names in camel case, bytes in base64, a uuid in 22 characters of base64url.

        Tagged fields at their default are left out, as on the wire.

        Raises:
            WireFormatError: a value is null that may not be.
            UnsupportedVersionError: there is no such version, or it lacks a field that is set and is not ignorable.
        """
        from kafka.wire import jsonform

        return jsonform.to_dict(self, version)


R = TypeVar("R", bound="Response")


class Request(Message, Generic[R]):
    """What a client sends; the parameter is the class of its response, for type checkers."""

    RESPONSE: ClassVar[type[Response]]


class Response(Message):
    """What a broker answers. Subclasses name their request (`request=`), whose API key and versions are theirs."""

    REQUEST: ClassVar[type[Request[Any]]]

    def __init_subclass__(cls, *, request: type[Request[Any]] | None = None, **settings: Any) -> None:
        if request is None:
            super().__init_subclass__(**settings)
            return
        super().__init_subclass__(
            api_key=request.API_KEY,
            versions=(request.MIN_VERSION, request.MAX_VERSION),
            flexible_since=request.FLEXIBLE_SINCE,
            **settings,
        )
        cls.REQUEST = request
        request.RESPONSE = cls
