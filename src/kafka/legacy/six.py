"""The names of `six` that programs imported from `kafka.vendor.six`, for Python 3."""

from __future__ import annotations

import builtins
import functools
import io
import operator
from collections import abc
from collections.abc import Callable, ItemsView, Iterable, KeysView, Mapping, ValuesView
from types import TracebackType
from typing import Any, NoReturn, TypeVar

_K = TypeVar("_K")
_V = TypeVar("_V")
_T = TypeVar("_T", bound=type)

PY2, PY3, PY34 = False, True, True
MAXSIZE = (1 << 63) - 1
string_types = (str,)
integer_types = (int,)
class_types = (type,)
text_type = str
binary_type = bytes
unichr = chr
int2byte = b"%c".__mod__
byte2int = operator.itemgetter(0)
indexbytes = operator.getitem
iterbytes = iter
StringIO = io.StringIO
BytesIO = io.BytesIO
wraps = functools.wraps
callable = builtins.callable
next = advance_iterator = builtins.next
exec_ = exec
print_ = print
Iterator = object


def b(s: str) -> bytes:
    """Encode text as Latin-1."""
    return s.encode("latin-1")


def u(s: str) -> str:
    """Return the text unchanged."""
    return s


def iterkeys(d: Mapping[_K, Any]) -> abc.Iterator[_K]:
    """Iterate over keys."""
    return iter(d.keys())


def itervalues(d: Mapping[Any, _V]) -> abc.Iterator[_V]:
    """Iterate over values."""
    return iter(d.values())


def iteritems(d: Mapping[_K, _V]) -> abc.Iterator[tuple[_K, _V]]:
    """Iterate over pairs of key and value."""
    return iter(d.items())


def viewkeys(d: Mapping[_K, Any]) -> KeysView[_K]:
    """View the keys."""
    return d.keys()


def viewvalues(d: Mapping[Any, _V]) -> ValuesView[_V]:
    """View the values."""
    return d.values()


def viewitems(d: Mapping[_K, _V]) -> ItemsView[_K, _V]:
    """View the pairs of key and value."""
    return d.items()


def ensure_binary(s: str | bytes, encoding: str = "utf-8", errors: str = "strict") -> bytes:
    """Return bytes unchanged, or text encoded."""
    return s.encode(encoding, errors) if isinstance(s, str) else s


def ensure_text(s: str | bytes, encoding: str = "utf-8", errors: str = "strict") -> str:
    """Return text unchanged, or bytes decoded."""
    return s if isinstance(s, str) else s.decode(encoding, errors)


ensure_str = ensure_text


def raise_from(value: BaseException, from_value: BaseException | None) -> NoReturn:
    """Raise an error with a cause."""
    raise value from from_value


def reraise(tp: type[BaseException], value: BaseException | None, tb: TracebackType | None = None) -> NoReturn:
    """Raise an error with a traceback."""
    raise (tp() if value is None else value).with_traceback(tb)


def add_metaclass(metaclass: type) -> Callable[[_T], _T]:
    """Return a decorator that recreates a class with a metaclass."""

    def make(cls: _T) -> _T:
        left_out: Iterable[str] = ("__dict__", "__weakref__", *_slots(cls))
        members = {name: value for name, value in vars(cls).items() if name not in left_out}
        made: _T = metaclass(cls.__name__, cls.__bases__, members)
        return made

    return make


def with_metaclass(meta: Any, *bases: type) -> type:
    """Return a base class that gives its subclass a metaclass."""
    made: type = meta("temporary_class", bases, {})
    return made


def python_2_unicode_compatible(cls: _T) -> _T:
    """Return the class unchanged."""
    return cls


def _slots(cls: type) -> tuple[str, ...]:
    slots = vars(cls).get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)
