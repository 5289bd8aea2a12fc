"""The rows of the option table, and the checks that they share.

To add an option, add a field made by `option` to the dataclass of the related options (`kafka.config.connection`,
`security`, `sasl`, `tls`, `consumer`, `share` or `producer`). Then run ``python scripts/options.py``, which writes
`kafka.config.keywords`, docs/OPTIONS.md and the tables in docs/SPARK.md. Checks across options are in
`kafka.config.table`. Three kinds of options have one more place:

- A Java name that was ignored until now leaves `kafka.config.java_names` or `kafka.config.librdkafka_table`.
- A secret needs a name that `kafka.config.secrecy` recognizes; otherwise errors may show its value.
- A consumer option that share consumers do not have is listed in `NOT_FOR_SHARES` of `kafka.config.share`.
"""

import dataclasses
import math
import operator
from collections.abc import Callable, Iterable
from typing import Any

from kafka.config.secrecy import holds_text, kind_of, shown, shown_number
from kafka.errors import KafkaConfigurationError

Parse = Callable[[str, Any], Any]
"""Checks a value, given the option's name: returns the value to use, or raises `KafkaConfigurationError`."""

_IDENTITY = "'ssl_keystore_key' with 'ssl_keystore_certificate_chain'"
_AUTHORITIES = "'ssl_truststore_certificates'"
_AS_TEXT = {
    "ssl_cafile": _AUTHORITIES,
    "ssl_certfile": _IDENTITY,
    "ssl_keyfile": _IDENTITY,
    "ssl_truststore_location": _AUTHORITIES,
    "ssl_keystore_location": _IDENTITY,
}
"""Maps options for files to the options for their content as text."""


@dataclasses.dataclass(frozen=True, slots=True)
class Parser:
    """A check that also declares the accepted type, for type checkers and documentation.

    Arguments:
        parse: the check.
        accepts: the accepted type, as an annotation.
    """

    parse: Parse
    accepts: str

    def __call__(self, name: str, value: Any) -> Any:
        """Check a value; see `Parse`."""
        return self.parse(name, value)


def accepting(accepts: str) -> Callable[[Parse], Parser]:
    """Return a decorator that makes a function a `Parser`."""
    return lambda parse: Parser(parse, accepts)


@dataclasses.dataclass(frozen=True, slots=True)
class Option:
    """A row of the option table.

    Arguments:
        name: the keyword argument. Names that end in ``_ms`` are in milliseconds, those in ``_bytes`` in bytes.
        default: the default, as a caller would write it.
        parse: checks a value and converts it to its internal form.
        doc: description of the option in a sentence.
        java: the option's name in Kafka's Java clients; "" if they do not have it.
        clients: the clients that have the option: "consumer", "producer", "admin", "share consumer".
        inert: whether the option is accepted only for compatibility with older programs, and has no effect.
        accepts: the accepted type, as an annotation.
        optional: whether None selects the default, unless ``accepts`` includes None.
    """

    name: str
    default: Any
    parse: Parse
    doc: str
    java: str
    clients: frozenset[str]
    inert: bool = False
    accepts: str = "Any"
    optional: bool = True

    @property
    def takes_none_as_not_given(self) -> bool:
        """Whether None selects the default, because programs may pass on options that were not set."""
        return self.optional and self.default is not None and "None" not in self.accepts.split(" | ")

    @property
    def annotation(self) -> str:
        """The type of the keyword argument."""
        return f"{self.accepts} | None" if self.takes_none_as_not_given and self.accepts != "Any" else self.accepts

    @property
    def unit(self) -> str:
        """The unit of the value: "ms", "bytes" or ""."""
        if self.name.endswith("_ms"):
            return "ms"
        return "bytes" if self.name.endswith(("_bytes", "_size", "_memory")) else ""


def option(
    default: Any,
    parse: Parse,
    doc: str,
    java: str = "",
    inert: bool = False,
    accepts: str = "",
    optional: bool = True,
) -> Any:
    """Declare a field of an options dataclass, which determines its clients. For the arguments, see `Option`."""
    accepts = accepts or (parse.accepts if isinstance(parse, Parser) else "Any")
    return dataclasses.field(
        default_factory=lambda: default if parse is anything else parse("default", default),
        metadata={
            "default": default,
            "parse": parse,
            "doc": doc,
            "java": java,
            "inert": inert,
            "accepts": accepts,
            "optional": optional,
        },
    )


def invalid(name: str, expected: str, value: object, advice: str = "") -> KafkaConfigurationError:
    """Return the error for an invalid value, without showing secrets."""
    return KafkaConfigurationError(f"option {name!r} expects {expected}, not {shown(name, value)}{advice}")


def no_object(name: str, expected: str, value: object) -> KafkaConfigurationError:
    """Return the error for a value of the wrong type where an object is expected."""
    return KafkaConfigurationError(f"option {name!r} expects {expected}, not {kind_of(value)}")


def _no_number(name: str, expected: str, value: object) -> KafkaConfigurationError:
    return KafkaConfigurationError(f"option {name!r} expects {expected}, not {shown_number(name, value)}")


def nearest(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return a hint for a misspelt name, or "".

    Arguments:
        name: the name.
        known: the names that exist.
        cutoff: how similar a name must be to be suggested, from 0 to 1.
    """
    import difflib  # imported here because only errors need it

    by_letters = {each.lower(): each for each in known}
    found = difflib.get_close_matches(name.lower(), list(by_letters), n=1, cutoff=cutoff)
    return f"; did you mean {by_letters[found[0]]!r}?" if found else ""


def whole_number(value: Any) -> int | None:
    """Convert a whole number of any type, including numpy's, to an int; return None for bools and any other value."""
    if isinstance(value, bool) or not hasattr(type(value), "__index__"):
        return None
    return value if isinstance(value, int) else operator.index(value)


@accepting("Any")
def anything(name: str, value: Any) -> Any:
    """Accept any value."""
    return value


def integer(low: int, high: int = 2**31 - 1, none: bool = False) -> Parse:
    """Return a check for whole numbers from ``low`` to ``high``; it accepts None if ``none`` is true.

    Milliseconds may have a fraction, for example after a conversion from seconds; they are rounded up. Infinity becomes
    ``high``.
    """
    expected = f"a whole number from {low} to {high}" + (" or None" if none else "")

    def parse(name: str, value: Any) -> int | None:
        if value is None and none:
            return None
        if value == math.inf and name.endswith("_ms"):
            return high
        is_float = isinstance(value, float) and (value.is_integer() or (name.endswith("_ms") and math.isfinite(value)))
        whole = math.ceil(value) if is_float else whole_number(value)
        if whole is None or not low <= whole <= high:
            raise _no_number(name, expected, value)
        return whole

    return Parser(parse, "int" + " | None" * none)


def number(low: float, none: bool = False) -> Parse:
    """Return a check for numbers of at least ``low``, including infinity; it accepts None if ``none`` is true."""

    def parse(name: str, value: Any) -> float | None:
        if value is None and none:
            return None
        given = value if isinstance(value, float) else whole_number(value)
        if given is None or math.isnan(given) or given < low:
            raise _no_number(name, f"a number of at least {low}", value)
        return given

    return Parser(parse, "float" + " | None" * none)


@accepting("bool | None")
def boolean(name: str, value: Any) -> bool:
    """Check a bool, 1, 0 or None, which means false. kafka-python accepts any object, and treats "false" as true."""
    if value is not None and (not isinstance(value, int) or value not in (0, 1)):
        raise _no_number(name, "True or False", value)
    return bool(value)


def text(none: bool = False, empty: bool = True) -> Parse:
    """Return a check for strings that can be encoded, that is, without lone surrogates."""

    def parse(name: str, value: Any) -> str | None:
        if value is None and none:
            return None
        if not isinstance(value, str) or not (value or empty):
            raise invalid(name, "a string" + ("" if empty else " that is not empty") + (" or None" * none), value)
        try:
            value.encode()
        except UnicodeEncodeError:  # the error contains the text, which may be a secret
            raise invalid(name, "text that can be written as UTF-8", value) from None
        return value

    return Parser(parse, "str" + " | None" * none)


@accepting("str | os.PathLike[str] | None")
def path(name: str, value: Any) -> str | None:
    """Check a file path, or None."""
    import os

    if value is None:
        return None
    if isinstance(value, str | os.PathLike) and os.path.exists(value):
        return str(os.fspath(value))
    if not isinstance(value, str | os.PathLike) or holds_text(value):
        instead = f"; pass PEM text as {_AS_TEXT[name]}" if name in _AS_TEXT else ""
        raise invalid(name, "the path of a file or None", value, instead)
    raise KafkaConfigurationError(f"option {name!r} names a file that does not exist: {os.fspath(value)}")


def _as_documented(choice: tuple[Any, Any]) -> Any:
    """Return a choice as shown in documentation: its value, if the two differ only in case."""
    written, meaning = choice
    alike = isinstance(written, str) and isinstance(meaning, str) and written == meaning.lower()
    return meaning if alike else written


def choice(choices: dict[Any, Any]) -> Parse:
    """Return a check for one of a few values; the dictionary maps accepted values to their internal form."""

    def parse(name: str, value: Any) -> Any:
        whole = whole_number(value)
        key = value.lower() if isinstance(value, str) else value if whole is None else whole
        for written, meaning in choices.items():
            if type(key) is type(written) and key == written:
                return meaning
        raise invalid(
            name, "one of " + ", ".join(map(repr, dict.fromkeys(map(_as_documented, choices.items())))), value
        )

    kinds = {type(written).__name__.replace("NoneType", "None") for written in choices}
    return Parser(parse, " | ".join(sorted(kinds, reverse=True)))


@accepting("Callable[..., Any] | None")
def function(name: str, value: Any) -> Any:
    """Check that a value is callable, or None."""
    if value is not None and not callable(value):
        raise no_object(name, "a callable or None", value)
    return value
