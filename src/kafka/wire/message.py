"""The base classes of all messages."""

from __future__ import annotations

from typing import Any, ClassVar, Generic, Self, TypeVar

from kafka.errors import UnsupportedVersionError
from kafka.wire.decoder import ReadPlan, decode
from kafka.wire.encoder import WritePlan, encode
from kafka.wire.plan import read_plan, write_plan
from kafka.wire.structs import NEVER, Struct


class Message(Struct):
    """A message: a struct with versions. Subclasses set `versions`, and other class arguments as needed.

    Class arguments:
        name: Kafka's name for the message, if it differs from the name of the class.
        api_key: Kafka's API key; -1 for data that is neither a request nor a response.
        versions: the first and the last version.
        flexible_since: the first version with compact lengths and tagged fields (KIP-482).
    """

    NAME: ClassVar[str] = ""
    API_KEY: ClassVar[int] = -1
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = NEVER

    _readers: ClassVar[dict[int, ReadPlan]] = {}
    _writers: ClassVar[dict[int, WritePlan]] = {}

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
        """Raise UnsupportedVersionError unless the message has this version."""
        if not cls.MIN_VERSION <= version <= cls.MAX_VERSION:
            raise UnsupportedVersionError(
                f"{cls.NAME} has the versions {cls.MIN_VERSION} to {cls.MAX_VERSION}, not {version}"
            )

    @classmethod
    def _form(cls, version: int) -> tuple[bool, str]:
        """Return whether a version is flexible, and its description for errors; raises UnsupportedVersionError."""
        cls.check_version(version)
        return version >= cls.FLEXIBLE_SINCE, f"{cls.NAME} v{version}"

    @classmethod
    def reader(cls, version: int) -> ReadPlan:
        """Return the plan for reading a version; it is created once."""
        found = cls._readers.get(version)
        if found is None:
            found = cls._readers[version] = read_plan(cls, version, *cls._form(version))
        return found

    @classmethod
    def writer(cls, version: int) -> WritePlan:
        """Return the plan for writing a version; it is created once."""
        found = cls._writers.get(version)
        if found is None:
            found = cls._writers[version] = write_plan(cls, version, *cls._form(version))
        return found

    @classmethod
    def decode(cls, data: Any, version: int) -> Self:
        """Read a message that fills the buffer. Record fields become views of it, without a copy.

        Raises:
            WireFormatError: the bytes are not a message of this class and version, or bytes remain.
            UnsupportedVersionError: there is no such version.
        """
        made: Self = decode(cls.reader(version), data, 0, True)[0]
        return made

    @classmethod
    def decode_prefix(cls, data: Any, version: int, start: int = 0) -> tuple[Self, int]:
        """Read a message from byte `start`, even if bytes follow the message; return it and the position after it.

        Raises:
            WireFormatError: the bytes are not a message of this class and version.
            UnsupportedVersionError: there is no such version.
        """
        made: tuple[Self, int] = decode(cls.reader(version), data, start, False)
        return made

    def encode(self, version: int) -> bytes:
        """Write the message.

        Raises:
            WireFormatError: a value does not fit its field.
            UnsupportedVersionError: there is no such version, or it lacks a field that is set and is not ignorable.
        """
        return b"".join(self.encode_parts(version))

    def encode_parts(self, version: int) -> list[Any]:
        """Write the message as consecutive buffers, without copying record bytes.

        Raises:
            The same errors as `encode`.
        """
        return encode([(self.writer(version), self)], False)

    @classmethod
    def from_dict(cls, json: dict[str, Any], version: int) -> Self:
        """Create a message from Kafka's JSON form; see `to_dict`.

        Raises:
            WireFormatError: a key is missing or unknown, or its value does not fit.
            UnsupportedVersionError: there is no such version.
        """
        from kafka.wire import jsonform

        return jsonform.from_dict(cls, json, version, cls._form(version)[1])

    def to_dict(self, version: int) -> dict[str, Any]:
        """Return Kafka's JSON form: names in camel case, bytes in base64, and UUIDs as 22 characters of base64url.

        Tagged fields with their default value are omitted, as on the wire.

        Raises:
            WireFormatError: a value is null, but its field is not nullable.
            UnsupportedVersionError: there is no such version, or it lacks a field that is set and is not ignorable.
        """
        from kafka.wire import jsonform

        return jsonform.to_dict(self, version, self._form(version)[1])


R = TypeVar("R", bound="Response")


class Request(Message, Generic[R]):
    """A client's request. The type parameter is the class of its response, for type checkers."""

    RESPONSE: ClassVar[type[Response]]


class Response(Message):
    """A broker's response. Subclasses name their request (`request=`), and share its API key and versions."""

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
