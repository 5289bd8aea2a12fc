"""Translates Java's regular expressions, for `subscribePattern`, to Python's. Pure.

Only matches with topic names matter. These consist of ASCII letters, digits, dots, underscores and hyphens. Syntax that
differs in Python is translated. Syntax that Python does not support is rejected with an error that names it, so that no
pattern changes its meaning.
"""

import re
import string

_ASCII = frozenset(map(chr, range(128)))
_LETTERS, _DIGITS = frozenset(string.ascii_letters), frozenset(string.digits)
_SPACE, _PUNCTUATION = frozenset(" \t\n\x0b\f\r"), frozenset(string.punctuation)
_LOWER, _UPPER = frozenset(string.ascii_lowercase), frozenset(string.ascii_uppercase)
_VISIBLE = _LETTERS | _DIGITS | _PUNCTUATION

_CLASSES: dict[str, frozenset[str]] = {
    "ASCII": _ASCII,
    "Alnum": _LETTERS | _DIGITS,
    "Blank": frozenset(" \t"),
    "Cntrl": frozenset(map(chr, [*range(32), 127])),
    "Graph": _VISIBLE,
    "Print": _VISIBLE | {" "},
    "Punct": _PUNCTUATION,
    "Space": _SPACE,
    "XDigit": frozenset(string.hexdigits),
    **dict.fromkeys(("Alpha", "L", "IsL", "IsAlphabetic", "IsLetter", "javaLetter", "javaAlphabetic"), _LETTERS),
    **dict.fromkeys(("Digit", "N", "IsN", "Nd", "IsNd", "IsDigit", "javaDigit"), _DIGITS),
    **dict.fromkeys(("Lower", "Ll", "IsLl", "IsLowercase", "javaLowerCase"), _LOWER),
    **dict.fromkeys(("Upper", "Lu", "IsLu", "IsUppercase", "javaUpperCase"), _UPPER),
}
"""The ASCII characters of the classes ``\\p{...}``."""

_ESCAPES = {"z": r"\Z", "Z": r"(?=\n?\Z)", "e": r"\x1b"}
_REFUSED_ESCAPES = "ckGHhNRVvX"
_FLAGS = re.compile(r"\(\?([a-zA-Z]*)(-[a-zA-Z]+)?([:)])")


def translate(pattern: str) -> str:
    """Translate a pattern to Python's syntax, for `re.ASCII`. Raises a `ValueError` that names unsupported syntax."""
    translated = _Translation(pattern).run()
    try:
        re.compile(translated, re.ASCII)
    except (re.error, OverflowError) as error:
        raise ValueError(str(error)) from None
    return translated


def _ranges(characters: frozenset[str]) -> str:
    """Format characters for a character class."""
    return "".join(f"\\x{ord(each):02x}" for each in sorted(characters))


class _Translation:
    """One pass over a pattern."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0

    def run(self) -> str:
        out: list[str] = []
        while self._at < len(self._pattern):
            each = self._pattern[self._at]
            if each == "\\":
                out.append(self._escape(inside=False))
            elif each == "[":
                out.append(self._character_class())
            elif self._pattern.startswith("(?", self._at):
                out.append(self._group())
            else:
                out.append(each)
                self._at += 1
        return "".join(out)

    def _escape(self, inside: bool) -> str:
        """Translate an escape sequence. Different characters are special ``inside`` a character class."""
        letter = self._pattern[self._at + 1 : self._at + 2]
        if not letter:
            raise ValueError("it ends in a backslash")
        if letter in "pP":
            return self._property(letter == "P", inside)
        if letter == "Q":
            return self._quoted()
        if letter == "x" and self._pattern.startswith("{", self._at + 2):
            return self._code_point()
        if letter == "k" and not inside and (name := re.compile(r"\\k<(\w+)>").match(self._pattern, self._at)):
            self._at = name.end()
            return f"(?P={name[1]})"
        if letter in _REFUSED_ESCAPES or (letter == "b" and self._pattern.startswith("{", self._at + 2)):
            raise ValueError(f"\\{letter} is not supported")
        self._at += 2
        return "\\" + letter if inside else _ESCAPES.get(letter, "\\" + letter)

    def _property(self, negated: bool, inside: bool) -> str:
        found = re.compile(r"\\[pP](?:\{([^}]*)\}|(\w))").match(self._pattern, self._at)
        if found is None:
            raise ValueError("\\p lacks the name of its class")
        characters = _CLASSES.get(found[1] or found[2])
        if characters is None:
            raise ValueError(f"{found[0]} is not supported")
        self._at = found.end()
        body = _ranges(_ASCII - characters if negated else characters)
        return body if inside else f"[{body}]"

    def _quoted(self) -> str:
        start = self._at + 2
        end = self._pattern.find("\\E", start)
        self._at = len(self._pattern) if end < 0 else end + 2
        return re.escape(self._pattern[start : len(self._pattern) if end < 0 else end])

    def _code_point(self) -> str:
        found = re.compile(r"\\x\{([0-9a-fA-F]{1,6})\}").match(self._pattern, self._at)
        if found is None or int(found[1], 16) > 0x10FFFF:
            raise ValueError("\\x{...} expects a code point in hexadecimal")
        self._at = found.end()
        return re.escape(chr(int(found[1], 16)))

    def _character_class(self) -> str:
        """Translate a character class up to its closing bracket. Nested classes are rejected."""
        self._at += 1
        out = ["["]
        if self._pattern.startswith("^", self._at):
            out.append("^")
            self._at += 1
        first = True
        while self._at < len(self._pattern):
            each = self._pattern[self._at]
            if each == "]" and not first:
                self._at += 1
                return "".join([*out, "]"])
            first = False
            if each == "[":
                raise ValueError("a class inside a class, [a[b]], is not supported")
            if self._pattern.startswith("&&", self._at):
                raise ValueError("an intersection of classes, [a&&b], is not supported")
            if each == "\\":
                out.append(self._escape(inside=True))
            else:
                out.append("\\" + each if each in "]&~|" else each)
                self._at += 1
        raise ValueError("a class, [, is not closed")

    def _group(self) -> str:
        name = re.compile(r"\(\?<([a-zA-Z]\w*)>").match(self._pattern, self._at)
        if name is not None:
            self._at = name.end()
            return f"(?P<{name[1]}>"
        flags = _FLAGS.match(self._pattern, self._at)
        if flags is not None:
            wrong = set((flags[1] + (flags[2] or "")).strip()) - set("imsx-")
            if wrong:
                raise ValueError(f"the flag {sorted(wrong)[0]!r} in {flags[0]} is not supported")
        self._at += 2
        return "(?"
