"""What programs read inside clients of kafka-python and aiokafka, under the names that it has there."""

from collections.abc import Callable
from typing import Any


class InnerName:
    """An attribute that is worked out when it is read. A derived class, and each object, may set one of its own.

    Arguments:
        read: takes the client.
    """

    def __init__(self, read: Callable[[Any], Any]) -> None:
        self._read = read

    def __get__(self, owner: Any, kind: type[Any] | None = None) -> Any:
        return self if owner is None else self._read(owner)
