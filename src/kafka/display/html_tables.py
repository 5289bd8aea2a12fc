"""HTML tables for notebooks: small, escaped, and cheap even for large values.

`html` fills a template and escapes its values.
"""

import datetime
import html as _html
import reprlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

_UNSEEN: dict[int, int | str] = {
    **{code: 0x2400 + code for code in range(0x20) if code not in (0x09, 0x0A)},  # Unicode's control pictures
    0x7F: 0x2421,
    **{
        code: f"\\u{code:04x}"  # characters that change how the surrounding text is displayed
        for code in (
            *(0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), *range(0x200B, 0x2010)),
            *(*range(0x2028, 0x202F), *range(0x2060, 0x2070), 0x3164, *range(0xFE00, 0xFE10), 0xFEFF, 0xFFA0),
            *range(0xFFF0, 0xFFFC),
        )
    },
    **{code: f"\\U{code:08x}" for code in range(0xE0000, 0xE1000)},  # invisible tags and variation selectors
    **{code: f"\\x{code:02x}" for code in range(0x80, 0xA0)},
    **{code: f"\\u{code:04x}" for code in range(0xD800, 0xE000)},  # surrogates, which UTF-8 cannot encode
}


class Html(str):
    """A string that is already HTML and is not escaped again."""

    __slots__ = ()

    def __html__(self) -> str:
        """Return the text; template libraries call this instead of escaping it."""
        return self


def html(template: str, *values: Any) -> Html:
    """Fill a template like `str.format`; values are escaped unless they are `Html`."""
    return Html(template.format(*map(escaped, values)))


def escaped(value: Any) -> Html:
    """Escape a value for use as text or in a quoted attribute. None becomes an empty string."""
    if isinstance(value, Html):
        return value
    if value is None:
        return Html("")
    return Html(_html.escape(visible(str(value))))


def visible(text: str) -> str:
    """Replace control characters, and characters that change the text direction, with visible ones."""
    return text.translate(_UNSEEN)


def joined(parts: Iterable[Html], between: str = "") -> Html:
    """Join HTML parts; the separator ``between`` is also HTML."""
    return Html(between.join(parts))


MOST_ROWS = 10
"""Maximum number of rows shown; a line below the table states how many are left out."""
_MOST_TEXT = 200
_MOST_VALUE = 80
_LEFT = Html(' style="text-align: left"')
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_WITH_VALUES = ("key", "value", "headers")
_OF_A_RECORD = ("topic", "partition", "offset", "timestamp", *_WITH_VALUES, "delivery_count")
"""Names of the record fields to show, if the record has them."""


class _Values(reprlib.Repr):
    """Makes a `repr` from a limited part of a value."""

    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxother = self.maxlong = _MOST_VALUE
        self.maxlevel = 4

    def repr_bytes(self, value: bytes, level: int) -> str:
        """Shorten bytes the same way as text."""
        return repr(value) if len(value) <= _MOST_VALUE else f"{value[:_MOST_VALUE]!r}... ({len(value):,} bytes)"


_VALUES = _Values()


def titled(title: str, *parts: Html) -> Html:
    """Return HTML parts with a title above them."""
    return html("<div><p><b>{}</b></p>{}</div>", text(title), joined(parts))


def facts(pairs: Iterable[tuple[str, object]]) -> Html:
    """Return a table of names and values, omitting values that are None or empty."""
    rows = [
        html("<tr><th{}>{}</th><td{}>{}</td></tr>", _LEFT, text(name), _LEFT, text(value))
        for name, value in pairs
        if value is not None and value != ""
    ]
    return html("<table><tbody>{}</tbody></table>", joined(rows))


def table(titles: Sequence[str], rows: Iterable[Sequence[object]], total: int) -> Html:
    """Return a table; reads at most `MOST_ROWS` rows.

    Arguments:
        titles: the column titles.
        rows: the cells.
        total: the total number of rows.
    """
    head = joined(html("<th{}>{}</th>", _LEFT, text(each)) for each in titles)
    body = [
        html("<tr>{}</tr>", joined(html("<td{}>{}</td>", _LEFT, text(cell)) for cell in row))
        for row, _ in zip(rows, range(MOST_ROWS), strict=False)
    ]
    more = html("<p>and {} more</p>", f"{total - len(body):,}") if total > len(body) else Html("")
    return html("<table><thead><tr>{}</tr></thead><tbody>{}</tbody></table>{}", head, joined(body), more)


def text(shown: object) -> str:
    """Return the shortened text of a cell, not escaped."""
    if isinstance(shown, Html):
        return shown
    told = str(shown) if shown is not None else ""
    return told if len(told) <= _MOST_TEXT else f"{told[:_MOST_TEXT]}…"


def value(shown: object) -> str:
    """Return the shortened `repr` of a key, value or headers. Never raises, even if a user's class does."""
    try:
        return _VALUES.repr(shown)
    except Exception:  # raised by a user's class; the other records are still shown
        return f"<{type(shown).__name__}>"


def time(timestamp_ms: object) -> str:
    """Format a timestamp in milliseconds since 1970-01-01 UTC. Return "" for -1, and invalid timestamps unchanged."""
    if not isinstance(timestamp_ms, int):
        return text(timestamp_ms)
    if timestamp_ms < 0:
        return ""
    try:
        moment = _EPOCH + datetime.timedelta(milliseconds=timestamp_ms)
    except OverflowError:
        return str(timestamp_ms)
    return moment.isoformat(" ", "milliseconds")


def one_record(record: Any) -> Html:
    """Return a table of a record's fields. The record is a named tuple."""
    return titled(type(record).__name__, facts(zip(_shown(record), _cells(record), strict=True)))


def many_records(title: str, records: Iterable[Any], total: int) -> Html:
    """Return a table of records, one per row.

    Arguments:
        title: the title.
        records: named tuples of one class; at most `MOST_ROWS` are read.
        total: the total number of records.
    """
    first = [record for record, _ in zip(records, range(MOST_ROWS), strict=False)]
    if not first:
        return titled(title)
    return titled(title, table(_shown(first[0]), map(_cells, first), total))


def _shown(record: Any) -> list[str]:
    return [name for name in _OF_A_RECORD if name in record._fields]


def _cells(record: Any) -> list[str]:
    found = {name: getattr(record, name) for name in _shown(record)}
    return [
        value(each) if name in _WITH_VALUES else time(each) if name == "timestamp" else text(each)
        for name, each in found.items()
    ]


_TOPIC = ("topic", "partitions", "replicas", "without a leader", "out of sync", "internal", "error code")
_PARTITION = ("partition", "leader", "replicas", "in sync", "offline")
_GROUP = ("group", "state", "type", "assignor", "members", "error")
_MEMBER = ("member", "client", "host", "assigned")


def topics(described: Sequence[Mapping[str, Any]]) -> Html:
    """Return a table of topics; for a single topic, also a table of its partitions.

    Arguments:
        described: the result of `describe_topics`.
    """
    parts = [table(_TOPIC, map(_topic, described), len(described))]
    if len(described) == 1:
        of_one = described[0]["partitions"]
        parts.append(table(_PARTITION, map(_partition, of_one), len(of_one)))
    return titled(f"{len(described):,} topic(s)", *parts)


def groups(described: Collection[Any]) -> Html:
    """Return a table of groups; for a single group, also a table of its members.

    Arguments:
        described: dicts from `describe_groups` or `list_groups`, or named tuples.
    """
    parts = [table(_GROUP, map(_group, described), len(described))]
    if len(described) == 1:
        members = _named(next(iter(described))).get("members") or ()
        parts += [table(_MEMBER, map(_member, members), len(members))] if members else []
    return titled(f"{len(described):,} group(s)", *parts)


def _topic(topic: Mapping[str, Any]) -> list[object]:
    partitions = topic["partitions"]
    return [
        topic["name"] or topic["topic_id"],
        len(partitions),
        max((len(each["replicas"]) for each in partitions), default=0),
        sum(each["leader"] < 0 for each in partitions),
        sum(len(each["isr"]) < len(each["replicas"]) for each in partitions),
        "yes" if topic["is_internal"] else "",
        topic["error_code"] or "",
    ]


def _partition(partition: Mapping[str, Any]) -> list[object]:
    lists = (partition[name] for name in ("replicas", "isr", "offline_replicas"))
    return [partition["partition"], partition["leader"], *(", ".join(map(str, each or ())) for each in lists)]


def _group(given: Any) -> list[object]:
    group = _named(given)
    members = group.get("members")
    return [
        _first(group, "group_id", "group"),
        _first(group, "group_state", "state"),
        _first(group, "protocol_type", "group_type"),
        _first(group, "protocol_data", "protocol", "assignor_name"),
        None if members is None else len(members),
        _first(group, "error", "error_code"),
    ]


def _member(given: Any) -> list[object]:
    member = _named(given)
    return [member.get("member_id"), member.get("client_id"), member.get("client_host"), _assigned(member)]


def _assigned(member: Mapping[str, Any]) -> str:
    """Format a member's assignment, which may have any form, as topics with their partitions."""
    given = _first(member, "member_assignment", "assignment")
    if given is None:
        return ""
    try:
        form = _named(given)
        pairs = [_pair(each) for each in _first(form, "assigned_partitions", "topic_partitions", "assignment") or ()]
    except (AttributeError, KeyError, TypeError, ValueError):  # the group uses an application-specific protocol
        return value(given)
    return "; ".join(f"{topic}: {', '.join(map(str, partitions))}" for topic, partitions in pairs)


def _pair(given: Any) -> tuple[object, list[object]]:
    if isinstance(given, Mapping):
        return _first(given, "topic", "topic_name"), list(given["partitions"])
    topic, partitions = given
    return topic, list(partitions)


def _named(given: Any) -> Mapping[str, Any]:
    """Convert a named tuple to a dict; return a mapping unchanged."""
    if isinstance(given, Mapping):
        return given
    named: dict[str, Any] = given._asdict()
    return named


def _first(found: Mapping[str, Any], *names: str) -> Any:
    """Return the first of the named values that is present and not empty."""
    return next((found[name] for name in names if found.get(name)), None)
