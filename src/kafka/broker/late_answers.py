"""Answers that come later, and what becomes of them when the client sends nothing more or is gone."""

import asyncio
from collections.abc import Callable

from kafka.wire import Message


class LongPoll(asyncio.Future[Message]):
    """The answer of a request that waits for records. `finish` is to be set: it gives the answer at once."""

    finish: Callable[[], None]


class NoAnswer(asyncio.Future[Message]):
    """The answer that never comes: the connection says nothing more, and ends when its client does."""
