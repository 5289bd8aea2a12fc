"""Replaces the `cython` module in the plain variant if Cython is not installed.

Provides the names that the hot modules use, with their meaning in uncompiled Python: decorators return the decorated
object, types are Python's own, and `declare` returns the value. So does `cast`, except for integers and floats. Numbers
neither wrap around nor are truncated to a width, so hot modules mask explicitly where C would overflow.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any, Self, TypeVar, overload

T = TypeVar("T")
D = TypeVar("D", bound="Callable[..., Any] | staticmethod[..., Any] | classmethod[Any, ..., Any]")

compiled: bool = False


class _Nothing:
    """A decorator, a decorator factory and a context manager in one, all without effect."""

    @overload
    def __call__(self, decorated: D, /) -> D: ...
    @overload
    def __call__(self, *args: Any, **kwargs: Any) -> Self: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the decorated object; called with settings, return a decorator without effect."""
        if len(args) == 1 and not kwargs and (callable(args[0]) or isinstance(args[0], (staticmethod, classmethod))):
            return args[0]
        return self

    def __enter__(self) -> None:
        return None

    def __exit__(self, *error: object) -> None:
        return None


def _settings(*args: Any, **kwargs: Any) -> Callable[[T], T]:
    """Accept any settings (`returns(int)`, `exceptval(-1)`, `locals(i=int)`), and return a decorator without effect."""
    return _same


def _same(thing: T) -> T:
    """Return the argument."""
    return thing


nogil = gil = with_gil = _Nothing()
cfunc = ccall = cclass = inline = final = internal = no_gc = no_gc_clear = freelist = total_ordering = _Nothing()
locals = returns = exceptval = annotation_typing = _settings
boundscheck = wraparound = cdivision = initializedcheck = nonecheck = overflowcheck = infer_types = _Nothing()
embedsignature = binding = always_allow_keywords = profile = linetrace = auto_pickle = annotation_typing = _Nothing()


class _Type(type):
    """Metaclass of the C types' replacements; `p_uchar[4]` and `int[:]` are types too."""

    def __getitem__(cls, item: Any) -> Any:
        return cls


class _Pointer(metaclass=_Type):
    """A pointer. The plain variant never creates one."""


char = schar = uchar = short = ushort = uint = long = ulong = longlong = ulonglong = builtins.int
Py_ssize_t = size_t = ssize_t = Py_hash_t = Py_UCS4 = bint = builtins.int
int8_t = int16_t = int32_t = int64_t = uint8_t = uint16_t = uint32_t = uint64_t = builtins.int
int = builtins.int
float = double = longdouble = builtins.float
void = None
p_char = p_schar = p_uchar = p_short = p_ushort = p_int = p_uint = p_long = p_ulong = _Pointer
p_longlong = p_ulonglong = p_float = p_double = p_void = p_Py_ssize_t = p_size_t = p_bint = pp_char = _Pointer
NULL = None
_NUMBERS = (builtins.int, builtins.float)


def cast(kind: Any, value: Any, **options: Any) -> Any:
    """Convert a number if the type is an integer or a float, ignoring width and sign; return other values unchanged."""
    return kind(value) if kind in (builtins.int, builtins.float) and type(value) in _NUMBERS else value


def declare(kind: Any = None, value: Any = None, **names: Any) -> Any:
    """Return the first value of a declared variable, or None if there is none."""
    return value


def pointer(kind: Any) -> Any:
    """Return the replacement for a pointer type."""
    return _Pointer


def typeof(value: object) -> str:
    """Return the name of the value's class."""
    return type(value).__name__


def likely(condition: T) -> T:
    """Return the condition."""
    return condition


def unlikely(condition: T) -> T:
    """Return the condition."""
    return condition
