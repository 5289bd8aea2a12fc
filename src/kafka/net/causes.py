"""Causes of errors, told in a line each."""

import asyncio
from typing import TypeVar

from kafka.errors import KafkaError

E = TypeVar("E", bound=BaseException)


def in_brief(error: E) -> E:
    """The error as the cause of another one, which says all of it: where it was raised, in here, is left out.

    An error of another kind than the network's and Kafka's keeps its traceback, as it may be a fault of the code.
    Errors that are raised again may be each other's contexts, in a circle.
    """
    each: BaseException | None = error
    seen: set[int] = set()
    while isinstance(each, KafkaError | OSError | asyncio.TimeoutError) and id(each) not in seen:
        seen.add(id(each))
        each.__traceback__ = None
        each = each.__cause__ if each.__suppress_context__ else each.__cause__ or each.__context__
    return error
