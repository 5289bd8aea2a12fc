"""What `kafka.util` had about objects that may be gone when they are wanted."""

from __future__ import annotations

import atexit
import contextlib
import weakref
from types import MethodType
from typing import Any


class WeakMethod:
    """A method of an object, to be called as long as the object lives; holds neither.

    Arguments:
        object_dot_method: a bound method.
    """

    def __init__(self, object_dot_method: MethodType) -> None:
        self.target = weakref.ref(object_dot_method.__self__)
        self.method = weakref.ref(object_dot_method.__func__)
        self._target_id = id(self.target())
        self._method_id = id(self.method())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the method; raises `ReferenceError` where its object is gone."""
        method, target = self.method(), self.target()
        if method is None or target is None:
            raise ReferenceError("the object of this method is gone")
        return method(target, *args, **kwargs)

    def __hash__(self) -> int:
        return hash(self.target) ^ hash(self.method)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, WeakMethod):
            return False
        return (self._target_id, self._method_id) == (other._target_id, other._method_id)


class Dict(dict[Any, Any]):
    """A dict that can be referred to weakly."""


def try_method_on_system_exit(obj: object, method: str, *args: Any, **kwargs: Any) -> None:
    """Call a method of an object when the interpreter ends, if the object still lives and has it."""

    def call(proxy: Any) -> None:
        with contextlib.suppress(ReferenceError, AttributeError):
            getattr(proxy, method)(*args, **kwargs)

    atexit.register(call, weakref.proxy(obj))
