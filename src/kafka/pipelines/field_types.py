"""The types of the values in a declaration: names, SQL expressions, durations, times and paths.

Each type checks a value and reports what it expected. `declaration` uses them. To add a type: a function that raises
`ValueError`, and an `Annotated` type that calls it.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, StringConstraints, ValidationInfo

from kafka.config import secrecy

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9._-]{0,99}$")]
Identifier = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
ColumnPath = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$")]
"""A column, or a field within a struct column, such as ``kafka.timestamp``."""
Topic = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]{1,249}$")]
Text = Annotated[str, StringConstraints(min_length=1)]

PATTERNS = {
    r"^[A-Za-z][A-Za-z0-9._-]{0,99}$": "a name of at most 100 letters, digits, '.', '_' and '-' that begins with a "
    "letter",
    r"^[A-Za-z_][A-Za-z0-9_]*$": "a name of letters, digits and '_' that does not begin with a digit",
    r"^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$": "the name of a column, such as origin or kafka.timestamp",
    r"^[A-Za-z0-9._-]{1,249}$": "the name of a topic: at most 249 letters, digits, '.', '_' and '-'",
}
"""What the patterns of names above mean, for error messages."""

DIRECTORY = "directory"
"""Key of the validation context whose value is the directory that relative paths start from."""
RECORD_TIMESTAMP = "kafka.timestamp"
"""The column with the timestamp of the record."""

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_UNITS = "milliseconds?|seconds?|minutes?|hours?|days?|weeks?"
_DURATION = re.compile(rf"\d{{1,9}}\s+({_UNITS})(\s+\d{{1,9}}\s+({_UNITS}))*")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")


def is_identifier(text: str) -> bool:
    """Return whether text can be the name of a table in SQL and of a parameter in Python."""
    return _IDENTIFIER.fullmatch(text) is not None


def selects(pattern: str, topic: str) -> bool:
    """Return whether a pattern of a source selects a topic, as in the option ``subscribePattern``: it matches a part.

    A pattern that cannot be used selects nothing; the options of the source are checked elsewhere.
    """
    from kafka.spark.options.java_regex import translate

    try:
        return re.search(translate(pattern), topic, re.ASCII) is not None
    except ValueError:
        return False


def shown(value: Any) -> str:
    """Format a value for an error message as YAML writes it; show only its kind if it may be a secret or has parts."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return repr(value)
    return secrecy.shown("", value) if isinstance(value, str) else kind_text(value)


def kind_text(value: Any) -> str:
    """Describe the kind of a value in YAML's terms, without showing text, numbers and parts."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return "a number"
        case str():
            return "text"
        case Mapping():
            return "keys and values" if value else "{}"
        case list() | tuple():
            return "a list" if value else "an empty list"
        case datetime.datetime():
            return "a time"
        case datetime.date():
            return "a date"
        case _:
            return f"a {type(value).__name__}"


def _option_text(value: Any) -> Any:
    """Convert the value of an option to text, because YAML reads ``true`` as a Boolean and ``9092`` as a number."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


def _expression(value: Any) -> Any:
    """Accept SQL text or a PySpark `Column`. Reject Booleans, because YAML reads an unquoted ``yes`` as a Boolean."""
    if value is None or isinstance(value, bool | int | float | list | dict) or (isinstance(value, str) and not value):
        raise ValueError(f"expected an SQL expression as text, got {shown(value)}")
    return value


def _start(value: str) -> str:
    if value not in ("earliest", "latest") and not value.isdecimal():
        raise ValueError(f"expected earliest, latest or a time in ms since 1970, got {value!r}")
    return value


def _version(value: str) -> str:
    if value != "latest" and not value.isdecimal():
        raise ValueError(f"expected latest or a number, got {value!r}")
    return value


def _no_number(value: Any) -> Any:
    """Reject a duration without a unit."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        raise ValueError(
            f"expected a duration with its unit, such as {value if isinstance(value, int) else 10} seconds, got {value}"
        )
    return value


def _duration(value: str) -> str:
    text = " ".join(value.lower().split())
    if not _DURATION.fullmatch(text):
        raise ValueError(
            "expected a duration such as 10 minutes (in milliseconds, seconds, minutes, hours, days or weeks), got "
            f"{shown(value)}"
        )
    return text


def _time_text(value: Any) -> Any:
    """Convert a time to text, because YAML reads an unquoted ``2024-01-31`` as a date."""
    return value.isoformat() if isinstance(value, datetime.date) else _option_text(value)


def _since(value: str) -> str:
    if value != "earliest":
        milliseconds(value)
    return value


def milliseconds(text: str) -> int:
    """Convert a time to milliseconds since 1970.

    Arguments:
        text: a number of milliseconds since 1970, or a date or time in ISO 8601, in UTC if it contains no time zone.

    Raises `ValueError`.
    """
    if text.isdecimal() and len(text) <= 15:
        return int(text)
    try:
        moment = datetime.datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(
            f"expected earliest, a time in ISO 8601 such as 2024-01-31T12:00:00Z, or in ms since 1970, got {text!r}"
        ) from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=datetime.UTC)
    return int(moment.timestamp() * 1000)


def _resolved(value: str, info: ValidationInfo) -> str:
    """Make a relative path start from the directory in the validation context, if there is one."""
    directory = (info.context or {}).get(DIRECTORY)
    return value if directory is None else str(Path(directory) / value)


def _local(value: str) -> str:
    if _URL.match(value):
        raise ValueError(f"expected a directory of a local or mounted file system, got {shown(value)}")
    return value


Expression = Annotated[Any, BeforeValidator(_expression)]
Start = Annotated[str, BeforeValidator(_option_text), AfterValidator(_start)]
Version = Annotated[str, BeforeValidator(_option_text), AfterValidator(_version)]
Duration = Annotated[str, BeforeValidator(_no_number), AfterValidator(_duration)]
"""A duration in Spark's notation, such as ``1 hour 30 minutes``."""
Since = Annotated[str, BeforeValidator(_time_text), AfterValidator(_since)]
PathText = Annotated[Text, AfterValidator(_resolved)]
"""A path. In a YAML file, a relative path starts from the directory of the file."""
Directory = Annotated[Text, AfterValidator(_local), AfterValidator(_resolved)]
Options = dict[str, Annotated[str, BeforeValidator(_option_text)]]
"""Options by name."""
