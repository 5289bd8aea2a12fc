"""What `kafka.util` of 2.3 and 3.0 had for declaring classes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar

from kafka.admin.enum_names import EnumHelper

__all__ = ["EnumHelper", "classproperty", "synchronized"]

_P = ParamSpec("_P")
_R = TypeVar("_R")


class _HasLock(Protocol):
    _lock: Any


_Locked = TypeVar("_Locked", bound=_HasLock)


def synchronized(func: Callable[Concatenate[_Locked, _P], _R]) -> Callable[Concatenate[_Locked, _P], _R]:
    """Have a method run under the lock ``self._lock``."""

    @functools.wraps(func)
    def locked(self: _Locked, /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        with self._lock:
            return func(self, *args, **kwargs)

    return locked


class classproperty(Generic[_R]):  # noqa: N801  # kafka-python's name
    """A property of a class."""

    def __init__(self, f: Callable[[Any], _R]) -> None:
        self.f = f

    def __get__(self, obj: object, owner: type) -> _R:
        return self.f(owner)
