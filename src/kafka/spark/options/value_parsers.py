"""Parsers of option values, from Spark's text to the planner's types. They do no I/O.

Each parser accepts the option's name and text, and raises a `KafkaConfigurationError` that contains both.
"""

import dataclasses
import datetime
import functools
import importlib
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from kafka.errors import KafkaConfigurationError
from kafka.spark.options.field_options import FORMATS
from kafka.spark.options.java_regex import translate
from kafka.structs import TopicPartition

LATEST = -1
"""Stands for the end of the log, instead of an offset."""
EARLIEST = -2
"""Stands for the beginning of the log, instead of an offset."""

OFFSETS_EXAMPLE = 'JSON such as {"topic":{"0":42,"1":-2}}'
_DELAY_UNITS_MS = {"": 1, "ms": 1, "s": 1_000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}
_MAX_LONG = 2**63 - 1
_WORDS = {"earliest": EARLIEST, "latest": LATEST}
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_LONGEST_SHOWN = 400


@dataclasses.dataclass(frozen=True, slots=True)
class Everywhere:
    """All partitions at `EARLIEST` or `LATEST`."""

    option: str
    where: int


@dataclasses.dataclass(frozen=True, slots=True)
class AtOffsets:
    """Each partition at its own offset, `EARLIEST` or `LATEST`.

    Arguments:
        offsets: offsets of single partitions.
        topics: `EARLIEST` or `LATEST` for all partitions of a topic.
    """

    option: str
    offsets: Mapping[TopicPartition, int]
    topics: Mapping[str, int] = dataclasses.field(default_factory=dict)

    def at(self, partition: TopicPartition) -> int | None:
        """Return the value for a partition, or None."""
        return self.offsets.get(partition, self.topics.get(partition.topic))


@dataclasses.dataclass(frozen=True, slots=True)
class AtTime:
    """All partitions at the first record with this timestamp (ms since 1970-01-01 UTC) or a later timestamp."""

    option: str
    timestamp_ms: int


@dataclasses.dataclass(frozen=True, slots=True)
class AtTimes:
    """Each partition at the first record at or after a time of its own (ms since 1970-01-01 UTC).

    Arguments:
        timestamps_ms: timestamps of single partitions, or `EARLIEST` or `LATEST`.
        topics: `EARLIEST` or `LATEST` for all partitions of a topic.
    """

    option: str
    timestamps_ms: Mapping[TopicPartition, int]
    topics: Mapping[str, int] = dataclasses.field(default_factory=dict)

    def at(self, partition: TopicPartition) -> int | None:
        """Return the value for a partition, or None."""
        return self.timestamps_ms.get(partition, self.topics.get(partition.topic))


Boundary = Everywhere | AtOffsets | AtTime | AtTimes
"""The start or the end of a read."""


@dataclasses.dataclass(frozen=True, slots=True)
class Topics:
    """`subscribe`: all partitions of these topics."""

    names: tuple[str, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Matching:
    """`subscribePattern`: all partitions of topics whose name contains a match, except internal topics.

    Arguments:
        pattern: the pattern, in Java's syntax.
        expression: the pattern in Python's syntax.
    """

    pattern: str
    expression: str


@dataclasses.dataclass(frozen=True, slots=True)
class Partitions:
    """`assign`: only these partitions."""

    partitions: tuple[TopicPartition, ...]


Selection = Topics | Matching | Partitions
"""The partitions to read."""


def invalid(name: str, expected: str, value: str) -> KafkaConfigurationError:
    """Return the error for an invalid value, which must not be a secret. Long JSON is shortened."""
    given = value if len(value) <= _LONGEST_SHOWN else f"{value[:_LONGEST_SHOWN]}..."
    return KafkaConfigurationError(f"option {name!r} expects {expected}, not {given!r}")


def format_of_field(name: str, value: str) -> str:
    """Parse the format of keys or values."""
    if value.strip().lower() not in FORMATS:
        raise invalid(name, f"one of {', '.join(FORMATS)}", value)
    return value.strip().lower()


def version(name: str, value: str) -> int | None:
    """Parse a version number; return None for the latest version."""
    return None if value.strip().lower() == "latest" else positive(name, value)


def errors_of_field(name: str, value: str) -> str:
    """Parse the option for handling keys or values that cannot be decoded."""
    if value.strip().lower() not in ("fail", "null", "column"):
        raise invalid(name, "fail, null or column", value)
    return value.strip().lower()


def text(name: str, value: str) -> str:
    """Parse non-empty text."""
    if not value.strip():
        raise invalid(name, "a value", value)
    return value.strip()


def boolean(name: str, value: str) -> bool:
    """Parse ``true`` or ``false``, ignoring case."""
    lowered = value.strip().lower()
    if lowered not in ("true", "false"):
        raise invalid(name, "true or false", value)
    return lowered == "true"


def whole(name: str, value: str, low: int = 0) -> int:
    """Parse a whole number of at least ``low``."""
    try:
        number = int(value)
    except ValueError:
        number = low - 1
    if not low <= number <= _MAX_LONG:
        raise invalid(name, f"a whole number of at least {low}", value)
    return number


def positive(name: str, value: str) -> int:
    """Parse a whole number of at least 1."""
    return whole(name, value, 1)


def delay_ms(name: str, value: str) -> int:
    """Parse a time span such as ``15m``, ``90s`` or ``500`` (ms); return milliseconds."""
    found = re.fullmatch(r"\s*(\d+)\s*([a-z]*)\s*", value.lower())
    if found is None or found[2] not in _DELAY_UNITS_MS:
        raise invalid(name, "a duration such as 500ms, 30s, 15m or 1h", value)
    return int(found[1]) * _DELAY_UNITS_MS[found[2]]


def topics(name: str, value: str) -> Topics:
    """Parse topic names separated by commas."""
    names = tuple(dict.fromkeys(each.strip() for each in value.split(",") if each.strip()))
    if not names:
        raise invalid(name, "the names of one or more topics, separated by commas", value)
    return Topics(names)


def matching(name: str, value: str) -> Matching:
    """Parse a regular expression in Java's syntax, to search for in topic names."""
    pattern = text(name, value)
    try:
        return Matching(pattern, translate(pattern))
    except ValueError as error:
        raise invalid(name, f"a Java regular expression ({error})", value) from None


def _parse_json(name: str, expected: str, value: str) -> dict[str, Any]:
    try:
        parsed = json.loads(value)
    except ValueError:
        parsed = None
    if not isinstance(parsed, dict) or not parsed:
        raise invalid(name, expected, value)
    return parsed


def _is_whole(value: object, low: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= _MAX_LONG


def assigned(name: str, value: str) -> Partitions:
    """Parse partitions as JSON: a list of numbers for each topic."""
    expected = 'JSON such as {"topic":[0,1]}'
    found: set[TopicPartition] = set()
    for topic, numbers in _parse_json(name, expected, value).items():
        if not topic or not isinstance(numbers, list) or not numbers or not all(_is_whole(n, 0) for n in numbers):
            raise invalid(name, expected, value)
        found.update(TopicPartition(topic, number) for number in numbers)
    return Partitions(tuple(sorted(found)))


def _by_partition(
    name: str, expected: str, value: str, number_of: Callable[[object], int | None]
) -> tuple[dict[TopicPartition, int], dict[str, int]]:
    """Parse numbers for partitions, and for whole topics, from JSON.

    Arguments:
        number_of: converts the entry of a partition; returns None if it is invalid.
    """
    found, topics = {}, {}
    for topic, entries in _parse_json(name, expected, value).items():
        if topic and isinstance(entries, str) and entries.lower() in _WORDS:
            topics[topic] = _WORDS[entries.lower()]
            continue
        if not topic or not isinstance(entries, dict):
            raise invalid(name, expected, value)
        for partition, entry in entries.items():
            number = number_of(entry)
            if not partition.isdecimal() or number is None:
                raise invalid(name, expected, value)
            found[TopicPartition(topic, int(partition))] = number
    return dict(sorted(found.items())), topics


def _offset(entry: object) -> int | None:
    return int(entry) if _is_whole(entry, EARLIEST) else None  # type: ignore[call-overload]


def _entry_ms(entry: object) -> int | None:
    """Parse the time of a partition: a number, ISO text, `EARLIEST` or `LATEST`."""
    return _offset(entry) if not isinstance(entry, str) else date_ms(entry)


def offsets(name: str, value: str) -> Boundary:
    """Parse ``earliest``, ``latest`` or offsets as JSON, with -2 for earliest and -1 for latest."""
    if value.strip().lower() in _WORDS:
        return Everywhere(name, _WORDS[value.strip().lower()])
    expected = f"'earliest', 'latest' or {OFFSETS_EXAMPLE} (-2: earliest, -1: latest)"
    return AtOffsets(name, *_by_partition(name, expected, value, _offset))


def date_ms(value: str) -> int | None:
    """Parse an ISO date or time; return ms since 1970, or None if it is invalid or before 1970.

    The time is in UTC unless it contains a UTC offset.
    """
    try:
        parsed = datetime.datetime.fromisoformat(value.strip())
    except ValueError:
        return None
    aware = parsed if parsed.tzinfo is not None else parsed.replace(tzinfo=datetime.UTC)
    milliseconds = (aware - _EPOCH) // datetime.timedelta(milliseconds=1)
    return milliseconds if milliseconds >= 0 else None


def time_ms(name: str, value: str) -> AtTime:
    """Parse a time for all partitions: milliseconds since 1970-01-01 UTC, or an ISO date."""
    if value.strip().isdecimal():
        return AtTime(name, whole(name, value))
    milliseconds = date_ms(value)
    if milliseconds is None:
        raise invalid(
            name,
            "milliseconds since 1970-01-01 UTC, or an ISO time such as 2026-11-01T00:00:00Z (UTC by default)",
            value,
        )
    return AtTime(name, milliseconds)


def times_ms(name: str, value: str) -> AtTimes:
    """Parse a time for each partition as JSON: milliseconds since 1970-01-01 UTC, or an ISO date."""
    expected = (
        'JSON such as {"topic":{"0":1735689600000,"1":-2}} (milliseconds since 1970-01-01 UTC, or ISO times in '
        "quotes; -2: earliest, -1: latest)"
    )
    return AtTimes(name, *_by_partition(name, expected, value, _entry_ms))


def null_on_request(name: str, value: str) -> bool:
    """Parse ``fail`` or ``null``; return whether it is ``null``."""
    if value.strip().lower() not in ("fail", "null"):
        raise invalid(name, "'fail' or 'null'", value)
    return value.strip().lower() == "null"


def latest_on_request(name: str, value: str) -> bool:
    """Parse ``error`` or ``latest``; return whether it is ``latest``.

    With ``latest``, a read starts at the end of a partition without a record at or after the starting time.
    """
    if value.strip().lower() not in ("error", "latest"):
        raise invalid(name, "'error' or 'latest'", value)
    return value.strip().lower() == "latest"


def names(name: str, value: str) -> tuple[str, ...]:
    """Parse names separated by commas. Duplicates are invalid."""
    found = tuple(each.strip() for each in value.split(","))
    if not all(found) or len(set(found)) != len(found):
        raise invalid(name, "column names separated by commas, without duplicates", value)
    return found


_REFERENCE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


@dataclasses.dataclass(frozen=True)
class NamedTokenProvider:
    """A token provider, named by ``module:attribute``.

    The attribute must be an object with ``token()``, or a callable without arguments that returns such an object. It is
    imported at the first login of each process that connects, and cached.

    Arguments:
        reference: ``module:attribute``.
    """

    reference: str

    def token(self) -> str:
        """Return a bearer token that has not expired."""
        token: str = _load(self.reference).token()
        return token

    def extensions(self) -> dict[str, str]:
        """Return the SASL extensions to send with the token."""
        extensions = getattr(_load(self.reference), "extensions", None)
        found: dict[str, str] = extensions() if callable(extensions) else {}
        return found


@functools.cache
def _load(reference: str) -> Any:
    module, _, path = reference.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for name in path.split("."):
            found = getattr(found, name)
    except (ImportError, AttributeError) as error:
        raise KafkaConfigurationError(
            f"option 'kafka.sasl.oauth.token.provider' names {reference!r}, which cannot be imported in Spark's "
            f"processes: {error}"
        ) from error
    if isinstance(found, type) or (callable(found) and not callable(getattr(found, "token", None))):
        found = found()
    if not callable(getattr(found, "token", None)):
        raise KafkaConfigurationError(
            f"option 'kafka.sasl.oauth.token.provider' names {reference!r}, which has no method token()"
        )
    return found


def named_token_provider(name: str, value: str) -> NamedTokenProvider:
    """Parse ``module:attribute`` without importing anything. Raises `KafkaConfigurationError` for other text."""
    if not _REFERENCE.fullmatch(value.strip()):
        raise invalid(name, "a name such as 'my_package.tokens:Provider'", "text of another form")
    return NamedTokenProvider(value.strip())
