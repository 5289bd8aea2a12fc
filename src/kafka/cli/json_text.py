"""JSON as text: indentation and colours for a terminal, and the JSON values that records contain.

Everything works on the text, without parsing numbers, so that each digit is preserved.
"""

import json
import re
from typing import Any

import click

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)
_DEEPEST = 200
"""Maximum depth of JSON values that are nested in a line, because readers of the line have limits."""
_COLORS = {
    "name": "blue",
    "text": "green",
    "number": "cyan",
    "true": "yellow",
    "false": "yellow",
    "null": "bright_black",
}


def pretty(text: str, color: bool) -> str:
    """Return JSON on several indented lines.

    Arguments:
        text: valid JSON.
        color: whether to add colours.
    """
    parts: list[str] = []
    depth = 0
    tokens = [found[0] for found in _TOKEN.finditer(text)]
    for at, token in enumerate(tokens):
        following = tokens[at + 1] if at + 1 < len(tokens) else ""
        if token in ("{", "["):
            parts.append(token)
            depth += 1
            if following not in ("}", "]"):
                parts.append(_line(depth))
        elif token in ("}", "]"):
            depth -= 1
            if at and tokens[at - 1] not in ("{", "["):
                parts.append(_line(depth))
            parts.append(token)
        elif token == ",":
            parts.append("," + _line(depth))
        elif token == ":":
            parts.append(": ")
        else:
            parts.append(_styled(token, following == ":") if color else token)
    return "".join(parts)


def colored(text: str) -> str:
    """Return JSON with colours, otherwise unchanged."""
    return _TOKEN.sub(lambda found: _styled(found[0], text[found.end() :].lstrip()[:1] == ":"), text)


def _line(depth: int) -> str:
    return "\n" + "  " * depth


def _styled(token: str, is_name: bool) -> str:
    if token[0] in "{}[],:":
        return token
    kind = "name" if is_name else "text" if token[0] == '"' else token if token in _COLORS else "number"
    return click.style(token, fg=_COLORS[kind])


def embeddable(data: bytes) -> str | None:
    """Return the text of a JSON object or array without surrounding whitespace; None for any other data."""
    if data[:1] not in (b"{", b"[") or data[-1:] not in (b"}", b"]"):
        return None
    if data.count(b"[") + data.count(b"{") > _DEEPEST and _depth(data) > _DEEPEST:
        return None
    try:
        text = data.decode()
        json.loads(text, parse_constant=_reject, parse_float=str)
    except (ValueError, RecursionError):
        return None
    return text


def _depth(data: bytes) -> int:
    """Return an upper bound of the depth of JSON; brackets in texts count, too."""
    depth = deepest = 0
    for each in data:
        if each in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        elif each in b"]}":
            depth -= 1
    return deepest


def _reject(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def members(line: str) -> dict[str, str]:
    """Return the members of a JSON object by name, each as its text in the line. Raises `ValueError`."""
    decoder = json.JSONDecoder()
    at = line.index("{") + 1
    found: dict[str, str] = {}
    while True:
        at = _after_space(line, at)
        if line[at] == "}":
            return found
        if line[at] == ",":
            at = _after_space(line, at + 1)
        name, at = decoder.raw_decode(line, at)
        at = _after_space(line, _after_space(line, at) + 1)
        _, end = decoder.raw_decode(line, at)
        found[name] = line[at:end]
        at = end


_SPACE = re.compile(r"[ \t\r\n]*")


def _after_space(line: str, at: int) -> int:
    found = _SPACE.match(line, at)
    return at if found is None else found.end()
