"""Dead letters as people read them: why, where and when, key and value as text, and the command that replays them."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from kafka.display.page_elements import Html, count, escaped, facts, html, joined, size, time
from kafka.display.payload_text import shown
from kafka.pipelines.record_headers import CONNECT_PREFIX, OWN, Position

SHOWN = 10
"""Number of dead letters in a report."""
_MOST_BYTES = 2048
"""Maximum number of bytes shown of a key or value."""
_MOST_TEXT = 2000
_MOST_HEADERS = 10
_MOST_READ = 100_000
"""Maximum number of dead letters from which those shown are chosen."""


More = Callable[[str, int, int], Html]


class DeadLetterLike(Protocol):
    """The attributes of a dead letter that are shown; see `kafka.pipelines.dead_letters.DeadLetter`."""

    @property
    def position(self) -> Position: ...
    @property
    def source(self) -> Position | None: ...
    @property
    def rules(self) -> tuple[str, ...]: ...
    @property
    def cause(self) -> str | None: ...
    @property
    def attempt(self) -> int: ...
    @property
    def timestamp_ms(self) -> int: ...
    @property
    def key(self) -> bytes | None: ...
    @property
    def value(self) -> bytes | None: ...
    @property
    def headers(self) -> Sequence[tuple[str, bytes | None]]: ...


def chosen(dead_letters: Iterable[DeadLetterLike], most: int = SHOWN) -> list[DeadLetterLike]:
    """Select dead letters so that each combination of rules is shown, if possible.

    Arguments:
        dead_letters: the dead letters in the order of preference.
        most: maximum number to select.
    """
    found: dict[tuple[str, ...], list[DeadLetterLike]] = {}
    for each, _ in zip(dead_letters, range(_MOST_READ), strict=False):
        kept = found.setdefault(tuple(each.rules), [])
        if len(kept) < most:
            kept.append(each)
    rounds = (kept[at] for at in range(most) for kept in found.values() if at < len(kept))
    return [each for each, _ in zip(rounds, range(most), strict=False)]


def replay_command(file: str, rule: str | None = None) -> str:
    """Return the command that replays the dead letters of a rule, or all of them."""
    return f"kafka pipeline replay {shlex.quote(file)}" + (f" --rule {shlex.quote(rule)}" if rule else "")


def dead_letter_list(dead_letters: Iterable[DeadLetterLike], file: str, more: More | None = None) -> Html:
    """Return the dead letters as HTML.

    Arguments:
        dead_letters: the dead letters to show.
        file: the declaration's file, for the commands.
        more: returns a link to the record with a topic, partition and offset; None for no links.
    """
    return html('<div class="deads">{}</div>', joined(_dead_letter(each, file, more) for each in dead_letters))


def _dead_letter(each: DeadLetterLike, file: str, more: More | None) -> Html:
    pairs = [
        ("cause", _limited(each.cause or "")),
        ("record", _place(each.source) if each.source is not None else "unknown"),
        ("dead letter", joined([escaped(_place(each.position)), _more(each.position, more)])),
        ("attempt", count(each.attempt) if each.attempt else "unknown"),
        ("time", time(each.timestamp_ms)),
    ]
    own = [(name, value) for name, value in each.headers if name not in OWN and not name.startswith(CONNECT_PREFIX)]
    headers = joined(
        html("<li><code>{}</code>: <code>{}</code></li>", _limited(name), shown(value, "auto", 200).text)
        for name, value in own[:_MOST_HEADERS]
    )
    if len(own) > _MOST_HEADERS:
        headers = joined([headers, html("<li>and {} more</li>", count(len(own) - _MOST_HEADERS))])
    return html(
        '<article class="dead"><h3>{}</h3>{}{}{}{}<p class="note">Replay the dead letters of this rule:</p>'
        '<pre class="command" tabindex="0">{}</pre></article>',
        _limited(", ".join(each.rules)) or "no rule",
        facts(pairs),
        _payload("Key", each.key),
        _payload("Value", each.value),
        html('<h4>Headers</h4><ul class="headers">{}</ul>', headers) if headers else "",
        replay_command(file, each.rules[0] if each.rules else None),
    )


def _payload(title: str, data: bytes | None) -> Html:
    if data is None:
        return html("<h4>{} null</h4>", title)
    if not data:
        return html("<h4>{} empty</h4>", title)
    found = shown(data, "auto", _MOST_BYTES, whole=True)
    note = "; ".join(filter(None, [found.way, size(len(data)), found.note]))
    return html('<h4>{} <span class="note">{}</span></h4><pre tabindex="0">\n{}</pre>', title, note, found.text)


def _more(position: Position, more: More | None) -> Html:
    return html(" · {}", more(position.topic, position.partition, position.offset)) if more is not None else Html("")


def _place(position: Position) -> str:
    return f"{position.topic}, partition {position.partition}, offset {count(position.offset)}"


def _limited(text: str) -> str:
    return text if len(text) <= _MOST_TEXT else f"{text[:_MOST_TEXT]}…"
