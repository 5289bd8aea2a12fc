"""Adapts callables, and serializer objects of all kafka-python generations, to one signature.

The adapter inspects an object's signature once, when the client starts: three required arguments mean
``(topic, headers, data)``, two mean ``(topic, value)``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from kafka.errors import KafkaConfigurationError

Headers = Sequence[tuple[str, bytes | None]]
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _takes_headers(method: Callable[..., Any], role: str) -> bool:
    """Return whether the method accepts headers; False if its signature cannot be inspected."""
    try:
        parameters = list(inspect.signature(method).parameters.values())
    except (TypeError, ValueError):
        return False
    if any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in parameters):
        return False
    positional = [p for p in parameters if p.kind in _POSITIONAL]
    required = [p for p in positional if p.default is inspect.Parameter.empty]
    if len(required) > 3 or len(positional) < 2:
        raise KafkaConfigurationError(
            f"{role} {method!r} takes {len(positional)} arguments; expected (topic, value) or (topic, headers, data)"
        )
    return len(required) == 3 or (len(positional) >= 3 and positional[1].name == "headers")


class _Adapted:
    """Common base class for both directions: stores the user's object and how to call it."""

    __slots__ = ("_call", "_close", "_with_headers", "direct")

    direct: Callable[[Any], Any] | None
    """The user's single-argument callable, for fast paths; None for an object."""

    def __init__(self, given: Any, method: str, role: str, field: str) -> None:
        if hasattr(type(given), "for_message_field"):  # checked on the class because mocks have every attribute
            given = given.for_message_field(field)
        self._close: Callable[[], object] | None = getattr(given, "close", None)
        bound = getattr(given, method, None)
        if bound is not None:
            self.direct = None
            self._call: Callable[..., Any] = bound
            self._with_headers = _takes_headers(bound, role)
        elif callable(given):
            self.direct = self._call = given
            self._with_headers = False
        else:
            raise KafkaConfigurationError(
                f"{role} must be a callable of one argument or an object with {method}(), not {given!r}"
            )

    def __call__(self, topic: str, data: Any, headers: Headers = ()) -> Any:
        """Convert one key or value of `topic`; exceptions from user code propagate unchanged."""
        if self.direct is not None:
            return self.direct(data)
        if self._with_headers:
            return self._call(topic, headers, data)
        return self._call(topic, data)

    @property
    def has_close(self) -> bool:
        """Whether this adapts a user's object that has a `close` method."""
        return self._close is not None and self.direct is None

    def close(self) -> None:
        """Close the user's object if it has a `close` method."""
        if self._close is not None and self.direct is None:
            self._close()


class AdaptedSerializer(_Adapted):
    """Adapts a serializer of any kind to ``(topic, value, headers=()) -> bytes | None``.

    Arguments:
        given: a function, an object with ``serialize``, or one whose ``for_message_field`` returns such an object.
        field: the record part to serialize, "key" or "value".
    """

    __slots__ = ()

    def __init__(self, given: Any, field: str = "value") -> None:
        super().__init__(given, "serialize", "a serializer", field)


class AdaptedDeserializer(_Adapted):
    """Adapts a deserializer of any kind to ``(topic, data, headers=()) -> value``.

    Arguments:
        given: a function, an object with ``deserialize``, or one whose ``for_message_field`` returns such an object.
        field: the record part to deserialize, "key" or "value".
    """

    __slots__ = ()

    def __init__(self, given: Any, field: str = "value") -> None:
        super().__init__(given, "deserialize", "a deserializer", field)


def adapt_serializer(given: Any, field: str = "value") -> AdaptedSerializer | None:
    """Adapt a serializer of any kind. None stays None: keys or values must then be bytes.

    Arguments:
        given: the serializer (see `AdaptedSerializer`), or None.
        field: the record part to serialize, "key" or "value".

    Raises `KafkaConfigurationError` if `given` is not a serializer.
    """
    return None if given is None else AdaptedSerializer(given, field)


def adapt_deserializer(given: Any, field: str = "value") -> AdaptedDeserializer | None:
    """Adapt a deserializer of any kind. None stays None: keys or values then remain bytes.

    Arguments:
        given: the deserializer (see `AdaptedDeserializer`), or None.
        field: the record part to deserialize, "key" or "value".

    Raises `KafkaConfigurationError` if `given` is not a deserializer.
    """
    return None if given is None else AdaptedDeserializer(given, field)
