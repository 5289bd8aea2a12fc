"""Hides secrets in error messages and in the text form of a client's ``config``."""

import os
import re
from typing import Any

_SECRETS = ("password", "passphrase", "token", "secret", "jaas", "proxy", "keystore_key", "keystore.key", "key.pem")
"""Parts of option names. The value of an option with such a name is never shown."""
_LONGEST = 100
_LONGEST_PATH = 4_096
_NEVER = re.compile(r"[\r\n]|-----|://[^/]*@")
"""Matches several lines, PEM, or a URL with a user. Such text is always hidden: it may be a misplaced secret."""
_NAME = re.compile(r"[a-z]+([._-][a-z]+)+(?![\w.-])")
_ANY_NAME = re.compile(r"[A-Za-z]+\d*([._ -]+[A-Za-z0-9]+)*[._ -]*")
_NUMBER = re.compile(r"\s*[+-]?[\d.,_]*\d[\d.,_]*(e[+-]?\d+)?\s*[A-Za-z%]{0,3}\s*", re.ASCII)
_WORDS = ("", "true", "false", "yes", "no", "on", "off", "none", "null", "auto", "default", "inf", "infinity", "nan")


def is_secret(name: str) -> bool:
    """Return whether the value of an option must never be shown."""
    return any(part in name.lower() for part in _SECRETS)


def shown(name: str, value: object) -> str:
    """Format a value for an error message; show only its type if the value is or may contain a secret."""
    return kind_of(value) if is_secret(name) or not _is_harmless(value) else repr(value)


def shown_number(name: str, value: object) -> str:
    """Like `shown`, for an option that expects a number or a bool: hide other text, which may be a misplaced secret."""
    if isinstance(value, str) and not _is_number_or_word(value):
        return "other text (which is not shown, as it may be a secret)"
    return shown(name, value)


def _is_number_or_word(text: str) -> bool:
    return len(text) <= _LONGEST and (_NUMBER.fullmatch(text) is not None or text.strip().lower() in _WORDS)


def holds_text(path: "str | os.PathLike[str]") -> bool:
    """Return whether a value passed as a path is a file's content: PEM, or more than one line."""
    return _NEVER.search(os.fsdecode(path)) is not None or len(os.fsdecode(path)) > _LONGEST_PATH


def shown_name(name: object) -> str:
    """Format the name of an unknown option for an error message; hide the name if it could be part of a key."""
    if isinstance(name, str) and len(name) <= _LONGEST and _ANY_NAME.fullmatch(name):
        return repr(name)
    return (
        "(text that is not a name and is not shown; each line of a multi-line value except the last must end with \\)"
    )


def shown_setting(text: str) -> str:
    """Describe text that does not have the form NAME=VALUE: show a name at its beginning, but never the value."""
    found = _NAME.match(text)
    if found is None:
        return "text without '=' (which is not shown)"
    sign = text[found.end() : found.end() + 1]
    return f"{found[0]!r} " + (f"with {sign!r} instead of '='" if sign in (":", " ") and sign else "without '='")


def kind_of(value: object) -> str:
    """Describe a value by its type, without showing it."""
    return f"a value of type {type(value).__name__} (which is not shown)"


def _is_harmless(value: object) -> bool:
    """Return whether a value cannot contain a secret, unlike a dictionary of settings, or a partial that has one."""
    if isinstance(value, bytes | bytearray):
        value = bytes(value).decode("latin-1")
    if isinstance(value, str):
        return len(value) <= _LONGEST and _NEVER.search(value) is None
    if isinstance(value, list | tuple | set | frozenset):
        return all(map(_is_harmless, value))
    return value is None or isinstance(value, bool | int | float | type)


class GivenConfigs(dict[str, Any]):
    """A client's ``config``: a dictionary of all values. Its text form shows only the types of secrets."""

    def __repr__(self) -> str:
        pairs = (
            f"{name!r}: {f'<{shown(name, value)}>' if is_secret(name) and value is not None else repr(value)}"
            for name, value in self.items()
        )
        return f"{{{', '.join(pairs)}}}"
