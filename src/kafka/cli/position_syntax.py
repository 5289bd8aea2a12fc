"""The syntax of positions in a log on the command line."""

import contextlib
import datetime
import re
from typing import Any

import click

from kafka.cli.common_options import ParamType

Position = str | int | datetime.datetime | datetime.timedelta

_EDGES = {"earliest": "earliest", "beginning": "earliest", "start": "earliest", "latest": "latest", "end": "latest"}
_OTHER_WORDS = dict.fromkeys(("begin", "first", "oldest"), "earliest") | dict.fromkeys(
    ("now", "last", "newest"), "latest"
)
"""Words that are no positions, and what they probably stand for."""
_AGO = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d|w)( ago)?")
_UNITS = {"ms": "milliseconds", "s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_LAST_OFFSET = 2**63 - 1
FORMS = (
    "an offset, 'earliest', 'latest', a time (2026-01-31T12:00, @1767225600000) or a duration ago (90s, 15m, 2h, 3d)"
)


def parse_position(text: str) -> Position:
    """Parse an offset, an end of the log, a time (local unless it has a zone), or a duration before now.

    Raises `ValueError` with a message that lists the valid forms.
    """
    if text.lower() in _EDGES:
        return _EDGES[text.lower()]
    if text.isascii() and text.isdecimal():
        digits = text.lstrip("0") or "0"
        if len(digits) > len(str(_LAST_OFFSET)) or int(digits) > _LAST_OFFSET:
            raise ValueError(f"expected an offset up to {_LAST_OFFSET}, got {text!r:.60}")
        return int(digits)
    if text.startswith("@") and text[1:].isdecimal():
        try:
            return datetime.datetime.fromtimestamp(int(text[1:]) / 1000, datetime.UTC)
        except (ValueError, OverflowError, OSError):  # which one depends on how far the time is out of range
            raise ValueError(f"expected a time within the calendar, got {text!r:.60}") from None
    try:
        ago = parse_duration(text)
    except OverflowError:
        raise ValueError(f"expected a shorter duration, got {text!r:.60}") from None
    if ago is not None:
        return ago
    try:
        return datetime.datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"expected {FORMS}, got {text!r}{_suggestion(text.lower())}") from None


def _suggestion(word: str) -> str:
    from kafka.config.option import nearest  # only errors need it

    meant = _OTHER_WORDS.get(word)
    return f"; did you mean {meant!r}?" if meant else nearest(word, _EDGES, cutoff=0.7)


def parse_duration(text: str) -> datetime.timedelta | None:
    """Parse a duration such as 90s, 15m, 2h, 3d, or one in ISO 8601; None if the text is not a duration."""
    if match := _AGO.fullmatch(text):
        return datetime.timedelta(**{_UNITS[match[2]]: float(match[1])})
    if text[:1].upper() == "P" or text[:2].upper() == "-P":
        from kafka.config.consumer import milliseconds

        found = milliseconds(text)
        return None if found is None else datetime.timedelta(milliseconds=found)
    return None


class PositionType(ParamType):
    """A `click` type for `parse_position`."""

    name = "position"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Position:
        """See `parse_position`."""
        if not isinstance(value, str):
            return value  # type: ignore[no-any-return]
        try:
            return parse_position(value)
        except (ValueError, OverflowError, OSError) as error:
            self.fail(str(error), param, ctx)


class DurationType(ParamType):
    """A `click` type for `parse_duration`, and for plain seconds."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime.timedelta:
        """See `parse_duration`."""
        if isinstance(value, datetime.timedelta):
            return value
        found = None
        with contextlib.suppress(ValueError, OverflowError):
            return datetime.timedelta(seconds=float(value))
        with contextlib.suppress(OverflowError):
            found = parse_duration(value)
        if found is None:
            self.fail(f"expected a duration such as 90s, 15m, 2h or 3d, got {value!r}", param, ctx)
        return found


POSITION = PositionType()
DURATION = DurationType()


def instant(position: Position) -> datetime.datetime | None:
    """Return a position's time; None if it is not a time. Raises `click.UsageError` if the year is out of range."""
    try:
        if isinstance(position, datetime.timedelta):
            return datetime.datetime.now(datetime.UTC) - position
        if isinstance(position, datetime.datetime):
            return position.astimezone(datetime.UTC)
    except (ValueError, OverflowError, OSError):
        raise click.UsageError(f"expected a time within the calendar, got {position}") from None
    return None
